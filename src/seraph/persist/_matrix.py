"""The learned map as one matrix, for vectors that are stored elsewhere."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler, normalize
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples, validate_data

from .._decide._space import ForestSpace
from .._learner import MahalanobisLearner
from .._utils._directions import needs_unit_length
from .._utils._eigen import eigh, svd
from .._utils._optional import optional_module
from .._utils._tiles import spaced
from .._utils._validation import as_numbers, check_number, shown
from .._utils._version import __version__
from ._onnx import to_onnx
from ._tables import check_export, unfold
from ._write import write_whole

KINDS = (".npy", ".safetensors", ".onnx")
# Rows that decide which directions are kept.
_ROWS = 20_000
# Rows that a step is tried on, and the share by which an affine step may differ from its matrix.
_PROBES, _TOLERANCE = 50, 1e-6


def to_matrix(
    model: BaseEstimator,
    *,
    n_components: int | None = None,
    X: ArrayLike | None = None,
    dtype: DTypeLike = np.float32,
) -> Any:
    r"""Return the learned map as one matrix ``W``: distances in ``X @ W`` are the learned ones.

    Scalers and PCA before the learner are multiplied into the matrix. What they subtract is left
    out, since distances do not depend on it. A ``Normalizer`` as the first step stays your task:
    scale vectors to unit length before you multiply them. So does a ``TablePreparer``: the matrix
    takes the columns that it uses, as numbers.

    With `n_components`, the map goes on to the first principal components of the mapped points: of
    all orthogonal projections to that many dimensions, this one keeps the largest part of the sum
    of the squared learned distances over all pairs,

    .. math:: \sum_{i<j} \|V^\top (z_i - z_j)\|^2 = n^2\, \mathrm{tr}(V^\top \mathrm{Cov}(Z) V).

    Parameters
    ----------
    model : estimator
        A fitted learner, or a pipeline that ends in one and whose other steps are affine.
    n_components : int, optional
        Number of columns to keep; all by default.
    X : array-like of shape (n_samples, n_features), optional
        Vectors that decide which directions are kept; required with `n_components`. 20,000 of
        them, evenly spaced, are used.
    dtype : {"float32", "float64"}, default="float32"
        Type of the matrix.

    Returns
    -------
    ndarray of shape (n_features, n_components)
        The matrix.

    Raises
    ------
    ValueError
        If the map is not linear, as that of `KernelPCA`.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import SERAPH, persist
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> learner = SERAPH().fit(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1))
    >>> W = persist.to_matrix(learner)
    >>> apart = np.linalg.norm(X[0] @ W - X[1] @ W)
    >>> bool(np.isclose(apart, learner.pair_distance([[0, 1]], X)[0]))
    True
    """
    dtype = check_export(model, dtype)
    preparer, inside, head = unfold(model)
    X = X if preparer is None or X is None else preparer._read(X)
    steps, unit_length = [step for _, step in inside.steps], needs_unit_length(inside)
    if isinstance(head, ForestSpace):
        raise _not_linear(head)
    if unit_length and steps[0].norm != "l2":
        raise ValueError(
            f"Normalizer(norm={shown(steps[0].norm)}) does not give vectors of unit length: use "
            'norm="l2".'
        )
    if not any(isinstance(step, MahalanobisLearner) for step in steps):
        raise ValueError(f"This {type(model).__name__} contains no learned metric.")
    parts, width = [], inside.n_features_in_
    for step in steps[unit_length:]:
        parts.append(_linear_part(step, width))
        width = parts[-1].shape[1]
    if n_components is None:
        W = sparse.eye_array(width, format="csr")
    else:
        W = _keep_leading(parts, n_components, X, inside)
    for part in reversed(parts):
        W = part @ W
    return np.ascontiguousarray(W, dtype=dtype)


def export(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    n_components: int | None = None,
    X: ArrayLike | None = None,
    dtype: DTypeLike = np.float32,
) -> Path:
    """Write the learned map to a file that other programs read: a matrix, or an ONNX graph.

    The file is written atomically.

    Parameters
    ----------
    model : estimator
        As in :func:`seraph.persist.to_matrix`; for a graph, as in :func:`seraph.persist.to_onnx`.
    path : str or path-like
        File to write. ``.npy`` holds the matrix ``W`` alone; ``.safetensors`` a tensor "W", with
        "unit_length" in its metadata ("true" if vectors must be scaled to unit length first);
        ``.onnx`` a graph that does all steps.
    n_components, X, dtype
        As in :func:`seraph.persist.to_matrix`. A graph takes no `n_components`, and always needs
        `X`: rows on which it is compared with the model.

    Returns
    -------
    Path
        `path`.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from seraph import MeanMetric, persist
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> learner = MeanMetric().fit(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = persist.export(learner, f"{folder}/W.npy", n_components=2, X=X)
    ...     np.load(path).shape
    (3, 2)
    """
    path = Path(path)
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"{path}: the name must end in {', '.join(KINDS[:-1])} or {KINDS[-1]}.")
    if kind == ".onnx":
        if X is None:
            raise ValueError(
                "A graph needs X: rows on which it is compared with the model, such as those that "
                "the model was fitted on."
            )
        if n_components is not None:
            raise ValueError(
                "n_components cuts a matrix, not a graph: write a name that ends in .npy or "
                ".safetensors, or fit the learner with fewer components."
            )
        return write_whole(path, to_onnx(model, X, dtype=dtype).SerializeToString())
    W = to_matrix(model, n_components=n_components, X=X, dtype=dtype)
    if kind == ".npy":
        content = io.BytesIO()
        np.save(content, W, allow_pickle=False)
        return write_whole(path, content.getvalue())
    unit_length = str(needs_unit_length(model)).lower()
    metadata = {"unit_length": unit_length, "seraph": __version__}
    safetensors = optional_module(
        "safetensors.numpy", ".safetensors files need safetensors", "save"
    )
    return write_whole(path, safetensors.save({"W": W}, metadata=metadata))


def _linear_part(step: Any, width: int) -> Any:
    """Return the matrix L of a step that maps x to ``x @ L + offset``."""
    if isinstance(step, MahalanobisLearner):
        return step.components_.T.astype(np.float64)
    if type(step) is StandardScaler:  # the probes below have as many rows as features
        factors = np.ones(width) if step.scale_ is None else 1.0 / step.scale_
        return sparse.diags_array(factors)
    probes = (
        np.random.default_rng(0).normal(size=(_PROBES, width))
        * np.geomspace(0.1, 100.0, _PROBES)[:, np.newaxis]
    )
    points = np.vstack([np.zeros(width), np.eye(width), probes])
    with warnings.catch_warnings():
        # The step may know the names of its features; these points have none.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        try:
            mapped = np.asarray(step.transform(points), dtype=np.float64)
        except (ValueError, TypeError, AttributeError) as error:
            raise _not_linear(step) from error
    offset, rest = mapped[0], mapped[1:] - mapped[0]
    L = rest[:width]
    away = np.abs(rest[width:] - probes @ L).max(axis=1)
    if not np.all(away <= _TOLERANCE * (np.abs(rest[width:]).max(axis=1) + np.abs(offset).max())):
        raise _not_linear(step)
    return L


def _not_linear(step: Any) -> ValueError:
    return ValueError(
        f"{type(step).__name__} is not a linear map, so the model is not one matrix: map the "
        "points with transform, or write an ONNX graph, to a name that ends in .onnx."
    )


def _keep_leading(parts: list[Any], n_components: int, X: ArrayLike | None, model: Any) -> Any:
    """Return the first principal components of the mapped points, as columns."""
    rank = min(model.n_features_in_, parts[-1].shape[1])
    check_number("n_components", n_components, low=1, high=rank, integer=True)
    if X is None:
        raise ValueError(
            "n_components needs X: some of your vectors, which decide the directions to keep."
        )
    with as_numbers("X", X):
        rows = _safe_indexing(X, spaced(_num_samples(X), _ROWS))
        points = check_array(rows, dtype=np.float64, ensure_min_samples=2, input_name="X")
    validate_data(model, X, reset=False, skip_check_array=True)  # its columns, and their names
    Z = normalize(points) if needs_unit_length(model) else points
    for part in parts:
        Z = Z @ part
    Z = Z - Z.mean(axis=0)
    if n_components <= len(Z) < Z.shape[1]:
        return svd(Z)[2][:n_components].T
    return eigh(Z.T @ Z)[1][:, ::-1][:, :n_components]
