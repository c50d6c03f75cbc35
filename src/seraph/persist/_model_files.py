"""Files of models, in the format of skops: no pickle, and only types from a fixed list."""

from __future__ import annotations

import io
import json
import os
import platform
import warnings
import zipfile
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from .._files import write_whole
from .._version import __version__
from ._parts import changed, from_file, to_file
from ._trusted import TRUSTED, foreign_part, foreign_types, with_public_names

# An entry of the archive beside those of skops, which does not look at it.
_VERSIONS = "versions.json"
_SCHEMA = "schema.json"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> Path:
    """Save a model to a file that :func:`seraph.load` reads, without pickle.

    The file is in the format of skops, and tells the versions of the libraries. It appears
    whole or not at all.

    Parameters
    ----------
    model : estimator
        A learner of seraph, `MetricNeighborsClassifier`, or a pipeline with one, fitted or not.
    path : str or path-like
        Where it goes; what was there is replaced. The usual ending is ``.skops``.

    Returns
    -------
    Path
        `path`.

    Raises
    ------
    ValueError
        If the model holds what a file must not: a function, or a type that is not among
        those that :func:`seraph.load` trusts. Nothing is written then.

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
    path = Path(path)
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ValueError(f"model must be an estimator, such as a fitted SERAPH; got {model!r}.")
    model = changed(model, to_file)
    if found := foreign_part(model):
        where, name = found
        what = f"its {where} holds" if where else "it is"
        raise ValueError(
            f"This {type(model).__name__} cannot be saved: {what} a {name}. The file of a model "
            "holds numbers, text and the estimators in seraph.persist.TRUSTED, and no code. "
            "Give that parameter a plain value (the name of a kernel, None) with set_params, or "
            "save the part of the model that is on the list."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to save {path.name} in.")
    content = io.BytesIO()
    skops_io.dump(model, content, compression=zipfile.ZIP_DEFLATED)
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_VERSIONS, json.dumps(_versions_here(), indent=1))
    return write_whole(path, content.getvalue())


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`seraph.save` wrote.

    Loading runs no code from the file: it may hold the types of a fixed list,
    ``seraph.persist.TRUSTED``, and is refused if it holds another. Parameters that came to
    seraph after the file was written have their defaults.

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
        If the file is not one of a model, is damaged, or holds a type that is not trusted.

    Warns
    -----
    UserWarning
        If the model was saved by another major version of seraph or scikit-learn. (Of seraph
        before 1.0, where the second number counts as the major one: 0.1 and 0.2 are two.)

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
    data = path.read_bytes()
    written = _entry(path, data, _SCHEMA)
    try:
        schema = with_public_names(written)
        foreign = foreign_types(schema)
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from error
    if foreign:
        raise ValueError(
            f"{path} is not loaded: it holds {', '.join(foreign)}, and seraph.load trusts only "
            "the types in seraph.persist.TRUSTED. If you know where the file comes from, "
            "skops.io.load can open it with a list of your own."
        )
    _warn_of_versions(path, read_versions(path))
    if schema != written:
        data = _with_schema(data, schema)
    try:
        with warnings.catch_warnings():
            # What is on the list has been tried across scikit-learn's minor versions.
            warnings.simplefilter("ignore", InconsistentVersionWarning)
            model = changed(skops_io.loads(data, trusted=list(TRUSTED)), from_file)
    except Exception as error:
        raise _damaged(path, error) from error
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"{path} holds a {type(model).__name__}, and no model.")
    return model


def read_versions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Versions of the libraries that saved a model, without loading it.

    Parameters
    ----------
    path : str or path-like
        A file of :func:`seraph.save`.

    Returns
    -------
    dict of str
        Versions of "seraph", "python", "numpy", "scipy", "scikit-learn" and "skops"; empty
        for a file of skops that seraph did not write.

    Examples
    --------
    >>> import tempfile
    >>> import seraph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = seraph.save(seraph.SERAPH(), f"{folder}/learner.skops")
    ...     versions = seraph.persist.read_versions(path)
    >>> versions["seraph"] == seraph.__version__, "numpy" in versions
    (True, True)
    """
    path = Path(path)
    data = path.read_bytes()
    _entry(path, data, _SCHEMA)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if _VERSIONS not in archive.namelist():
            return {}
    try:
        versions = json.loads(_entry(path, data, _VERSIONS))
        return {str(name): str(value) for name, value in versions.items()}
    except (ValueError, AttributeError) as error:
        raise _damaged(path, error) from error


def _entry(path: Path, data: bytes, name: str) -> bytes:
    """An entry of the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return archive.read(name)
    except Exception as error:  # zipfile has many ways to say that bytes are no archive
        raise _damaged(path, error) from error


def _with_schema(data: bytes, schema: bytes) -> bytes:
    """The same archive with another schema."""
    content = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as old,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, schema if name == _SCHEMA else old.read(name))
    return content.getvalue()


def _damaged(path: Path, error: BaseException) -> ValueError:
    return ValueError(
        f"{path} cannot be read: it is not a model that seraph.save wrote, or it is damaged "
        f"({type(error).__name__}: {error})."
    )


def _versions_here() -> dict[str, str]:
    return {
        "seraph": __version__,
        "python": platform.python_version(),
        **{library: version(library) for library in _LIBRARIES},
    }


def _warn_of_versions(path: Path, then: dict[str, str]) -> None:
    now = _versions_here()
    for library in ("seraph", "scikit-learn"):
        if library in then and _line(then[library]) != _line(now[library]):
            warnings.warn(
                f"{path} was saved by {library} {then[library]}, and this is {library} "
                f"{now[library]}: the model may not do what it did. Fit and save it again, or "
                f"load it with {library} {then[library]}.",
                UserWarning,
                stacklevel=3,
            )


def _line(release: str) -> list[str]:
    """The numbers of a version within which models are exchanged."""
    numbers = release.split(".")
    return numbers[:2] if numbers[0] == "0" else numbers[:1]


def _skops_io() -> ModuleType:
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            "Files of models need skops: pip install 'seraph-learn[save]'."
        ) from error
