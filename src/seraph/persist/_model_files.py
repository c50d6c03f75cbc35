"""Save and load models in the skops format: no pickle, and only types that are trusted."""

from __future__ import annotations

import io
import json
import os
import platform
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from .. import classic
from .._utils._optional import optional_module
from .._utils._validation import in_short, shown
from .._utils._version import __version__
from .._utils._warnings import warn
from ._archive import VERSIONS, check_archive, damaged, read_versions
from ._write import write_whole

# Search trees, which KNeighborsClassifier holds: data that is followed, not code.
_TREES = (
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    *(f"sklearn.metrics._dist_metrics.{name}Distance64" for name in ("Euclidean", "Manhattan")),
)
# The types that a model file may contain beyond those that skops trusts itself.
# Files name our classes by the public place users import them from.
TRUSTED = (
    "seraph.SERAPH",
    "seraph.MeanMetric",
    "seraph.MetricClassifier",
    "seraph.PairClassifier",
    "seraph.ForestSpace",
    "seraph.TablePreparer",
    "seraph.tables.Column",
    *(f"seraph.classic.{name}" for name in classic.__all__),
    *_TREES,
    "numpy.dtype",
)
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> Path:
    """Save a model to a file that :func:`~seraph.persist.load` reads, without pickle.

    The file uses the skops format and also records library versions. It is loaded once before it
    is written, so a model that was saved loads again.

    Parameters
    ----------
    model : estimator
        A seraph learner, a `MetricClassifier`, or a pipeline that contains one; fitted
        or not.
    path : str or path-like
        Where to save it. An existing file is replaced. The usual extension is ``.skops``.

    Returns
    -------
    Path
        `path`.

    Raises
    ------
    ValueError
        If the model contains a function, or any other type that :func:`~seraph.persist.load` does
        not trust. Nothing is written in that case.
    FileNotFoundError
        If the folder does not exist.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import seraph
    >>> from seraph import SERAPH
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> learner = SERAPH().fit(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = seraph.load(seraph.save(learner, f"{folder}/learner.skops"))
    >>> bool((again.transform(X) == learner.transform(X)).all())
    True
    """
    skops_io = _skops_io()
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ValueError(
            f"model must be an estimator, such as a fitted SERAPH; got {shown(model)}."
        )
    try:
        try:
            file = _dumped(skops_io, model, zipfile.ZIP_DEFLATED)
        except ValueError:  # zeros, say, compress too well to be told from a bomb
            file = _dumped(skops_io, model, zipfile.ZIP_STORED)
        untrusted = _untrusted(skops_io, file.getvalue())
        if not untrusted:
            skops_io.loads(file.getvalue(), trusted=list(TRUSTED))
    except Exception as error:  # of any part of the model
        raise ValueError(
            f"This {type(model).__name__} cannot be saved: {in_short(str(error))}"
        ) from error
    if untrusted:
        raise ValueError(
            f"This {type(model).__name__} cannot be saved: it contains {untrusted}. A model file "
            "may contain numbers, text, scikit-learn's estimators and the types in "
            "seraph.persist.TRUSTED, but no code. Set the parameter that holds it to a plain "
            "value (the name of a kernel, None) with set_params, or save a part of the model."
        )
    versions = {
        "seraph": __version__,
        "python": platform.python_version(),
        **{library: version(library) for library in _LIBRARIES},
    }
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(VERSIONS, json.dumps(versions, indent=1))
    return write_whole(path, file.getvalue())


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`~seraph.persist.save` wrote.

    Loading runs no code from the file: a file that contains a type that neither skops nor the
    list ``seraph.persist.TRUSTED`` trusts is refused. So is one that would unpack to more than
    64 MB and 20 times its size, or whose arrays contradict each other.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    estimator
        The model, as it was saved.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a model file, is damaged, or contains a type that is not trusted.

    Warns
    -----
    UserWarning
        If another major version of seraph saved the model.
    InconsistentVersionWarning
        If another version of scikit-learn saved it, and it contains estimators of scikit-learn.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import seraph
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> learner = seraph.SERAPH().fit(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = seraph.save(learner, f"{folder}/learner.skops")
    ...     seraph.load(path)
    SERAPH()
    """
    skops_io = _skops_io()
    path = Path(path)
    content = path.read_bytes()
    try:
        check_archive(content)
        untrusted = _untrusted(skops_io, content)
    except Exception as error:  # zipfile, json and skops raise many kinds of errors
        raise damaged(path, error) from error
    if untrusted:
        raise ValueError(
            f"{path} is not loaded: it contains {in_short(untrusted)}, which neither skops nor "
            "seraph.persist.TRUSTED trusts. If you trust the source of the file, skops.io.load "
            "can open it with a list of types that you choose."
        )
    then = read_versions(path).get("seraph", __version__)
    if then.partition(".")[0] != __version__.partition(".")[0]:
        warn(
            f"{path} was saved by seraph {then}, and this is seraph {__version__}: the model may "
            f"behave differently. Fit and save it again, or load it with seraph {then}."
        )
    try:
        model = skops_io.loads(content, trusted=list(TRUSTED))
    except Exception as error:  # parts that do not fit together raise anything
        raise damaged(path, error) from error
    if not isinstance(model, BaseEstimator):
        raise damaged(path, TypeError(f"it holds a {type(model).__name__}, not a model"))
    return model


def _skops_io() -> Any:
    """Import skops.io, without the array libraries that nobody asked for.

    It lists the estimators of scikit-learn and imports all its packages for that, among them one
    for each array library: torch takes 3 seconds of CPU, dask one.
    """
    unasked = [
        f"sklearn.externals.array_api_compat.{library}" for library in ("cupy", "dask", "torch")
    ]
    modules: dict[str, Any] = sys.modules
    missing = dict.fromkeys(name for name in unasked if name not in modules)
    modules |= missing  # to import a module that is None raises an ImportError
    try:
        return optional_module("skops.io", "Model files need skops", "save")
    finally:
        for name in missing:
            del modules[name]


def _dumped(skops_io: Any, model: BaseEstimator, compression: int) -> io.BytesIO:
    file = io.BytesIO()
    skops_io.dump(model, file, compression=compression)
    check_archive(file.getvalue())
    return file


def _untrusted(skops_io: Any, content: bytes) -> str:
    """Name the types in the content of a file that are not trusted."""
    return ", ".join(sorted({*skops_io.get_untrusted_types(data=content)} - {*TRUSTED}))
