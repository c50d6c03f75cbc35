"""The generator: case number `seed` is the same on every run and on every machine."""

import inspect
import random
import tempfile
from contextlib import chdir
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.base import is_classifier

import seraph
from seraph import SERAPH, Marks, MetricClassifier, PairClassifier, datasets, load, plot, save
from seraph.persist import to_onnx
from tests.hostile import inputs
from tests.hostile.commands import a_command
from tests.hostile.fits import ESTIMATORS, a_fit, a_path
from tests.hostile.numeric import (
    a_growing_metric,
    a_symmetry,
    a_target,
    a_wide_constraint,
    equal_points,
)
from tests.hostile.others import (
    a_distance,
    a_function,
    a_stand_in,
    an_answers_file,
    some_constraints,
)
from tests.hostile.silent import a_foreign_type, a_long_label, a_tie
from tests.hostile.tamper import a_tampered_model
from tests.hostile.trial import guarded, refused
from tests.hostile.values import JUNK, some_parameters

M = 4
X = np.random.default_rng(0).normal(size=(30, M)) + 2.0 * np.eye(3, M)[np.arange(30) % 3]
Y = np.where(np.arange(30) < 15, np.arange(30) % 3, -1)


def required_by(Estimator):
    """Arguments that a constructor cannot do without."""
    return {"estimator": SERAPH()} if Estimator is MetricClassifier else {}


@cache
def fitted(Estimator):
    """A learner of plain points."""
    return Estimator(**required_by(Estimator)).fit(X, Y)


def a_question(rng):
    """Call any public method of a fitted learner with odd arguments."""
    Estimator = rng.choice(ESTIMATORS)
    learner = fitted(Estimator) if rng.random() < 0.97 else Estimator
    if learner is Estimator:
        learner = Estimator(**required_by(Estimator))
    # Methods that change the learner, and those of scikit-learn's own machinery, are not asked.
    names = [
        name
        for name in sorted(dir(Estimator))
        if not name.startswith(("_", "set_", "fit", "get_metadata", "get_params"))
        and callable(getattr(Estimator, name))
        and hasattr(learner, name)
        and getattr(Estimator, name).__module__.startswith("seraph")  # not scikit-learn's own
    ]
    name = rng.choice(names)
    method = getattr(learner, name)
    arguments = some_parameters(rng, method, at_most=5, junk=0.1)
    for argument in ("X", "y", "pairs", "marks"):
        if argument in arguments:
            arguments[argument] = _odd_array(rng, argument)
    if "n" in arguments:
        arguments["n"] = rng.choice([1, 3, 10, 10**6, *JUNK])
    result, _ = guarded(lambda: method(**arguments))
    if refused(result):
        return f"{Estimator.__name__}.{name} refused: {str(result)[:40]}"
    if isinstance(result, np.ndarray) and result.dtype.kind == "f":
        assert np.all(np.isfinite(result))
    return f"{Estimator.__name__}.{name} answered"


def _odd_array(rng, name):
    made = inputs.table(rng, m=rng.choice([M, M, M, M, M + 1, 1]), flawed=0.25)
    if name == "X":
        return made.X
    if name == "y":
        return rng.choice([None, rng.choice(JUNK), inputs.case(rng).classes.y])
    if name == "marks":
        size = rng.choice([2, 30, len(made.points)])
        return rng.choice([None, Marks([[0, 1]], [1], rows=size), rng.choice(JUNK)])
    points = made.points
    return rng.choice(
        [
            None,
            points[np.newaxis, :2],
            np.stack([points, points[::-1]], axis=1),
            [[0, 1], [1, 2]],
            inputs.table(rng, m=2).X,
            rng.choice(JUNK),
        ]
    )


@cache
def model_file(Estimator):
    with tempfile.TemporaryDirectory() as folder:
        return save(fitted(Estimator), Path(folder) / "m.skops").read_bytes()


def answer_of(model):
    if isinstance(model, PairClassifier):
        return model.predict_proba([[0, 1], [0, 29]], X)
    return model.predict(X) if is_classifier(model) else model.transform(X)


def a_model_file(rng):
    """Load a model file with changed bytes: an error that names it, or a model that answers."""
    Estimator = rng.choice(ESTIMATORS)
    path = Path("changed.skops")
    path.write_bytes(inputs.damaged(rng, model_file(Estimator)))
    model, _ = guarded(lambda: load(path))
    if refused(model):
        assert path.name in str(model)
        return f"{Estimator.__name__} file refused: {str(model)[:40]}"
    np.testing.assert_array_equal(answer_of(model), answer_of(fitted(Estimator)))
    return f"{Estimator.__name__} file loaded"


@cache
def checkpoint_file():
    class Killed(Exception):
        pass

    def kill(state):
        if state.iteration == 3:
            raise Killed

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.ckpt"
        try:
            SERAPH(checkpoint=path, callback=kill).fit(X, Y)
        except Killed:
            return path.read_bytes()
    raise AssertionError("the fit was not interrupted")


def a_checkpoint(rng):
    """Resume from a file with changed bytes: an error that names it, or the same metric."""
    path = Path("fit.ckpt")
    path.write_bytes(inputs.damaged(rng, checkpoint_file()))
    before = path.read_bytes()
    result, _ = guarded(lambda: SERAPH(checkpoint=path).fit(X, Y))
    if refused(result):
        assert path.name in str(result)
        assert path.read_bytes() == before
        return f"checkpoint refused: {str(result)[:40]}"
    np.testing.assert_array_equal(result.components_, fitted(SERAPH).components_)
    return "checkpoint resumed"


def a_graph(rng):
    """Convert a learner to ONNX with odd arguments."""
    Estimator = rng.choice(ESTIMATORS)
    arguments = some_parameters(rng, to_onnx, junk=0.3, without=["model", "X"])
    model = rng.choice(JUNK) if rng.random() < 0.2 else fitted(Estimator)
    rows = rng.choice(JUNK) if rng.random() < 0.2 else X
    result, _ = guarded(lambda: to_onnx(model, rows, **arguments))
    return "graph refused" if refused(result) else "graph made"


def a_picture(rng):
    """Compute and draw a display of a learner from odd arguments."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    makers = [
        getattr(plot, name).from_estimator
        for name in sorted(plot.__all__)
        if hasattr(getattr(plot, name), "from_estimator")
    ]
    make = rng.choice(makers)
    arguments = some_parameters(rng, make, at_most=3, junk=0.2, without=["estimator", "X", "y"])
    points = rng.choice([X, X, inputs.table(rng, m=M, flawed=0.3).X])
    labels = rng.choice([None, Y, Y, inputs.case(rng).classes.y])
    learner = fitted(rng.choice(ESTIMATORS)) if rng.random() < 0.95 else rng.choice(JUNK)
    result, _ = guarded(lambda: make(learner, points, labels, **arguments))
    pyplot.close("all")
    return "picture refused" if refused(result) else "picture drawn"


def a_data_set(rng):
    """Ask for data with odd arguments."""
    makers = [
        getattr(datasets, name)
        for name in sorted(datasets.__all__)
        if inspect.isfunction(getattr(datasets, name)) and not name.startswith("fetch")
    ]
    make = rng.choice(makers)
    arguments = some_parameters(rng, make, junk=0.5)
    result, _ = guarded(lambda: make(**arguments))
    return "data refused" if refused(result) else "data made"


def an_end(rng):
    """Save, load and describe with arguments that are no models and no files."""
    act, arguments = rng.choice(
        [
            (save, (rng.choice([*JUNK, fitted(SERAPH)]), rng.choice(["m.skops", *JUNK]))),
            (load, (rng.choice(JUNK),)),
            (seraph.persist.read_versions, (rng.choice(JUNK),)),
        ]
    )
    try:
        result, _ = guarded(lambda: act(*arguments))
    except OSError as error:  # in the words of the file system
        return f"{act.__name__}: {error}"
    return f"{act.__name__} {'refused' if refused(result) else 'done'}"


KINDS = {
    a_fit: 42,
    a_question: 15,
    a_path: 5,
    a_model_file: 4,
    a_tampered_model: 3,
    a_checkpoint: 2,
    an_answers_file: 2,
    a_command: 9,
    a_function: 6,
    a_stand_in: 4,
    some_constraints: 1,
    a_distance: 2,
    a_picture: 3,
    a_graph: 1,
    a_data_set: 2,
    an_end: 1,
    a_tie: 4,
    a_long_label: 2,
    a_foreign_type: 2,
    a_target: 3,
    equal_points: 2,
    a_symmetry: 2,
    a_growing_metric: 2,
    a_wide_constraint: 2,
}


def run(number):
    """Run a case in a folder of its own; return what came of it in a few words."""
    rng = random.Random(number)
    np.random.seed(number)  # noqa: NPY002 -- what random_state=None draws from
    (kind,) = rng.choices(list(KINDS), list(KINDS.values()))
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        try:
            return f"{kind.__name__}: {kind(rng)}"
        except BaseException as error:
            error.add_note(f"Case {number}, {kind.__name__}: python -m tests.hostile {number}")
            raise
