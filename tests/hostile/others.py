"""Everything public that is not an estimator of ours: functions, stand-ins, tables, commands."""

import inspect
import tempfile
import warnings
from contextlib import chdir
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import seraph
from seraph import (
    SERAPH,
    Marks,
    MarksKFold,
    PairClassifier,
    metrics,
    persist,
    query_pairs,
    query_rows,
)
from seraph._apps.ask._answers import Answer, AnswerFile, ClassFormat, PairFormat
from seraph.compat import metric_learn
from seraph.compat.metric_learn import exceptions as metric_learn_errors
from seraph.records import DuplicateFinder
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
        return rng.choice([a_split, a_matrix, some_duplicates, some_marks, a_query])(rng)
    function = rng.choice(FUNCTIONS)
    case = inputs.case(rng, flawed=0.2)
    given, _ = guarded(lambda: case.arguments)
    if refused(given):
        return f"marks refused: {str(given)[:40]}"
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
    if callable(result):
        return f"{function.__name__} made a scorer"
    assert np.all(np.isfinite(result))
    if function.__name__.startswith("constrained"):
        assert result.shape == (case.table.n,)
    else:
        assert 0.0 <= result <= 1.0
    return f"{function.__name__} answered"


def a_split(rng):
    """Split odd points, labels and marks."""
    case = inputs.case(rng)
    arguments, _ = guarded(lambda: case.arguments)
    if refused(arguments):
        return f"marks refused: {str(arguments)[:40]}"
    parameters = some_parameters(rng, MarksKFold, junk=0.3)
    known = inspect.signature(MarksKFold.split).parameters
    given = {name: value for name, value in arguments.items() if name in known}
    result, _ = guarded(lambda: list(MarksKFold(**parameters).split(**given)))
    if not refused(result):
        rows = np.concatenate([test for _, test in result])
        assert len(np.unique(rows)) == len(rows)
    return f"split {'refused' if refused(result) else 'done'}"


def some_marks(rng):
    """Cut, add, write and read odd marks."""
    case = inputs.case(rng, flawed=0.3)
    given, _ = guarded(lambda: case.arguments)
    if refused(given) or "marks" not in given:
        return "no marks"
    marks = given["marks"]
    n = len(marks)
    keys = [slice(n // 2), [0, 0], np.arange(n) % 2 == 0, [-1], [n], (slice(2), ...), *JUNK]
    part, _ = guarded(lambda: marks[rng.choice(keys)], IndexError)
    if not refused(part):
        assert part.pairs.max(initial=-1) < len(part)
    both, _ = guarded(lambda: marks + rng.choice([marks, Marks(rows=n), part]), TypeError)
    assert refused(both) or len(both) == n
    table = marks.to_frame()
    names = n if marks.names is None else marks.names
    assert Marks.from_frame(table, rows=names) == marks
    if len(table) and rng.random() < 0.5:
        column = rng.choice(list(table))
        table[column] = rng.choice([*(k for k in JUNK if np.ndim(k) == 0), None])
    result, _ = guarded(lambda: Marks.from_frame(table, rows=rng.choice([names, 2, *JUNK])))
    return f"table of marks {'refused' if refused(result) else 'read'}"


def a_query(rng):
    """Ask which pairs or rows to ask about next, with odd arguments."""
    case = inputs.case(rng)
    given, _ = guarded(lambda: case.arguments)
    if refused(given):
        return f"marks refused: {str(given)[:40]}"
    rows = rng.choice([0, 3])
    ask = rng.choice([query_pairs, query_rows])
    model = rng.choice([*_models(), PairClassifier(), seraph.classic.Euclidean(), *JUNK[:2]])
    if isinstance(model, seraph.classic.Euclidean | PairClassifier):
        known = {name: given[name] for name in ("X", "y", "marks") if name in given}
        model, _ = guarded(lambda: model.fit(**known))
        if refused(model):
            return "nothing to ask"
    X = given["X"] if rng.random() < 0.7 else np.zeros((rows, 3))
    known = inspect.signature(ask).parameters
    arguments = some_parameters(rng, ask, junk=0.2, without=["model", "X", "y", "marks"])
    arguments |= {name: given[name] for name in ("y", "marks") if name in given and name in known}
    result, _ = guarded(lambda: ask(model, X, **arguments))
    if refused(result):
        return f"{ask.__name__} refused: {str(result)[:40]}"
    flat = np.ravel(result).tolist()
    assert len(set(flat)) == len(flat)
    return f"{ask.__name__} answered"


def a_matrix(rng):
    """Ask for the matrix of a fitted model with odd settings, or write it to odd places."""
    model = rng.choice([*_models() * 15, SERAPH(), *JUNK])
    settings = {
        "n_components": rng.choice([None, None, 1, 2, 3, 4, 0, rng.choice(JUNK)]),
        "X": rng.choice([None, np.eye(3), np.eye(4), rng.choice(JUNK)]),
        "dtype": rng.choice([np.float32, np.float64, "float16", rng.choice(JUNK)]),
    }
    if rng.random() < 0.5:
        result, _ = guarded(lambda: persist.to_matrix(model, **settings))
        if refused(result):
            return f"matrix refused: {str(result)[:40]}"
        assert result.shape[0] == 3
        assert np.all(np.isfinite(result))
        return "matrix made"
    name = rng.choice(["W.npy", "W.safetensors", "W.csv", "no/W.npy", "W", rng.choice(JUNK)])
    before = set(Path().iterdir())
    result, _ = guarded(lambda: persist.export(model, name, **settings), OSError)
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
    parameters = some_parameters(rng, DuplicateFinder, junk=0.1)
    finder, _ = guarded(lambda: DuplicateFinder(**parameters).fit(table))
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
    """Fit one of metric-learn's classes on odd points, labels and tuples."""
    Estimator = getattr(metric_learn, rng.choice(STAND_INS))
    accepted = inspect.signature(Estimator).parameters
    parameters = {"max_iter": 20} if "max_iter" in accepted else {}
    parameters |= some_parameters(rng, Estimator, at_most=3, junk=0.03, without=["verbose"])
    case = inputs.case(rng)
    X = case.table.X
    gen = np.random.default_rng(inputs.seed(rng))
    rows = gen.integers(case.table.n, size=(rng.choice([1, 2, 12]), 4))
    signs = rng.choice([np.where(np.arange(len(rows)) % 2 == 0, 1, -1), *JUNK])
    given = {
        "X": X,
        "y": rng.choice([case.classes.y, np.arange(case.table.n) % 3]),
        "pairs": _tuples(X, rows[:, :2]),
        "triplets": _tuples(X, rows[:, :3]),
        "quadruplets": _tuples(X, rows),
        "chunks": rng.choice([np.arange(case.table.n) % 4 - 1, case.classes.codes, *JUNK]),
    }
    known = inspect.signature(Estimator.fit).parameters
    if "pairs" in known:
        given["y"] = signs
    arguments = {name: value for name, value in given.items() if name in known}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # an old keyword of metric-learn's
        estimator = Estimator(**parameters)
    result, _ = guarded(lambda: estimator.fit(**arguments), *THEIRS)
    if refused(result):
        return f"metric_learn.{Estimator.__name__} refused: {str(result)[:40]}"
    assert np.all(np.isfinite(estimator.components_))
    assert np.all(np.isfinite(estimator.get_mahalanobis_matrix()))
    return f"metric_learn.{Estimator.__name__} fitted"


def _tuples(X, rows):
    """Points that belong together, if `X` is a table of points."""
    try:
        points = np.asarray(X)
    except ValueError:  # ragged
        return X
    return points[rows] if points.ndim == 2 and len(points) > rows.max() else X


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
    return [model.get_metric() for model in _models() if hasattr(model, "get_metric")]


@cache
def _models():
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.where(np.arange(20) < 10, np.arange(20) % 2, -1)
    learners = (
        SERAPH(max_iter=5),
        seraph.KernelSERAPH(SERAPH(max_iter=5)),
        make_pipeline(StandardScaler(), SERAPH(max_iter=5)),
    )
    made, _ = guarded(lambda: [learner.fit(X, y) for learner in learners])
    return made


# Files


def an_answers_file(rng):
    """Open a file of answers with changed bytes: an error that names it, or whole answers."""
    path = Path("answers.csv")
    form = rng.choice([PairFormat(), ClassFormat()])
    path.write_bytes(inputs.damaged(rng, answers_file()))
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
def answers_file():
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        ids = [f"row {k}" for k in range(6)]
        with AnswerFile(Path("answers.csv"), ids, PairFormat()) as file:
            for i, j, same in ((0, 1, True), (2, 5, False), (3, 4, None)):
                file.add(Answer((i, j), same))
        return Path("answers.csv").read_bytes()


# Names that a case of some kind calls, beside the estimators, displays and data sets, which
# are found by what they are.
CALLED = {
    *(function.__name__ for function in FUNCTIONS),
    *("Marks", "MarksKFold", "Constraints", "seraph_path", "save", "load", "to_onnx"),
    *("read_versions", "MahalanobisMetric", "KernelMetric", "KernelMap"),
    "RegularizationPath",  # by a_path
    "TablePreparer",  # by a_command
    *("to_matrix", "export", "DuplicateFinder", "Duplicates"),
    *("query_pairs", "query_rows"),
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
NOTHING_TO_TRY |= {"show_versions"}  # prints
