"""Everything public that is not an estimator of ours: functions, stand-ins, tables, commands."""

import inspect
import sqlite3
import tempfile
from contextlib import chdir
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import typer
from sklearn.preprocessing import StandardScaler

import seraph
from seraph import SERAPH, MetricPipeline, PairKFold, PairScorer, metrics
from seraph._ask._answers import AnswerFile, ClassFormat, PairAnswer, PairFormat
from seraph._cli import app
from seraph._cli._tables import KINDS
from seraph.compat import metric_learn
from seraph.compat.metric_learn import exceptions as metric_learn_errors
from tests.cli import test_hostile_tables as tables
from tests.cli.test_formats import ods, xlsx
from tests.helpers.command import assert_refused
from tests.helpers.command import seraph as command
from tests.hostile import inputs
from tests.hostile.trial import guarded, refused
from tests.hostile.values import JUNK, some_parameters

# Functions of points and labels.
FUNCTIONS = [
    seraph.constrained_agglomerative,
    seraph.constrained_k_means,
    *(getattr(metrics, name) for name in sorted(metrics.__all__)),
]


def a_function(rng):
    """Call a function of points, labels and marked pairs with odd ones, or split and score."""
    if rng.random() < 0.3:
        return rng.choice([a_split, a_matrix, some_duplicates])(rng)
    function = rng.choice(FUNCTIONS)
    case = inputs.case(rng, flawed=0.2)
    given = case.arguments
    given["Z"] = given["Z_reference"] = given.pop("X")
    given["y_reference"] = given.get("y")
    given["probabilities"] = rng.choice([[0.1, 0.9, 0.5], np.linspace(0, 1, 40), *JUNK])
    known = inspect.signature(function).parameters
    arguments = some_parameters(rng, function, junk=0.2, without=list(given))
    arguments |= {name: value for name, value in given.items() if name in known}
    for name in ("y", "Z_reference", "y_reference"):
        if name in arguments and known[name].default is None and rng.random() < 0.5:
            del arguments[name]
    for name, parameter in known.items():
        if parameter.default is parameter.empty:
            arguments.setdefault(name, rng.choice(JUNK))
    result, _ = guarded(lambda: function(**arguments))
    if refused(result):
        return f"{function.__name__} refused: {str(result)[:40]}"
    assert np.all(np.isfinite(result))
    if function.__name__.startswith("constrained"):
        assert result.shape == (case.table.n,)
    else:
        assert 0.0 <= result <= 1.0
    return f"{function.__name__} answered"


def a_split(rng):
    """Split, or score, odd points and pairs."""
    case = inputs.case(rng)
    arguments = case.arguments
    if rng.random() < 0.5:
        parameters = some_parameters(rng, PairKFold, junk=0.3)
        result, _ = guarded(lambda: list(PairKFold(**parameters).split(**arguments)))
        if not refused(result):
            rows = np.concatenate([test for _, test in result])
            assert len(np.unique(rows)) == len(rows)
        return f"split {'refused' if refused(result) else 'done'}"
    marks = [rng.choice(JUNK) if rng.random() < 0.2 else arguments.get(name) for name in PAIRED]
    figure = rng.choice(["auc", "equal_error_rate", *JUNK])
    X = arguments["X"]
    learner = seraph.classic.Euclidean()
    fitted, _ = guarded(lambda: learner.fit(X))
    if refused(fitted):
        return "nothing to score"
    result, _ = guarded(lambda: PairScorer(*marks, figure=figure)(learner, X))
    assert refused(result) or np.isfinite(result)
    return f"score {'refused' if refused(result) else 'found'}"


PAIRED = ("pairs", "pair_labels")


def a_matrix(rng):
    """Ask for the matrix of a fitted model with odd settings, or write it to odd places."""
    model = rng.choice([*_models() * 15, SERAPH(), *JUNK])
    settings = {
        "n_components": rng.choice([None, None, 1, 2, 3, 4, 0, rng.choice(JUNK)]),
        "X": rng.choice([None, np.eye(3), np.eye(4), rng.choice(JUNK)]),
        "dtype": rng.choice([np.float32, np.float64, "float16", rng.choice(JUNK)]),
    }
    if rng.random() < 0.5:
        result, _ = guarded(lambda: seraph.to_matrix(model, **settings))
        if refused(result):
            return f"matrix refused: {str(result)[:40]}"
        assert result.shape[0] == 3
        assert np.all(np.isfinite(result))
        return "matrix made"
    name = rng.choice(["W.npy", "W.safetensors", "W.csv", "no/W.npy", "W", rng.choice(JUNK)])
    before = set(Path().iterdir())
    result, _ = guarded(lambda: seraph.export(model, name, **settings), OSError)
    made = set(Path().iterdir()) - before
    assert len(made) == (0 if refused(result) else 1), made
    return f"export {'refused' if refused(result) else 'done'}"


def some_duplicates(rng):
    """Find duplicates in odd columns from odd answers."""
    n = rng.choice([0, 1, 2, 12, 30])
    cells = {
        "name": [f"{'ab' * (k % 5)} {k // 2}" for k in range(n)],
        "age": [float(k // 2) for k in range(n)],
        "seen": np.arange(n).astype("datetime64[D]"),
        "gaps": [None if k % 3 else "x" for k in range(n)],
        "odd": [rng.choice([None, "", "\0", "=1", 3, float("nan")]) for _ in range(n)],
        "endless": [np.inf] * n,
    }
    table = {name: cells[name] for name in cells if rng.random() < 0.5}
    if rng.random() < 0.2:
        table = rng.choice(JUNK)
    parameters = some_parameters(rng, seraph.DuplicateFinder, junk=0.1)
    finder, _ = guarded(lambda: seraph.DuplicateFinder(**parameters).fit(table))
    if refused(finder):
        return f"duplicates refused: {str(finder)[:40]}"
    asked, _ = guarded(lambda: finder.questions(rng.choice([1, 6, 10**6, *JUNK])))
    pairs = rng.choice([asked, [[0, 1], [0, 3]], *JUNK]) if not refused(asked) else [[0, 1]]
    signs = rng.choice([[k % 2 for k in range(np.size(pairs) // 2)], *JUNK])
    result, _ = guarded(lambda: finder.find(pairs, signs, precision=rng.choice([0.5, 0.95, 2])))
    if refused(result):
        return f"answers refused: {str(result)[:40]}"
    assert np.all((result.probability >= 0.0) & (result.probability <= 1.0))
    assert np.all(np.isfinite([*result.precision, *result.recall]))
    return "duplicates found"


# metric-learn's names, and its own errors
THEIRS = tuple(
    value
    for value in vars(metric_learn_errors).values()
    if inspect.isclass(value) and value.__module__.startswith("seraph")
)
STAND_INS = sorted(name for name in metric_learn.__all__ if name != "Constraints")


def a_stand_in(rng):
    """Fit one of metric-learn's classes on ordinary points of any scale.

    Singular points are left out: like metric-learn's, its LFDA may return huge numbers for them.
    """
    Estimator = getattr(metric_learn, rng.choice(STAND_INS))
    accepted = inspect.signature(Estimator).parameters
    parameters = {"max_iter": 20} if "max_iter" in accepted else {}
    # Parameters are checked as there, which is hardly at all: sensible ones only.
    parameters |= some_parameters(
        rng, Estimator, at_most=3, junk=0.0, without=["verbose", "weights"]
    )
    gen = np.random.default_rng(rng.randrange(2**16))
    points = gen.normal(size=(40, rng.randint(2, 5))) * 10.0 ** rng.choice([-3, 0, 0, 3])
    rows = gen.integers(len(points), size=(12, 4))
    signs = np.where(np.arange(12) % 2 == 0, 1, -1)
    given = {
        "X": points,
        "y": np.arange(len(points)) % 3,
        "pairs": points[rows[:, :2]],
        "triplets": points[rows[:, :3]],
        "quadruplets": points[rows],
        "chunks": np.arange(len(points)) % 4 - 1,
    }
    known = inspect.signature(Estimator.fit).parameters
    if "pairs" in known:
        given["y"] = signs
    arguments = {name: value for name, value in given.items() if name in known}
    estimator = Estimator(**parameters)
    result, _ = guarded(lambda: estimator.fit(**arguments), *THEIRS)
    if refused(result):
        return f"metric_learn.{Estimator.__name__} refused: {str(result)[:40]}"
    assert np.all(np.isfinite(estimator.components_))
    assert np.all(np.isfinite(estimator.get_mahalanobis_matrix()))
    return f"metric_learn.{Estimator.__name__} fitted"


def some_constraints(rng):
    """Make constraints from odd labels, as metric-learn does."""
    labels = rng.choice([inputs.case(rng).classes.codes, [0, 0, 1, 1, -1]])
    number = rng.choice([0, 1, 5, 1000])
    maker = rng.choice(["positive_negative_pairs", "chunks", "generate_knntriplets"])
    arguments = {
        "positive_negative_pairs": (number,),
        "chunks": (number,),
        "generate_knntriplets": (np.eye(len(labels)), number, number),
    }[maker]

    def make():
        made = metric_learn.Constraints(labels)
        return getattr(made, maker)(*arguments)

    result, _ = guarded(make, *THEIRS)
    return f"constraints {'refused' if refused(result) else 'made'}"


def a_distance(rng):
    """Ask the metric of a fitted learner about odd points."""
    learner = rng.choice(_metrics())
    points = [np.zeros(3), np.ones(3), np.ones(2), np.eye(3), [1.0, 2.0, 3.0], *JUNK]
    u, v = rng.choice(points), rng.choice(points)
    result, _ = guarded(lambda: learner(u, v))
    if refused(result):
        return f"{type(learner).__name__} refused: {str(result)[:40]}"
    assert np.isfinite(result)
    return f"{type(learner).__name__} answered"


def _metrics():
    return [model.get_metric() for model in _models()]


@cache
def _models():
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.where(np.arange(20) < 10, np.arange(20) % 2, -1)
    learners = (
        SERAPH(max_iter=5),
        seraph.KernelSERAPH(max_iter=5),
        MetricPipeline(StandardScaler(), SERAPH(max_iter=5)),
    )
    made, _ = guarded(lambda: [learner.fit(X, y) for learner in learners])
    return made


# Files


def an_answers_file(rng):
    """Open a file of answers with changed bytes: an error that names it, or whole answers."""
    path = Path("answers.csv")
    form = rng.choice([PairFormat(), ClassFormat()])
    path.write_bytes(inputs.damaged(rng, _answers()))
    ids = [f"row {k}" for k in range(6)]

    def read():
        with AnswerFile(path, ids, form) as file:
            return file.answers

    result, _ = guarded(read)
    if refused(result):
        assert path.name in str(result)
        return f"answers refused: {str(result)[:40]}"
    assert all(0 <= row < len(ids) for answer in result for row in answer.rows)
    return "answers read"


@cache
def _answers():
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        ids = [f"row {k}" for k in range(6)]
        with AnswerFile(Path("answers.csv"), ids, PairFormat()) as file:
            for i, j, same in ((0, 1, True), (2, 5, False), (3, 4, None)):
                file.add(PairAnswer(i, j, same))
        return Path("answers.csv").read_bytes()


@cache
def table_files():
    """The same table in every format that the command line reads."""
    frame = tables.table()
    files = dict(tables.FILES)
    files["tsv"] = frame.to_csv(index=False, sep="\t").encode()
    files["tsv.gz"] = tables.gzip.compress(files["tsv"], mtime=0)
    files["jsonl"] = files["ndjson"] = frame.to_json(orient="records", lines=True).encode()
    files["feather"] = files["arrow"] = tables.written(frame.to_feather)
    rows = [list(frame), *frame.to_numpy().tolist()]
    files["xlsx"], files["ods"] = xlsx(rows), ods(rows)
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "t.db")
        frame.to_sql("data", connection, index=False)
        connection.close()
        files["db"] = (Path(folder) / "t.db").read_bytes()
    assert {f".{kind}" for kind in files} >= set(KINDS)
    return files


# The command line

OUTPUTS = {
    "output": "out.csv", "report": "out.html", "checkpoint": "fit.ckpt", "picture": "out.png",
}  # fmt: skip
WORDS = (
    "0", "1", "3", "-1", "0.5", "auto", "all", "nan", "inf", "1e400", "", "class", "a", "b",
    "gradient", "none", "numpy", "\x1b[31m", "é", "=1+1",
)  # fmt: skip
# They take seconds when all is well, so here something is always wrong.
NEVER_WELL = {
    "compare": ["--scale", "word"],
    "demo": ["--picture", "nowhere/demo.png"],
    "reproduce": ["--task", "word"],
}


def commands():
    """All commands by name."""
    return typer.main.get_command(app).commands


@cache
def command_model():
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("data.csv").write_bytes(tables.CSV)
        done = command("fit", "data.csv", "--label", "class", "--no-check", "-o", "m.skops")
        assert done.code == 0, done.err
        return Path("m.skops").read_bytes()


class Nobody:
    """A server whose user leaves at once."""

    address = "http://127.0.0.1:1/token/"

    def __init__(self, session, port):
        pass

    def run(self, *, browser):
        raise KeyboardInterrupt


def a_command(rng):
    """Run a command with odd options on odd files: exit code 0, or 2 and one line."""
    name = rng.choice(sorted(commands()))
    files = table_files()
    kind = rng.choice(sorted(files))
    for path, content in (
        (f"data.{kind}", files[kind]),
        ("m.skops", command_model()),
        ("pairs.csv", tables.PAIRS),
        ("answers.csv", _answers()),
    ):
        if path != "answers.csv" or rng.random() < 0.3:
            spoiled = rng.random() < 0.2
            Path(path).write_bytes(inputs.damaged(rng, content) if spoiled else content)
    given = {"data": f"data.{kind}", "model": "m.skops", "row": "1"}
    words, options = [], []
    for parameter in commands()[name].params:
        if parameter.param_type_name == "argument":
            usual = given.get(parameter.name)
            words.append(usual if usual and rng.random() < 0.97 else rng.choice(WORDS))
        elif rng.random() < 0.15 or parameter.name in ("output", "label"):
            options += _option(rng, name, parameter)
    if name == "fit" and rng.random() < 0.8:
        options += ["--no-check"]
    if name in NEVER_WELL:
        options += NEVER_WELL[name]
    before = set(Path().iterdir())
    with patch("seraph._ask._server.Server", Nobody):
        done = command(name, *words, *options)
    made = set(Path().iterdir()) - before
    assert not any(path.name.startswith(".") for path in made), made
    if done.code == 0:
        assert name not in NEVER_WELL
        lines = done.err.splitlines() if name != "ask" else []
        assert all(line.startswith("seraph: note: ") for line in lines), done.err
        return f"{name} done"
    assert_refused(done)
    assert not made
    return f"{name} refused: {done.err[:40]}"


def _option(rng, command_name, parameter):
    if parameter.name == "help" or getattr(parameter, "is_eager", False):
        return []
    flag = max(parameter.opts, key=len)
    if getattr(parameter, "is_flag", False):
        return [flag] if parameter.name != "verbose" else []
    if parameter.name == "label":
        return [flag, "class"] if rng.random() < 0.9 else []
    if parameter.name == "output":
        by_command = {"fit": "out.skops", "report": "out.html", "ask": "answers.csv"}
        return [flag, by_command.get(command_name, "out.csv")]
    if parameter.name == "pairs":
        return [flag, "pairs.csv"]
    return [flag, OUTPUTS.get(parameter.name) or rng.choice(WORDS)]


# Names that a case of some kind calls, beside the estimators, displays and data sets, which
# are found by what they are.
CALLED = {
    *(function.__name__ for function in FUNCTIONS),
    *("PairKFold", "PairScorer", "Constraints", "seraph_path", "save", "load", "to_onnx"),
    *("read_versions", "MahalanobisMetric", "KernelMetric", "KernelMap", "PreparedMetric"),
    *("RegularizationPath", "RegularizationPathDisplay"),  # by a_path
    *("to_matrix", "export", "DuplicateFinder", "Duplicates"),
}
# Names that take no input of users.
NOTHING_TO_TRY = {
    "Definitions",
    "FitState",
    "Interruptible",
    "TASKS",
    "TRUSTED",
    "Task",
    "__version__",
}
NOTHING_TO_TRY |= {"fetch_task", "show_versions"}  # asks the network; prints
