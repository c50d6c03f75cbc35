"""Checkpoints: a journal of sweeps, from which a fit that was killed goes on.

Every solver is deterministic given the sums that its sweeps return, so these are all the state
there is. A fit that is started again asks for the same sums in the same order: the journal
answers as far as it goes, and from there on they are computed. No solver knows of it.
"""

from __future__ import annotations

import json
import os
import struct
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._files import write_whole
from .._pairs import PairLabels
from .._sweep import PairTerms, Sample, Sweep
from .._sweep._chunks import ChunkedPoints
from .._version import __version__

# Seconds from one writing of the file to the next; and so many times as long as the last
# writing took, which keeps a large journal from costing more than a twentieth of the time.
EVERY = 30.0
_PAUSE = 20.0

_MAGIC = b"seraph checkpoint 1\n"
_LENGTH = struct.Struct("<Q")
# Value of a sum; of its gradient, whether columns come first, the number of axes, and lengths.
_RECORD = struct.Struct("<d?BQQ")
_KEY_SIZE = 20
_SEAL_SIZE = 32
# Parameters that say who watches, how sums are computed, or where to stop; and one in whose
# place the metric to start from is compared.
_MAY_CHANGE = {"verbose", "callback", "checkpoint", "n_jobs", "backend", "device"}
_MAY_CHANGE |= {"max_iter", "tol", "em_max_iter", "em_tol", "warm_start"}


def check_checkpoint(path: Any) -> None:
    """Refuse a parameter `checkpoint` that is no place for a file."""
    if path is None:
        return
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise ValueError(f"checkpoint must be the path of a file, or None; got {path!r}.")
    if Path(path).is_dir():
        raise ValueError(f"checkpoint must be the path of a file; {str(path)!r} is a folder.")
    if not Path(path).parent.is_dir():
        raise FileNotFoundError(
            f"checkpoint={str(path)!r} cannot be written: there is no folder "
            f"{str(Path(path).parent)!r}. Make it first."
        )


def check_repeatable(what: str, random_state: Any) -> None:
    """Refuse a draw that would be another one when the fit is started again."""
    if not isinstance(random_state, Integral):
        raise ValueError(
            f"A fit can go on from a checkpoint only if it draws the same {what} again: set "
            f"random_state to a whole number; got {random_state!r}."
        )


@contextmanager
def opened(
    path: str | os.PathLike[str] | None,
    parameters: dict[str, Any],
    points: Any,
    labels: PairLabels,
    graph: Any = None,
) -> Iterator[Journal | None]:
    """Keep a journal while a fit lasts; it is removed when the fit is complete.

    Parameters
    ----------
    path : path or None
        The file; None keeps none.
    parameters : dict
        Parameters of the fit, and what else it depends on.
    points : array of shape (n, m)
        The data.
    labels : PairLabels
        What is known of their pairs.
    graph : sparse matrix of shape (n, n), optional
        The graph of the manifold extension.

    Yields
    ------
    Journal or None
    """
    if path is None:
        yield None
        return
    journal = Journal(Path(path), fingerprint(parameters, points, labels, graph))
    try:
        yield journal
    except BaseException:
        if journal.is_empty:  # of a fit that has not begun: its data were refused, say
            journal.path.unlink(missing_ok=True)
        else:
            journal.save()
        raise
    journal.path.unlink(missing_ok=True)


def fingerprint(
    parameters: dict[str, Any], points: Any, labels: PairLabels, graph: Any = None
) -> dict[str, str]:
    """What makes a fit this one and no other, each with a few words or a digest.

    The parameters that may change from one attempt to the next are left out.
    """
    return {
        "the version of seraph": __version__,
        "X": _hex(points),
        "the labels": _hex(labels.codes, labels.pairs, labels.similar),
        "the graph": _told(graph),
        **{name: _told(value) for name, value in parameters.items() if name not in _MAY_CHANGE},
    }


class Journal:
    """Sums of sweeps that were computed, in a file that is whole at any time.

    Parameters
    ----------
    path : Path
        The file. It is read if it is there, and written at once.
    fit : dict of str
        The `fingerprint`; a file of another fit is refused.
    """

    def __init__(self, path: Path, fit: dict[str, str]) -> None:
        self.path = path
        self.fit = fit
        self._scores: dict[str, float] = {}
        self._sums: dict[bytes, bytes] = {}
        if path.exists():
            self._read()
        self._write()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recorded yet."""
        return not self._sums and not self._scores

    def sums(
        self, key: bytes, compute: Callable[[], tuple[float, NDArray]]
    ) -> tuple[float, NDArray]:
        """A value and a gradient as they were recorded; computed and recorded, if not known."""
        if key in self._sums:
            return _unpacked(self._sums[key])
        value, gradient = compute()
        self._sums[key] = _packed(value, gradient)
        self._write_if_due()
        return value, gradient

    def score(self, rows: NDArray, factors: tuple[float, float]) -> float | None:
        """Score of a fit that is complete: which `rows` it leaves out, and its weights."""
        return self._scores.get(_hex(rows, np.array(factors)))

    def finish(self, rows: NDArray, factors: tuple[float, float], score: float) -> None:
        """Record the score of a complete fit; its sweeps are not needed any more."""
        self._scores[_hex(rows, np.array(factors))] = float(score)
        self._sums.clear()
        self._write_if_due()

    def recorded(self, sweep: Sweep, points: Any, terms: PairTerms) -> RecordedSweep:
        """The same sweep over the `points`, its sums taken from here where they are known."""
        salt = _digest(points, terms.codes, terms.pairs, terms.similar)
        return RecordedSweep(self, sweep, salt)

    def save(self) -> None:
        """Write the file; if that fails, on a full disk say, warn and let the fit go on."""
        try:
            self._write()
        except OSError as error:
            self._due = time.monotonic() + EVERY
            warnings.warn(
                f"The checkpoint {str(self.path)!r} could not be written ({error}). The fit goes "
                "on; what was written before is still there.",
                stacklevel=2,
            )

    def _write_if_due(self) -> None:
        if time.monotonic() >= self._due:
            self.save()

    def _write(self) -> None:
        began = time.monotonic()
        head = json.dumps({"fit": self.fit, "scores": self._scores}).encode()
        parts = [_MAGIC, _LENGTH.pack(len(head)), head]
        for key, record in self._sums.items():
            parts += [key, record]
        write_whole(self.path, b"".join([*parts, _seal(parts)]))
        now = time.monotonic()
        self._due = now + max(EVERY, _PAUSE * (now - began))

    def _read(self) -> None:
        content = memoryview(self.path.read_bytes())
        if content[: len(_MAGIC)] != _MAGIC:
            raise ValueError(
                f"{str(self.path)!r} is no checkpoint of this version of seraph, and is left as "
                "it is. Name another file, or remove this one."
            )
        body = content[:-_SEAL_SIZE]
        if _seal([body]) != content[-_SEAL_SIZE:]:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} is damaged: it was cut short or changed "
                "since it was written. Remove it, and the fit starts afresh."
            )
        place = len(_MAGIC) + _LENGTH.size
        (size,) = _LENGTH.unpack_from(body, len(_MAGIC))
        head = json.loads(bytes(body[place : place + size]))
        self._refuse_other(head["fit"])
        self._scores = head["scores"]
        place += size
        while place < len(body):
            key = bytes(body[place : place + _KEY_SIZE])
            place += _KEY_SIZE
            _, _, n_axes, *shape = _RECORD.unpack_from(body, place)
            size = _RECORD.size + 8 * int(np.prod(shape[:n_axes]))
            self._sums[key] = bytes(body[place : place + size])
            place += size

    def _refuse_other(self, fit: dict[str, str]) -> None:
        """Say what differs where the file is of another fit."""
        differences = []
        for name in {**self.fit, **fit}:
            here, there = self.fit.get(name, "missing"), fit.get(name, "missing")
            if here != there:
                shown = not (here.startswith("#") or there.startswith("#"))
                differences.append(f"{name} ({there} then, {here} now)" if shown else name)
        if differences:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} is of another fit. What differs: "
                f"{', '.join(differences)}. To go on with it, fit as it was begun; to start "
                "afresh, remove the file or name another."
            )


class RecordedSweep:
    """A sweep whose sums are taken from a journal where it knows them.

    Parameters
    ----------
    journal : Journal
        Where the sums are recorded.
    sweep : Sweep
        Computes them.
    salt : bytes
        Digest of what stays the same from one call to the next.

    Attributes
    ----------
    n_sweeps : int
        How many sums were asked for, known or not.
    """

    def __init__(self, journal: Journal, sweep: Sweep, salt: bytes) -> None:
        self.journal = journal
        self.sweep = sweep
        self.salt = salt
        self.name, self.device, self.rounding = sweep.name, sweep.device, sweep.rounding
        self.n_sweeps = 0
        self._sample: tuple[Sample | None, bytes] = None, b""

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.sweep.n_features

    def __call__(
        self, P: NDArray, terms: PairTerms, wrt: Literal["metric", "factor", "threshold"]
    ) -> tuple[float, NDArray]:
        """Sum and gradient, as the sweep itself would return them."""
        self.n_sweeps += 1
        weights = np.array([terms.eta, terms.mu])
        q = "entropy" if terms.q is None else "first" if terms.q.P is None else terms.q.P
        key = _digest(self.salt, P, weights, q, self._digest_of(terms.sample), wrt)
        return self.journal.sums(key, lambda: self.sweep(P, terms, wrt))

    def _digest_of(self, sample: Sample | None) -> bytes:
        """Digest of the sampled pairs, kept while they stay: they may be many."""
        if sample is not self._sample[0]:
            digest = _digest(sample.pairs, np.array(sample.weight)) if sample else b""
            self._sample = sample, digest
        return self._sample[1]


def _packed(value: float, gradient: NDArray) -> bytes:
    # The order in memory is kept: products with the gradient round differently in another.
    by_columns = np.isfortran(gradient)
    shape = (*gradient.shape, 0, 0)[:2]
    head = _RECORD.pack(value, by_columns, gradient.ndim, *shape)
    return head + np.asarray(gradient, dtype="<f8").tobytes("F" if by_columns else "C")


def _unpacked(record: bytes) -> tuple[float, NDArray]:
    value, by_columns, n_axes, *shape = _RECORD.unpack_from(record)
    gradient = np.frombuffer(record, dtype="<f8", offset=_RECORD.size)
    # (A copy, since whoever asks may write to it.)
    gradient = gradient.reshape(shape[:n_axes], order="F" if by_columns else "C")
    return value, gradient.astype(np.float64)


def _seal(parts: list[Any]) -> bytes:
    seal = blake2b(digest_size=_SEAL_SIZE)
    for part in parts:
        seal.update(part)
    return seal.digest()


def _told(value: Any) -> str:
    """A value in a few words, or a digest of it."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{float(value)!r}".removesuffix(".0")
    if callable(value) or isinstance(value, np.random.RandomState):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    if sparse.issparse(value):
        rows = value.tocsr()
        return _hex(rows.data, rows.indices, rows.indptr)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return _hex(value)
    words = repr(value)
    return words if len(words) <= 60 else _hex(words)


def _hex(*values: Any) -> str:
    return "#" + _digest(*values).hex()


def _digest(*values: Any) -> bytes:
    """Digest of arrays, strings and bytes, that depends on their shapes and types, too."""
    whole = blake2b(digest_size=_KEY_SIZE)
    for value in values:
        if isinstance(value, str | bytes):
            content = value.encode() if isinstance(value, str) else value
            whole.update(_LENGTH.pack(len(content)))
        else:
            description, content = _content(value)
            whole.update(f"{description}\n".encode())
        whole.update(content)
    return whole.digest()


def _content(array: Any) -> tuple[str, Any]:
    """What there is to an array: words on its form, and its bytes."""
    form = f"{tuple(array.shape)} {array.dtype}"
    if isinstance(array, ChunkedPoints):
        # The numbers may be more than memory holds; their moments are known.
        form = f"{form} {array.array.chunks} {array.size!r}"
        array = np.vstack([array.mean, array.covariance])
    if hasattr(array, "detach"):  # a tensor of torch's
        array = array.detach().cpu().numpy()
    return form, np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
