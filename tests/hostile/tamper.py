"""Change a saved model at one place: a shape, a type, a number, or something left out.

``places`` lists every attribute, item and array of a model; ``TAMPERINGS`` what may happen to the
value there. The file is written as `seraph.save` would write it, less its checks, so only a check
of the content can notice.
"""

import copy
import io
import json
import warnings
import zipfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from seraph import SERAPH, SERAPHCV, KernelSERAPH, MetricClassifier, PairClassifier, load
from seraph.classic import ITML, LMNN, Euclidean
from seraph.persist._parts import change_parts, to_file
from seraph.persist._trusted import is_object
from tests.helpers.trial import time_limit
from tests.hostile.trial import SECONDS, guarded, refused

X = np.random.default_rng(0).normal(size=(30, 4)) + 2.0 * np.eye(3, 4)[np.arange(30) % 3]
Y = np.where(np.arange(30) < 18, np.arange(30) % 3, -1)
PAIRS = np.array([[0, 1], [2, 5], [4, 29]])


class Gone:
    """What takes the place of a value that is left out."""


class Nothing:
    """What takes the place of a value that becomes None."""


def _models():
    """One of each kind of saved model, and the points that it is asked about."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    words = frame.assign(word=np.array(["x", "y", "z"])[np.arange(30) % 3])
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), list("abcd")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["word"]),
    )
    return {
        "SERAPH": (SERAPH(backend="numpy").fit(X, Y), X),
        "ITML": (ITML().fit(X, Y), X),
        "LMNN": (LMNN().fit(X, Y), X),
        "Euclidean": (Euclidean().fit(frame), frame),
        "SERAPHCV": (
            SERAPHCV(SERAPH(max_iter=20, backend="numpy"), lam_factors=(1.0,), cv=2).fit(X, Y),
            X,
        ),
        "kernel": (KernelSERAPH(SERAPH(backend="numpy")).fit(X, Y), X),
        "landmarks": (
            KernelSERAPH(SERAPH(backend="numpy"), n_landmarks=8, random_state=0).fit(X, Y),
            X,
        ),
        "classifier": (MetricClassifier(SERAPH(backend="numpy")).fit(X, Y), X),
        "pairs": (
            PairClassifier(make_pipeline(StandardScaler(), SERAPH(backend="numpy"))).fit(X, Y),
            X,
        ),
        "pipeline": (
            make_pipeline(StandardScaler(), SERAPH(backend="numpy")).fit(frame, Y),
            frame,
        ),
        "columns": (make_pipeline(columns, SERAPH(backend="numpy")).fit(words, Y), words),
        "vote": (
            make_pipeline(StandardScaler(), Euclidean(), KNeighborsClassifier(3)).fit(X, Y % 3),
            X,
        ),
    }


@cache
def models():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _models()


def places(value, path=()):
    """Yield the path to each part of a model: attributes, items, and arrays."""
    if is_object(value):
        parts = vars(value).items()
    elif isinstance(value, dict):
        parts = value.items()
    elif type(value) in (list, tuple):
        parts = enumerate(value)
    else:
        parts = ()
    for key, inner in parts:
        if not (isinstance(key, str) and key == "_sklearn_version"):
            yield (*path, key)
            yield from places(inner, (*path, key))


def tampered(model, path, change):
    """A copy of a model with one place changed; None if the change does not apply there."""
    if not path:
        return change(model)
    key, *rest = path
    part = copy.copy(model) if type(model) is not tuple else list(model)
    holder = vars(part) if is_object(part) else part
    new = tampered(holder[key], rest, change)
    if new is None:
        return None
    if new is Gone:
        del holder[key]
    else:
        holder[key] = None if new is Nothing else new
    return part if type(model) is not tuple else tuple(part)


def _array(change):
    return lambda value: change(value) if isinstance(value, np.ndarray) and value.size else None


def _number(change):
    def act(value):
        plain = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        return change(value) if plain else None

    return act


TAMPERINGS = {
    "gone": lambda value: Gone,
    "None": lambda value: Nothing if value is not None else None,
    "a word": lambda value: "word" if not isinstance(value, str) else None,
    "another word": lambda value: value + "x" if isinstance(value, str) else None,
    "a list": lambda value: [value, value],
    "a dict": lambda value: {"a": 1},
    "a number": lambda value: 3.5 if not isinstance(value, float) else None,
    "negative": _number(lambda value: -abs(value) - 1),
    "zero": _number(lambda value: type(value)(0)),
    "huge": _number(lambda value: type(value)(2**40)),
    "NaN": _number(lambda value: float("nan")),
    "a row less": _array(lambda a: a[:-1]),
    "a row more": _array(lambda a: np.concatenate([a, a[:1]])),
    "a column less": _array(lambda a: a[:, :-1] if a.ndim == 2 else None),
    "a column more": _array(lambda a: np.hstack([a, a[:, :1]]) if a.ndim == 2 else None),
    "transposed": _array(lambda a: np.ascontiguousarray(a.T) if a.ndim == 2 else None),
    "flat": _array(lambda a: a.ravel() if a.ndim > 1 else None),
    "deep": _array(lambda a: a[np.newaxis]),
    "empty": _array(lambda a: a[:0]),
    "scalar": _array(lambda a: a.ravel()[0] if a.dtype.kind == "f" else None),
    "NaNs": _array(lambda a: a * np.nan if a.dtype.kind == "f" else None),
    "infinite": _array(lambda a: a + np.inf if a.dtype.kind == "f" else None),
    "complex": _array(lambda a: a.astype(complex) if a.dtype.kind in "fiu" else None),
    "text": _array(lambda a: a.astype(str) if a.dtype.kind in "fiu" else None),
    "objects": _array(lambda a: a.astype(object) if a.dtype.kind in "fiu" else None),
    "whole": _array(lambda a: a.astype(np.int64) if a.dtype.kind == "f" else None),
    "half": _array(lambda a: a.astype(np.float16) if a.dtype.kind == "f" else None),
    "large": _array(lambda a: a + 1000 if a.dtype.kind in "iu" else None),
    "negated": _array(lambda a: -1 - a if a.dtype.kind in "iu" else None),
    "an item less": lambda value: value[:-1] if type(value) in (list, tuple) and value else None,
}
# Changes of a shape that no other model has. (A metric may have any rank.)
RESHAPINGS = ("a column less", "a column more", "flat", "deep")


def all_tamperings():
    """Every kind of model, every place in it, every change that applies there."""
    return [
        (kind, path, how)
        for kind, (model, _) in models().items()
        for path in places(model)
        for how in TAMPERINGS
    ]


def tampered_file(kind, path, how):
    """The content of a tampered file; None if the change does not apply, or cannot be saved."""
    model = tampered(models()[kind][0], list(path), TAMPERINGS[how])
    if model is None:
        return None
    try:
        return skops.io.dumps(change_parts(model, to_file))
    except Exception:  # the file cannot say that
        return None


def _asked(method, points):
    """What a classifier of rows, or of pairs, is asked about."""
    return (PAIRS, points) if isinstance(method.__self__, PairClassifier) else (points,)


# What a model may offer, and how it is asked.
QUESTIONS = {
    "transform": lambda method, points: method(points),
    "predict": lambda method, points: method(*_asked(method, points)),
    "predict_proba": lambda method, points: method(*_asked(method, points)),
    "pair_distance": lambda method, points: method(PAIRS, points),
    "pair_proba": lambda method, points: method(PAIRS, points),
    "score": lambda method, points: method(points, Y),
    "get_feature_names_out": lambda method, points: method(),
    "get_mahalanobis_matrix": lambda method, points: method(),
    "get_metric": lambda method, points: method()(*np.asarray(points)[:2]),
}


@cache
def offers(kind):
    """What a sound model of a kind offers."""
    model, points = models()[kind]
    offered = []
    for name, ask in QUESTIONS.items():
        with suppress(AttributeError, NotImplementedError, ValueError):
            ask(getattr(model, name), points)
            offered.append(name)
    return offered


def ask_everything(kind, model):
    """Ask a model all that a sound one of its kind answers; return its answers."""
    points = models()[kind][1]
    repr(model)
    return {name: QUESTIONS[name](getattr(model, name), points) for name in offers(kind)}


def schema_tampered(rng, content):
    """A model file whose schema says something else at one place."""
    entries = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(entries["schema.json"])
    nodes = list(_inner(schema))
    holder, key = rng.choice(nodes)
    other, other_key = rng.choice(nodes)
    how = rng.choice(["remove", "junk", "swap", "copy"])
    if how == "remove":
        del holder[key]
    elif how == "junk":
        holder[key] = rng.choice([None, 0, -1, 1e400, "", "word", [], {}, [[]], True, "__class__"])
    elif how == "swap":
        holder[key], other[other_key] = other[other_key], holder[key]
    else:
        holder[key] = copy.deepcopy(other[other_key])
    entries["schema.json"] = _as_json(schema)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, entry in entries.items():
            archive.writestr(name, entry)
    return out.getvalue()


def _as_json(schema):
    try:
        return json.dumps(schema).encode()
    except ValueError:  # a part was put into itself
        return b"{}"


def _inner(value):
    """Yield each place in plain data, as its holder and its key."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(parts):
        yield value, key
        if isinstance(inner, dict | list):
            yield from _inner(inner)


def outcome(kind, content):
    """What became of a tampered file: refused by name, or what the model does that it holds."""
    path = Path("tampered.skops")
    path.write_bytes(content)
    model, _ = guarded(lambda: load(path))
    if refused(model):
        assert path.name in str(model)
        return "refused"
    try:
        with time_limit(SECONDS), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            answers = ask_everything(kind, model)
    except Exception:  # what is wrong shows when it is used
        return "fails"
    sound = ask_everything(kind, models()[kind][0])
    same = all(np.array_equal(answer, sound[name]) for name, answer in answers.items())
    return "works" if same else "answers otherwise"


def a_tampered_model(rng):
    """Load a model that was changed at one place: an error in words, or a model."""
    kind = rng.choice(sorted(models()))
    if rng.random() < 0.4:
        content = schema_tampered(rng, sound_file(kind))
        return f"{kind}, schema: {outcome(kind, content)}"
    path = rng.choice(list(places(models()[kind][0])))
    for how in rng.sample(sorted(TAMPERINGS), len(TAMPERINGS)):
        content = tampered_file(kind, path, how)
        if content is not None:
            return f"{kind}, {path[-1]} {how}: {outcome(kind, content)}"
    return "nothing to change"


@cache
def sound_file(kind):
    return skops.io.dumps(change_parts(models()[kind][0], to_file))
