"""Checkpoints: a journal of sums, from which a fit that was killed resumes.

Solvers are deterministic and depend on the data only through the sums that sweeps return. So a fit
that starts again requests the same sums in the same order: those in the journal are read, and the
others are computed and recorded. Solvers need no code for this.

The file is an SQLite database. New sums are appended to it in transactions, so it is
consistent whenever the process is killed.
"""

from __future__ import annotations

import io
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from .._marks import PairLabels
from .._sweep import PairTerms, Points, Sweep, digest
from .._utils._files import note_write, write_whole
from .._utils._typing import Array
from .._utils._validation import shown
from .._utils._version import __version__
from .._utils._warnings import warn

# Seconds between two commits: a killed fit loses no more, besides the sum in progress.
EVERY = 5.0

_SQLITE_MAGIC = b"SQLite format 3\0"
_APPLICATION_ID = 0x53455241  # "SERA"
_FOLD = "fold "  # begins the keys of folds
_SCHEMA = f"""
PRAGMA application_id = {_APPLICATION_ID};
CREATE TABLE fit (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE sums (
    key TEXT PRIMARY KEY, value REAL NOT NULL, gradient BLOB NOT NULL, seal TEXT NOT NULL
);
"""
# Parameters that only affect the output, the computation of sums, or the end of a fit; and
# "warm_start", for which the metric to start from is compared instead.
_MAY_CHANGE = {"verbose", "callback", "checkpoint", "n_jobs", "backend"}
_MAY_CHANGE |= {"max_iter", "tol", "warm_start"}


def check_checkpoint(path: Any) -> None:
    """Refuse a parameter `checkpoint` that no file can be written to."""
    if path is None:
        return
    name = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise ValueError(f"checkpoint must be the path of a file, or None; got {shown(path)}.")
    path = Path(path)
    if path.is_dir():
        raise ValueError(f"checkpoint must be the path of a file; {str(path)!r} is a folder.")
    if path.exists() and not path.is_file():
        raise ValueError(
            f"checkpoint must be the path of a plain file; {str(path)!r} is a device or a pipe."
        )
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"checkpoint={str(path)!r} cannot be written: there is no folder "
            f"{str(path.parent)!r}. Create it first."
        )


def check_repeatable(what: str, random_state: Any) -> None:
    """Refuse a `random_state` with which a resumed fit would draw another sample."""
    if not isinstance(random_state, Integral):
        raise ValueError(
            f"A fit can resume from a checkpoint only if it chooses the same {what} again: set "
            f"random_state to a whole number; got {shown(random_state)}."
        )


@contextmanager
def open_journal(
    path: str | os.PathLike[str] | None, describe: Callable[[], dict[str, str]]
) -> Iterator[Journal | None]:
    """Keep a journal while a fit runs, and remove it when the fit is complete.

    `describe` returns the `fingerprint` of the fit. Without a `path` there is no journal.
    """
    if path is None:
        yield None
        return
    journal = Journal(Path(path), describe())
    try:
        yield journal
    except BaseException:
        # A fit that failed before its first sum, because of its data say, leaves no file.
        journal.close(remove=journal.is_empty)
        raise
    journal.close(remove=not journal.is_kept)


def fingerprint(
    parameters: dict[str, Any], points: Points, labels: PairLabels, graph: Any = None
) -> dict[str, str]:
    """Identify a fit by its data and parameters, as short texts or digests.

    Parameters that may change from one attempt to the next are left out.
    """
    kept = {name: value for name, value in parameters.items() if name not in _MAY_CHANGE}
    return {
        "the version of seraph": __version__,
        "X": f"#{points.digest()}",
        "the labels": f"#{digest(labels.codes, labels.pairs, labels.likeness, labels.weights)}",
        "the triplets": f"#{digest(labels.triplets)}",
        "the graph": _summarize(graph),
        **{name: _summarize(value) for name, value in kept.items()},
    }


class Journal:
    """A file of sums of sweeps, consistent at any time.

    Parameters
    ----------
    path : Path
        The file, which is created if it does not exist.
    fit : dict of str
        The `fingerprint`; the file of another fit is refused.

    """

    def __init__(self, path: Path, fit: dict[str, str]) -> None:
        self.path = path
        self.is_kept = False
        self._is_lost = False
        exists = path.exists()
        if exists:
            self._check_header()
        else:
            self._create(fit)
        with ExitStack() as if_refused:
            try:
                self._connection = sqlite3.connect(path, isolation_level=None)
                if_refused.callback(self._connection.close)
                if exists:
                    self._check_rows(fit)
                self._connection.execute("BEGIN")
            except sqlite3.Error as error:
                raise self._unusable(error, exists) from error
            if_refused.pop_all()
        self._due = time.monotonic() + EVERY

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been recorded yet."""
        query = "SELECT EXISTS (SELECT 1 FROM sums)"
        return not self._is_lost and not self._connection.execute(query).fetchone()[0]

    def sums(self, key: str, compute: Callable[[], tuple[float, Array]]) -> tuple[float, Array]:
        """Return a value and a gradient from the file, or else compute and record them."""
        query = "SELECT value, gradient FROM sums WHERE key = ?"
        row = None if self._is_lost else self._connection.execute(query, (key,)).fetchone()
        if row is not None:
            return row[0], _unpack(row[1])
        value, gradient = compute()
        row = key, float(value), _pack(gradient)
        self._write("INSERT INTO sums VALUES (?, ?, ?, ?)", (*row, _seal(*row)))
        return value, gradient

    def scores(self, rows: Array, grid: Array, compute: Callable[[], Array]) -> Array:
        """Return the scores of a fold from the file, or else compute and record them.

        They are recorded as a gradient. The sums of the fold are then forgotten, but not before: a
        search that is resumed in the middle of a fold needs the sums of all its fits. `rows` are
        inside the fold, and `grid` has the weights to choose from.
        """

        def replace_sums() -> tuple[float, Array]:
            found = compute()
            self._write(f"DELETE FROM sums WHERE key NOT LIKE '{_FOLD}%'", ())
            return 0.0, found

        return self.sums(_FOLD + digest(rows, grid), replace_sums)[1]

    def keep(self) -> None:
        """Keep the file when the fit ends, because it is not complete."""
        self.is_kept = True

    def commit(self) -> None:
        """Write the sums recorded since the last time to disk."""
        self._connection.execute("COMMIT")
        note_write(self.path)
        self._connection.execute("BEGIN")
        self._due = time.monotonic() + EVERY

    def close(self, *, remove: bool) -> None:
        """Close the file; keep it, with everything recorded so far, unless `remove`."""
        if not self._is_lost:
            self._guard(self._connection.execute, "ROLLBACK" if remove else "COMMIT")
        self._connection.close()
        if remove:
            self.path.unlink(missing_ok=True)

    def _write(self, statement: str, row: tuple[Any, ...]) -> None:
        if not self._is_lost:
            self._guard(self._connection.execute, statement, row)
        if not self._is_lost and time.monotonic() >= self._due:
            self._guard(self.commit)

    def _guard(self, action: Callable[..., Any], *arguments: Any) -> None:
        """Run an action on the file; if it fails (a full disk), warn and stop recording."""
        try:
            action(*arguments)
        except sqlite3.Error as error:
            self._is_lost = True
            warn(
                f"The checkpoint {str(self.path)!r} could not be written ({error}). The fit "
                "continues without it; what was written before is still there."
            )

    def _create(self, fit: dict[str, str]) -> None:
        """Create an empty file atomically: SQLite, if killed, could leave a partial one."""
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.executescript(_SCHEMA)
            connection.executemany("INSERT INTO fit VALUES (?, ?)", fit.items())
            connection.commit()
            content = connection.serialize()
        try:
            write_whole(self.path, content)
        except OSError as error:
            raise self._unusable(error, exists=False) from error

    def _check_header(self) -> None:
        """Refuse a file of another program by its first bytes, before SQLite touches it."""
        with self.path.open("rb") as file:
            head = file.read(72)
        ours = head[68:] == _APPLICATION_ID.to_bytes(4, "big")
        if not head.startswith(_SQLITE_MAGIC) or not ours:
            raise ValueError(
                f"{str(self.path)!r} is not a checkpoint of this version of seraph, and is left "
                "as it is. Name another file, or remove this one."
            )

    def _check_rows(self, fit: dict[str, str]) -> None:
        """Refuse a file that is damaged or belongs to another fit."""
        connection = self._connection
        try:
            fits = connection.execute("PRAGMA quick_check").fetchall() == [("ok",)]
        except UnicodeDecodeError:  # SQLite quotes a damaged name in its report
            fits = False
        if not fits:
            raise self.damaged("its pages do not fit together")
        written = connection.execute("SELECT name, value FROM fit").fetchall()
        if not all(isinstance(text, str) for row in written for text in row):
            raise self.damaged("it does not say whose it is")
        self._refuse_other(fit, dict(written))
        for *row, seal in connection.execute("SELECT key, value, gradient, seal FROM sums"):
            if seal != _seal(*row) or not _is_sum(*row[1:]):
                raise self.damaged("a sum was changed")

    def _unusable(self, error: sqlite3.Error | OSError, exists: bool) -> Exception:
        if exists:
            return self.damaged(error)
        return OSError(f"The checkpoint {str(self.path)!r} cannot be written: {error}.")

    def damaged(self, reason: object) -> ValueError:
        """Return the error that says that the file is damaged, and how."""
        return ValueError(
            f"The checkpoint {str(self.path)!r} is damaged ({reason}). Remove it to start the fit "
            "from the beginning."
        )

    def _refuse_other(self, fit: dict[str, str], written: dict[str, str]) -> None:
        """Refuse the file of another fit, and name the differences."""
        differences = []
        for name in {**fit, **written}:
            here, there = fit.get(name, "missing"), written.get(name, "missing")
            if here != there:
                shown = not (here.startswith("#") or there.startswith("#"))
                differences.append(f"{name} ({there} then, {here} now)" if shown else name)
        if differences:
            raise ValueError(
                f"The checkpoint {str(self.path)!r} belongs to another fit. What differs: "
                f"{', '.join(differences)}. To resume that fit, use its data and parameters; to "
                "start from the beginning, remove the file or name another."
            )


class RecordedSweep:
    """A sweep that takes its sums from a journal where they are known.

    Parameters
    ----------
    journal : Journal
        Where the sums are recorded.
    sweep : Sweep
        Computes them.
    points : str
        Digest of the points.

    Attributes
    ----------
    n_sweeps : int
        Number of sums that were asked for, known or not.
    """

    def __init__(self, journal: Journal, sweep: Sweep, points: str) -> None:
        self.journal = journal
        self.sweep = sweep
        self.points = points
        self.name, self.device, self.rounding = sweep.name, sweep.device, sweep.rounding
        self.n_sweeps = 0
        self._known: dict[int, tuple[Array, str]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of their features."""
        return self.sweep.shape

    def scatter(self) -> Array | None:
        """Compute ``X'X``, where the sweep can; it is not recorded."""
        return self.sweep.scatter()

    def __call__(
        self, P: Array, terms: PairTerms, wrt: Literal["metric", "factor", "threshold"]
    ) -> tuple[float, Array]:
        """Return the sum and its gradient, as the sweep itself would."""
        self.n_sweeps += 1
        key = digest(self.points, P, self._digest(terms), wrt)
        value, gradient = self.journal.sums(key, lambda: self.sweep(P, terms, wrt))
        shape = {"metric": (P.shape[1],) * 2, "factor": P.shape, "threshold": ()}[wrt]
        if gradient.shape != shape:
            raise self.journal.damaged("a sum was changed")
        return value, gradient

    def _digest(self, value: Any) -> str:
        """Digest all fields of a dataclass, and of those inside it.

        Digests of arrays are kept with the array: most are the same in all calls, and long.
        """
        if is_dataclass(value):
            named = (
                f"{field.name} {self._digest(getattr(value, field.name))}"
                for field in fields(value)
            )
            return digest(*named)
        if isinstance(value, np.ndarray):
            if id(value) not in self._known:
                self._known[id(value)] = value, digest(value)
            return self._known[id(value)][1]
        return repr(value)


def _pack(gradient: Array) -> bytes:
    """Return the content of an .npy file. It keeps the memory order, which rounding depends on."""
    file = io.BytesIO()
    np.save(file, np.asarray(gradient, dtype=np.float64))
    return file.getvalue()


def _unpack(content: bytes) -> Array:
    gradient: Array = np.load(io.BytesIO(content), allow_pickle=False)
    return gradient


def _is_sum(value: Any, content: Any) -> bool:
    """Whether a value and a packed gradient have the types of a sum. SQLite checks none."""
    try:
        return isinstance(value, float) and _unpack(content).dtype == np.float64
    except Exception:  # no bytes, or not the bytes of an array
        return False


def _seal(*row: Any) -> str:
    """Digest a row of the file, to notice when it was changed."""
    return digest(*(value if isinstance(value, bytes) else repr(value) for value in row))


def _summarize(value: Any) -> str:
    """Describe a value in a few words, or by a digest if it is long."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{float(value)!r}".removesuffix(".0")
    if callable(value) or isinstance(value, np.random.RandomState):
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{named.__module__}.{named.__qualname__}"
    if sparse.issparse(value):
        rows = value.tocsr()
        return f"#{digest(rows.data, rows.indices, rows.indptr)}"
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"#{digest(value)}"
    words = repr(value)
    return words if len(words) <= 60 else f"#{digest(words)}"
