"""Ways out and back: what goes out one of them comes back with the same answers.

A way gets a case, and fails where the answers differ. An error that refuses passes through;
``REFUSALS`` lists those that are expected, with the reason, and docs/production.md sums them up.
"""

import multiprocessing
import pickle
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.model_selection import KFold, cross_validate
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _check_method_params

import seraph
from seraph import MarksKFold, PairClassifier
from seraph.persist import to_onnx

WAYS = {}
# Words of the messages that are expected, with the ways; docs/production.md has the reasons.
REFUSALS = {
    r"cannot be saved: it contains": ["save_and_load"],
    r"Can't pickle": ["another_process"],
    r"has a graph|cannot convert|[Nn]o ONNX graph exists|differs from the model": ["onnx"],
    r"tuples of points are no table": ["shuffled_frame", "polars", "dask"],
    # scikit-learn's ColumnTransformer knows pandas and polars alone.
    r"only supported for dataframes": ["dask"],
    r"cannot be found across the chunks|rows cannot be taken by number": ["dask"],
    r"cannot learn from a dask collection": ["dask"],
    # Quadruplets and a graph are about the whole table, and a single triplet cannot be split.
    r"there are only rows|graph must have one row and one column": ["fold"],
    r"0 labeled pairs of \d+ rows cannot be split": ["fold"],
}


def way(function):
    WAYS[function.__name__] = function
    return function


def answers(model: Any, rows: Any) -> dict[str, Any]:
    """Return everything that a model says about some rows."""
    n = len(rows) if not hasattr(rows, "shape") else int(rows.shape[0])
    pairs = _pairs(n)
    if isinstance(rows, pd.DataFrame):
        pairs = np.asarray(rows.index)[pairs]  # rows go by their names
    told = {}
    if isinstance(model, PairClassifier):
        for name in ("predict", "predict_proba", "pair_distance"):
            told[name] = getattr(model, name)(pairs, rows)
    elif hasattr(model, "candidates"):
        told["candidates"] = model.candidates()
    else:
        compat = type(model).__module__.startswith("seraph.compat")
        for name in ("transform", *(() if compat else ("predict", "predict_proba"))):
            if hasattr(model, name):
                told[name] = getattr(model, name)(rows)
        if hasattr(model, "pair_distance") and not compat:
            told["pair_distance"] = model.pair_distance(pairs, rows)
        if hasattr(model, "kneighbors"):
            # The nearest may be the row itself, at a distance of rounding errors alone.
            told["kneighbors"] = model.kneighbors(rows, model.n_neighbors + 1)[0]
    assert told, f"{model} answers nothing"
    return {name: _plain(answer) for name, answer in told.items()}


def _pairs(n: int) -> Any:
    return np.array([[k, (7 * k + 3) % n] for k in range(min(n, 50))])


def _plain(answer: Any) -> Any:
    if hasattr(answer, "compute"):
        answer = answer.compute()
    return answer.toarray() if hasattr(answer, "toarray") else np.asarray(answer)


def check_same(got: dict[str, Any], wanted: dict[str, Any], tolerance: float = 0.0) -> None:
    """Fail where answers differ by more than a share of the largest; classes may never differ."""
    assert got.keys() == wanted.keys()
    for name, answer in wanted.items():
        if answer.dtype.kind != "f":
            np.testing.assert_array_equal(got[name], answer, err_msg=name)
        elif tolerance == 0.0:
            np.testing.assert_array_equal(got[name], answer, strict=True, err_msg=name)
        else:
            atol = tolerance * max(np.abs(answer).max(initial=0.0), 1e-300)
            np.testing.assert_allclose(got[name], answer, rtol=0.0, atol=atol, err_msg=name)


def check_refit(got: dict[str, Any], wanted: dict[str, Any], tolerance: float) -> None:
    """Compare two fits by distances: coordinates turn where directions weigh the same."""
    both = [dict(got), dict(wanted)]
    for told in both:
        if "transform" in told:
            Z = told.pop("transform")
            told["distances"] = np.linalg.norm(Z - np.roll(Z, 1, axis=0), axis=1)
    check_same(*both, tolerance)


@way
def save_and_load(case):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        try:
            seraph.save(case.model, path)
        except ValueError:
            assert not list(Path(folder).iterdir())
            raise
        again = seraph.load(path)
    assert str(again) == str(case.model)
    check_same(answers(again, case.rows), answers(case.model, case.rows))


@way
def another_process(case):
    sent = pickle.dumps((case.model, case.rows))
    check_same(_pool().submit(answers_of, sent).result(), answers(case.model, case.rows))


def answers_of(sent: bytes) -> dict[str, Any]:
    """Answer in another process."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answers(*pickle.loads(sent))


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))


@way
def onnx(case):
    model, rows = case.model, case.rows
    graph = to_onnx(model, rows, dtype="float64")
    import onnxruntime

    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    fed = _fed(session, rows)
    wanted = answers(model, rows)
    if isinstance(model, PairClassifier):
        fed["pairs"] = _pairs(len(rows))
    outputs = session.run(None, fed)
    if "predict" in wanted and (is_classifier(model) or isinstance(model, PairClassifier)):
        np.testing.assert_array_equal(outputs[0], wanted["predict"])
        if "predict_proba" in wanted:
            np.testing.assert_allclose(outputs[1], wanted["predict_proba"], atol=1e-4)
    else:
        Z = wanted.get("transform", wanted.get("predict"))
        atol = 1e-4 * np.abs(Z).max()
        np.testing.assert_allclose(outputs[-1].reshape(Z.shape), Z, rtol=0.0, atol=atol)


def _fed(session: Any, rows: Any) -> dict[str, Any]:
    columns = [c for c in session.get_inputs() if c.name != "pairs"]
    if not hasattr(rows, "columns") or [c.name for c in columns] == ["X"]:
        return {"X": np.asarray(rows, dtype=np.float64)}
    fed = {}
    for column in columns:
        values = pd.Series(rows[column.name])
        if column.type == "tensor(string)":
            values = values.astype(object).where(values.notna(), "").astype(str)
            fed[column.name] = values.to_numpy(object)[:, None]
        else:
            if not pd.api.types.is_numeric_dtype(values):  # the graph takes dates as days
                values = (pd.to_datetime(values) - pd.Timestamp(0)).dt.days
            fed[column.name] = values.to_numpy(np.float64)[:, None]
    return fed


@way
def shuffled_frame(case):
    frame = _frame(case)
    model = case.refit(frame)
    check_refit(answers(model, frame), answers(case.refitted, case.rows), _exact(case))
    if hasattr(model, "candidates"):
        return
    order = np.random.default_rng(0).permutation(len(frame))
    shuffled = frame.iloc[order]
    for name in {"transform", "predict", "predict_proba"} & {*answers(model, frame)}:
        if not isinstance(model, PairClassifier):
            wanted = _plain(getattr(model, name)(frame))[order]
            check_same(
                {name: _plain(getattr(model, name)(shuffled))}, {name: wanted}, _exact(case)
            )
    try:
        got = answers(model, frame[frame.columns[::-1]])
    except ValueError as error:  # in scikit-learn's own words
        if "must be in the same order" not in str(error):
            raise
    else:
        check_same(got, answers(model, frame), _exact(case))


@way
def polars(case):
    import polars as pl
    import pyarrow as pa

    frame = pl.from_arrow(pa.Table.from_pandas(_frame(case), preserve_index=False))
    expected, rows = case.refitted, case.rows
    if isinstance(expected, PairClassifier) and isinstance(rows, pd.DataFrame):
        rows = rows.to_numpy()  # without names of rows, which folds follow where there are some
        expected = case.refit(rows)
    check_refit(answers(case.refit(frame), frame), answers(expected, rows), _exact(case))


@way
def dask(case):
    import dask.array as da
    import dask.dataframe as dd

    if isinstance(case.X, pd.DataFrame):
        X = dd.from_pandas(case.X, npartitions=3, sort=False)
    else:
        values = np.asarray(_frame(case))
        X = da.from_array(values, chunks=(-(-len(values) // 3), -1))
    check_refit(answers(case.refit(X), case.rows), answers(case.refitted, case.rows), _exact(case))


@way
def fold(case):
    rest = dict(case.rest)
    y = rest.pop("y", None)
    y = rest.pop("marks", None) if y is None else y
    compat = type(case.model).__module__.startswith("seraph.compat")
    numbers = getattr(y, "dtype", None) == np.float64  # targets of MLKR
    plain = y is None or numbers or compat or not case.is_table
    np.random.seed(0)  # noqa: NPY002 -- what random_state=None draws from
    done = cross_validate(
        case.model,
        case.X,
        y,
        cv=KFold(2, shuffle=True, random_state=0) if plain else MarksKFold(2, random_state=0),
        params=rest,
        scoring=lambda *of: 0.0,
        error_score="raise",
        return_estimator=True,
        return_indices=True,
    )
    train, test = done["indices"]["train"][0], done["indices"]["test"][0]
    arguments = _check_method_params(case.X, rest, indices=train)
    if y is not None:
        arguments["y"] = _safe_indexing(y, train)
    np.random.seed(0)  # noqa: NPY002
    direct = clone(case.model).fit(_safe_indexing(case.X, train), **arguments)
    rows = _safe_indexing(case.X, test) if case.is_table else case.rows
    check_same(answers(done["estimator"][0], rows), answers(direct, rows))


def _exact(case):
    """Return the share by which refits may differ: rounding alone, or a tolerance in float32."""
    dtypes = {str(dtype) for dtype in np.atleast_1d(getattr(case.X, "dtypes", ()))}
    single = "float32" in dtypes or str(getattr(case.X, "dtype", "")) in ("float32", "float16")
    return 2e-3 if single else 1e-8


def _frame(case):
    """Return the rows of a case as a data frame with names."""
    if isinstance(case.X, pd.DataFrame):
        return case.X.rename(columns=str)  # scikit-learn takes numbered columns by their place
    if isinstance(case.X, dict):
        return pd.DataFrame(case.X)
    if hasattr(case.X, "to_pandas"):
        return case.X.to_pandas()
    if not case.is_table:
        raise ValueError("tuples of points are no table")
    X = np.asarray(case.X)
    return pd.DataFrame(X.copy(), columns=[f"column {k}" for k in range(X.shape[1])])
