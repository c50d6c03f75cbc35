"""Save and load models in the skops format: no pickle, and only types from a fixed list."""

from __future__ import annotations

import io
import json
import os
import platform
import stat
import warnings
import zipfile
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from .._utils._files import write_whole
from .._utils._optional import optional_module
from .._utils._validation import in_short, plain_numbers, shown
from .._utils._version import __version__
from .._utils._warnings import warn
from ._archive import check_sizes, read_archive, write_archive
from ._parts import change_parts, difference, from_file, to_file
from ._shapes import check_shapes
from ._trusted import TRUSTED, foreign_part, foreign_types, schema_nodes

# Our own entry in the archive; skops ignores it.
_VERSIONS = "versions.json"
_SCHEMA = "schema.json"
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "skops")


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> Path:
    """Save a model to a file that :func:`~seraph.persist.load` reads, without pickle.

    The file uses the skops format and also records library versions. Before it appears under
    its name, it is read back and compared with the model, so a model that was saved loads again.

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
        If the model contains a function, or any type that :func:`~seraph.persist.load` does not
        trust; or if it does not come back as it is. Nothing is written in that case.
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
    optional_module("skops.io", "Model files need skops", "save")
    path = checked_path(path)
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ValueError(
            f"model must be an estimator, such as a fitted SERAPH; got {shown(model)}."
        )
    model = change_parts(model, to_file)
    if found := foreign_part(model):
        where, name = found
        what = f"its {where} holds" if where else "it is"
        raise ValueError(
            f"This {type(model).__name__} cannot be saved: {what} a {name}. A model file may "
            "contain numbers, text and the estimators in seraph.persist.TRUSTED, but no code. "
            "Set that parameter to a plain value (the name of a kernel, None) with set_params, or "
            "save only the part of the model that is in the list."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(f"Cannot save {path.name}: there is no folder {path.parent}.")
    try:
        content = _prove(model, zipfile.ZIP_DEFLATED)
    except ValueError:  # load would refuse that many zeros as a trap
        content = _prove(model, zipfile.ZIP_STORED)
    return write_whole(path, content)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that :func:`~seraph.persist.save` wrote.

    Loading runs no code from the file: a file that contains a type outside the fixed list
    ``seraph.persist.TRUSTED`` is refused. Parameters that are newer than the file get their
    default values.

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
        If the file is not a model file, is damaged, contains a type that is not trusted,
        unpacks to more than 256 MiB and more than 20 times its size, or holds arrays whose
        shapes contradict each other.

    Warns
    -----
    UserWarning
        If a different major version of seraph or scikit-learn saved the model. Before seraph
        1.0 the second number counts as the major version: 0.1 and 0.2 differ.

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
    optional_module("skops.io", "Model files need skops", "save")
    path = checked_path(path)
    entries = _entries(path)
    try:
        foreign = _foreign_types(entries, path.stat().st_size)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(path, error) from error
    if foreign:
        raise ValueError(
            f"{path} is not loaded: it holds {in_short(', '.join(foreign))}, and seraph.load "
            "trusts only the types in seraph.persist.TRUSTED. If you trust the source of the "
            "file, skops.io.load can open it with a list of types that you choose."
        )
    _warn_about_versions(path, _versions_in(path, entries))
    try:
        return _model_in(entries)
    except Exception as error:  # parts that do not fit together raise anything
        raise _damaged(path, error) from error


def read_versions(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read which library versions saved a model, without loading it.

    Parameters
    ----------
    path : str or path-like
        A file that :func:`~seraph.persist.save` wrote.

    Returns
    -------
    dict of str
        Versions of "seraph", "python", "numpy", "scipy", "scikit-learn" and "skops"; empty
        for a skops file that seraph did not write.

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
    path = checked_path(path)
    return _versions_in(path, _entries(path, only=(_SCHEMA, _VERSIONS)))


def _versions_in(path: Path, entries: Mapping[str, bytes]) -> dict[str, str]:
    if _VERSIONS not in entries:
        return {}
    try:
        versions = json.loads(entries[_VERSIONS])
        return {str(name): str(value) for name, value in versions.items()}
    except (ValueError, AttributeError, RecursionError) as error:
        raise _damaged(path, error) from error


def checked_path(path: Any) -> Path:
    """Return the name of a file as a path."""
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str) or "\0" in name:
        raise ValueError(f"path must be the name of a file, as text or a Path; got {shown(path)}.")
    return Path(name)


def _entries(path: Path, only: tuple[str, ...] | None = None) -> dict[str, bytes]:
    """Read the entries of a model file."""
    with path.open("rb") as file:
        try:
            # A device or a pipe may never end.
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ValueError("it is not a regular file")
            entries = read_archive(file, only)
            if _SCHEMA not in entries:
                raise ValueError(f"it has no {_SCHEMA}")
        except Exception as error:  # zipfile raises many kinds of errors for a bad archive
            raise _damaged(path, error) from error
    return entries


def _foreign_types(entries: Mapping[str, bytes], packed: int) -> list[str]:
    """Return the types in a file that are not trusted; refuse arrays that add up to too much."""
    nodes = list(schema_nodes(json.loads(entries[_SCHEMA])))
    # An array takes its size as often as the schema loads it.
    uses = Counter(str(node["file"]) for node in nodes if "file" in node)
    check_sizes({name: n * len(entries.get(name, b"")) for name, n in uses.items()}, packed)
    return foreign_types(nodes)


def _model_in(entries: Mapping[str, bytes]) -> Any:
    """Build the model that trusted entries describe."""
    skops_io = import_module("skops.io")
    with warnings.catch_warnings():
        # The trusted types are tested across scikit-learn's minor versions.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = skops_io.loads(write_archive(entries), trusted=list(TRUSTED))
    if not isinstance(model, BaseEstimator):
        raise ValueError(f"it holds a {type(model).__name__}, not a model")
    check_shapes(model)
    return change_parts(model, from_file)


def _prove(model: BaseEstimator, compression: int) -> bytes:
    """Return the content of a file, once it has been read back and found to be the model."""
    file = io.BytesIO()
    try:
        import_module("skops.io").dump(model, file, compression=compression)
        with zipfile.ZipFile(file, "a", compression) as archive:
            archive.writestr(_VERSIONS, json.dumps(_versions_here(), indent=1))
        content = file.getvalue()
        entries = read_archive(file)
        differs = ", ".join(_foreign_types(entries, len(content)))
        differs = differs or difference(model, change_parts(_model_in(entries), to_file))
    except Exception as error:  # of any library that takes part
        differs = f"{type(error).__name__}: {in_short(plain_numbers(error))}"
    if differs:
        raise ValueError(
            f"This {type(model).__name__} cannot be saved, because it does not come back as it "
            f"is ({differs}). Nothing was written. Was it changed after fit? Fit it again."
        )
    return content


def _damaged(path: Path, error: BaseException) -> ValueError:
    return ValueError(
        f"{path} cannot be read: it is not a model that seraph.save wrote, or it is damaged "
        f"({type(error).__name__}: {in_short(plain_numbers(error))})."
    )


def _versions_here() -> dict[str, str]:
    return {
        "seraph": __version__,
        "python": platform.python_version(),
        **{library: version(library) for library in _LIBRARIES},
    }


def _warn_about_versions(path: Path, then: dict[str, str]) -> None:
    now = _versions_here()
    for library in ("seraph", "scikit-learn"):
        if library in then and _major(then[library]) != _major(now[library]):
            warn(
                f"{path} was saved by {library} {then[library]}, and this is {library} "
                f"{now[library]}: the model may behave differently. Fit and save it again, or "
                f"load it with {library} {then[library]}."
            )


def _major(release: str) -> str:
    """Return the leading number of a version, within which models are exchangeable."""
    return release.partition(".")[0]
