"""Checkpoints: a fit that was ended goes on to where it would have come, and to no other."""

import itertools
import os
import re
import shutil
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass, replace

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from seraph._engine import _checkpoint as checkpoint
from seraph._engine._checkpoint import Journal, RecordedSweep, fingerprint
from seraph._sweep import (
    ChunkedPoints,
    NumpySweep,
    PairList,
    PairTerms,
    Plan,
    PointsInMemory,
    Posterior,
)
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPHCV, Marks, seraph_path
from seraph._marks import PairLabels
from tests.helpers.em import em
from tests.helpers.plain import SERAPH, KernelSERAPH

SETTINGS = [
    {},
    {"solver": "spg"},
    {"solver": "projected-gradient", "lam": 1.0, "max_iter": 12, "tol": 0.0},
    pytest.param({"solver": "em"}, marks=pytest.mark.slow),
    pytest.param({"solver": em(50, "spg")}, marks=pytest.mark.slow),
    {"solver": em(2)},
    {"gamma": 0.5},
    {"manifold": 0.1, "n_components": 2},
    {"unlabeled_pairs": 0.5, "random_state": 0},
    {"backend": "numba"},
    {"backend": "torch"},
]


class Interruption(Exception):
    pass


def interrupt_at(iteration):
    def callback(state):
        if state.iteration == iteration:
            raise Interruption

    return callback


@pytest.fixture
def file(tmp_path):
    return tmp_path / "fit.ckpt"


@pytest.fixture
def n_computed(monkeypatch):
    """A function that says how many sums were computed, not recalled, since it was last called."""
    computed = []
    sums = Journal.sums

    def counted(journal, key, compute):
        def counted_compute():
            found = compute()
            computed.append(key)
            return found

        return sums(journal, key, counted_compute)

    def n_since():
        n = len(computed)
        computed.clear()
        return n

    monkeypatch.setattr(Journal, "sums", counted)
    return n_since


def begun(learner, file, X, y, iteration=5, **data):
    """Leave a checkpoint of a fit that an exception has ended."""
    halting = clone(learner).set_params(checkpoint=file, callback=interrupt_at(iteration))
    with pytest.raises(Interruption):
        halting.fit(X, y, **data)
    assert file.exists()


def assert_same_fit(one, other):
    for name, value in vars(one).items():
        if not name.endswith("_"):
            continue
        if name == "history_":
            for key, values in value.items():
                np.testing.assert_array_equal(values, other.history_[key])
        else:
            np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)


# Going on


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)])
def test_an_interrupted_fit_ends_as_an_uninterrupted_one(wine, file, n_computed, setting, dtype):
    X, y, _ = wine
    X = X.astype(dtype)
    plain = SERAPH(**setting).fit(X, y)
    watched = SERAPH(**setting, checkpoint=file).fit(X, y)
    n_all = n_computed()
    begun(SERAPH(**setting), file, X, y)
    n_before = n_computed()
    resumed = SERAPH(**setting, checkpoint=file).fit(X, y)
    assert n_before >= 5
    assert n_computed() == n_all - n_before
    assert_same_fit(plain, watched)
    assert_same_fit(plain, resumed)


@pytest.mark.parametrize(
    "unlabeled_pairs", ["all", pytest.param(1_600_000, marks=pytest.mark.slow)]
)
def test_a_fit_by_way_of_samples_goes_on_bit_for_bit(rng, file, n_computed, unlabeled_pairs):
    X = rng.normal(size=(2000, 4)) * [2.0, 1.0, 1.0, 0.5]
    y = np.where(np.arange(2000) < 30, X[:, 1] > 0.0, -1)
    learner = SERAPH(unlabeled_pairs=unlabeled_pairs, random_state=0)
    plain = clone(learner).set_params(checkpoint=file).fit(X, y)
    n_all = n_computed()
    is_whole = plain.history_["share"] == 1.0
    first_whole = 1 + int(np.argmax(is_whole))
    assert is_whole.any()
    assert not is_whole.all()
    for iteration in (3, first_whole):  # within a sample, and after a sum over all pairs
        begun(learner, file, X, y, iteration=iteration)
        n_before = n_computed()
        resumed = clone(learner).set_params(checkpoint=file).fit(X, y)
        assert_same_fit(plain, resumed)
        assert n_before >= iteration
        assert n_computed() == n_all - n_before


def test_a_search_goes_on_after_the_fold_that_was_complete(wine, file, n_computed):
    X, y, y_all = wine
    y = np.where(np.arange(len(y)) < 40, y_all, -1)
    search = SERAPHCV(SERAPH(checkpoint=file), lam_factors=(0.5, 1.0, 2.0), cv=3)
    plain = SERAPHCV(SERAPH(), lam_factors=(0.5, 1.0, 2.0), cv=3).fit(X, y)
    n_computed()
    search.fit(X, y)
    n_all = n_computed()
    begun_fits = []

    def interrupt_fifth_fit(state):
        begun_fits.extend([state.iteration] * (state.iteration == 1))
        if len(begun_fits) == 5 and state.iteration == 4:
            raise Interruption

    with pytest.raises(Interruption):
        clone(search).set_params(learner__callback=interrupt_fifth_fit).fit(X, y)
    n_before = n_computed()
    first_calls = []
    search.set_params(learner__callback=lambda s: first_calls.append(s.iteration)).fit(X, y)
    assert n_computed() == n_all - n_before
    assert first_calls.count(1) == 7  # the fits of two of three folds, and the last
    assert search.best_params_ == plain.best_params_
    for name, values in plain.cv_results_.items():
        np.testing.assert_array_equal(values, search.cv_results_[name])
    np.testing.assert_array_equal(plain.components_, search.components_)
    assert not file.exists()


@pytest.mark.slow
def test_a_path_goes_on_where_it_was_left(wine, file, n_computed, monkeypatch):
    X, y, _ = wine
    plain = seraph_path(X, y, n_lams=12)
    seraph_path(X, y, n_lams=12, learner=SERAPH(checkpoint=file))
    n_all = n_computed()
    sweep = NumpySweep.__call__

    def interrupt(self, *args):
        if self.n_sweeps == 30:
            raise Interruption
        return sweep(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(NumpySweep, "__call__", interrupt)
        with pytest.raises(Interruption):
            seraph_path(X, y, n_lams=12, learner=SERAPH(checkpoint=file))
    n_computed()
    resumed = seraph_path(X, y, n_lams=12, learner=SERAPH(checkpoint=file))
    assert n_computed() == n_all - 30
    for one, other in zip(plain.components, resumed.components, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(plain.n_sweeps, resumed.n_sweeps)
    np.testing.assert_array_equal(plain.optimality_gaps, resumed.optimality_gaps)


@pytest.mark.slow
def test_points_in_chunks_go_on_too(wine, file, n_computed):
    X, y_partial, _ = wine
    chunked = da.from_array(X, chunks=(30, -1))
    plain = SERAPH(checkpoint=file).fit(chunked, y_partial)
    n_all = n_computed()
    begun(SERAPH(), file, chunked, y_partial)
    n_before = n_computed()
    again = da.from_array(X.copy(), chunks=(30, -1))
    resumed = SERAPH(checkpoint=file).fit(again, y_partial)
    assert resumed.backend_ == "dask"
    assert n_computed() == n_all - n_before
    np.testing.assert_array_equal(resumed.components_, plain.components_)
    begun(SERAPH(), file, chunked, y_partial)
    with pytest.raises(ValueError, match="X"):
        SERAPH(checkpoint=file).fit(da.from_array(X * 1.001, chunks=(30, -1)), y_partial)


def test_where_to_stop_may_change_from_one_attempt_to_the_next(wine, file, n_computed):
    X, y, _ = wine
    begun(SERAPH(tol=1e-6), file, X, y, iteration=20)
    n_computed()
    changed = SERAPH(tol=1e-2, max_iter=150, n_jobs=2, verbose=0, checkpoint=file).fit(X, y)
    assert n_computed() <= 6
    assert_same_fit(SERAPH(tol=1e-2).fit(X, y), changed)


def test_a_fit_goes_on_with_another_backend(wine, file, n_computed):
    X, y, _ = wine
    begun(SERAPH(backend="numpy"), file, X, y, iteration=10)
    n_before = n_computed()
    resumed = SERAPH(backend="numba", checkpoint=file).fit(X, y)
    assert n_computed() < n_before
    plain = SERAPH().fit(X, y)
    assert resumed.objective_ == pytest.approx(plain.objective_, rel=1e-9)


# The file


def test_the_file_is_gone_when_the_fit_is_complete(wine, file):
    X, y, _ = wine
    seen = []
    SERAPH(checkpoint=str(file), callback=lambda state: seen.append(file.exists())).fit(X, y)
    assert all(seen)
    assert not list(file.parent.iterdir())


def test_data_that_are_refused_leave_no_file(wine, file):
    X, y, _ = wine
    with pytest.raises(ValueError, match="graph"):
        SERAPH(checkpoint=file).fit(X, y, graph=sparse.csr_array((3, 3)))
    assert not file.exists()


def test_the_file_stays_where_a_warning_is_an_error(wine, file):
    X, y, _ = wine
    with pytest.raises(ConvergenceWarning):
        SERAPH(max_iter=3, checkpoint=file).fit(X, y)
    assert file.exists()
    assert SERAPH(checkpoint=file).fit(X, y).converged_


def test_a_commit_writes_what_is_new_and_not_the_whole_file(file):
    journal = Journal(file, {})
    for number in range(200):
        journal.sums(f"{number}", lambda: (1.0, np.ones((50, 50))))
    journal.commit()
    before = file.stat().st_size
    journal.sums("one more", lambda: (1.0, np.ones((50, 50))))
    journal.commit()
    assert before > 200 * 50 * 50 * 8
    assert file.stat().st_size - before < 3 * 50 * 50 * 8
    journal.close(remove=True)
    assert not file.exists()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"X": "other"}, "What differs: X."),
        ({"y": "other"}, "What differs: the labels."),
        ({"graph": "other"}, "What differs: the graph."),
        ({"lam": 2.5}, "What differs: lam ('auto' then, 2.5 now)."),
        ({"eta": 2}, "What differs: eta (1 then, 2 now)."),
        ({"random_state": 0}, "What differs: random_state (None then, 0 now)."),
        ({"solver": "em"}, "solver ('auto' then, 'em' now)."),
        ({"version": "other"}, "What differs: the version of seraph ("),
    ],
    ids=str,
)
def test_the_checkpoint_of_another_fit_is_refused(wine, file, change, named):
    X, y, _ = wine
    begun(SERAPH(), file, X, y)
    changed = dict(change)
    if changed.pop("version", None):
        with closing(sqlite3.connect(file)) as connection, connection:
            connection.execute("UPDATE fit SET value = '0.0.1' WHERE name LIKE '%version%'")
    before = file.read_bytes()
    graph = sparse.csr_array(np.eye(len(X), k=1) + np.eye(len(X), k=-1))
    data = {
        "X": X + 1e-12 if changed.pop("X", None) else X,
        "y": np.roll(y, 1) if changed.pop("y", None) else y,
        "graph": graph if changed.pop("graph", None) else None,
    }
    with pytest.raises(ValueError, match=re.escape(named)) as caught:
        SERAPH(checkpoint=file, **changed).fit(**data)
    assert str(file) in str(caught.value)
    assert "remove the file or name another" in str(caught.value)
    assert file.read_bytes() == before


def test_marked_pairs_and_the_metric_to_start_from_are_part_of_a_fit(wine, file):
    X, y, _ = wine
    marks = Marks([[20, 30]], [1], rows=X)
    begun(SERAPH(), file, X, y, marks=marks)
    for other in (
        Marks([[20, 30]], [-1], rows=X),
        Marks([[20, 30]], [0.9], rows=X),
        Marks([[20, 30]], [1], weights=[2.0], rows=X),
        Marks([[20, 30]], [1], triplets=[[20, 30, 40]], rows=X),
    ):
        with pytest.raises(ValueError, match=r"What differs: the (labels|triplets)"):
            SERAPH(checkpoint=file).fit(X, y, marks=other)
    warm = SERAPH(lam=0.5).fit(X, y).set_params(warm_start=True, lam="auto", checkpoint=file)
    with pytest.raises(ValueError, match="What differs: the metric to start from"):
        warm.fit(X, y, marks=marks)


@pytest.mark.parametrize(
    ("learner", "what"),
    [
        (SERAPH(unlabeled_pairs=500), "unlabeled pairs"),
        (KernelSERAPH(n_landmarks=40, random_state=None), "landmarks"),
        (SERAPHCV(SERAPH(), random_state=np.random.RandomState(0)), "folds"),
    ],
    ids=["unlabeled pairs", "landmarks", "folds"],
)
def test_a_draw_that_would_not_be_repeated_is_refused_at_the_start(wine, file, learner, what):
    X, y, _ = wine
    name = "learner__checkpoint" if hasattr(learner, "learner") else "checkpoint"
    with pytest.raises(ValueError, match=f"chooses the same {what} again: set random_state to a"):
        clone(learner).set_params(**{name: file}).fit(X, y)
    assert not file.exists()


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.999])
def test_a_file_that_was_cut_short_is_refused(wine, file, kept):
    X, y, _ = wine
    begun(SERAPH(), file, X, y)
    content = file.read_bytes()
    file.write_bytes(content[: int(kept * len(content))])
    with pytest.raises(ValueError, match=re.escape(repr(str(file)))):
        SERAPH(checkpoint=file).fit(X, y)


def test_a_file_that_was_changed_is_refused_or_makes_no_difference(wine, file):
    X, y, _ = wine
    begun(SERAPH(), file, X, y)
    content = file.read_bytes()
    plain = SERAPH().fit(X, y)
    refused = 0
    for place in np.random.default_rng(0).integers(72, len(content), size=40).tolist():
        changed = bytearray(content)
        changed[place] ^= 1
        file.write_bytes(changed)
        try:
            assert_same_fit(plain, SERAPH(checkpoint=file).fit(X, y))
        except ValueError as error:
            refused += 1
            assert str(file) in str(error)  # noqa: PT017
    assert refused > 5  # the rest fell on unused bytes


FORGED = {
    "value": ["text", b"bytes", 3],
    "gradient": [
        "text",
        b"",
        3,
        checkpoint._pack(np.ones(3))[:-1],
        checkpoint._pack(np.ones(3)).replace(b"(3,)", b"(9,)"),
        checkpoint._pack(np.ones(3)).replace(b"<f8", b"<i8"),
        checkpoint._pack(np.ones(3)).replace(b"(3,)", b"(-3,)"),
    ],
}


def forge(file, column, value):
    """Change one sum, and its seal with it."""
    with sqlite3.connect(file) as connection:
        key, *_ = connection.execute("SELECT key FROM sums").fetchone()
        where = "WHERE key = ?"
        connection.execute(f"UPDATE sums SET {column} = ? {where}", (value, key))
        # As the file has it, so that the seal is right.
        row = connection.execute(f"SELECT key, value, gradient FROM sums {where}", (key,))
        sealed = (checkpoint._seal(*row.fetchone()), key)
        connection.execute(f"UPDATE sums SET seal = ? {where}", sealed)
    connection.close()


@pytest.mark.parametrize("column", FORGED)
def test_a_forged_sum_of_another_type_or_shape_is_refused(wine, file, column):
    X, y, _ = wine
    begun(SERAPH(), file, X, y)
    content = file.read_bytes()
    for value in FORGED[column]:
        file.write_bytes(content)
        forge(file, column, value)
        if column == "value" and value == 3:  # SQLite makes it a float, as a sum is
            continue
        with pytest.raises(ValueError, match=r"damaged \(a sum was changed\)"):
            SERAPH(checkpoint=file).fit(X, y)


def test_forged_sums_of_another_shape_and_the_same_size_are_refused(wine, file):
    X, y, _ = wine
    begun(SERAPH(), file, X, y)
    with sqlite3.connect(file) as connection:
        for key, value, content in connection.execute(
            "SELECT key, value, gradient FROM sums"
        ).fetchall():
            flat = checkpoint._pack(checkpoint._unpack(content).ravel())
            changed = (flat, checkpoint._seal(key, value, flat), key)
            connection.execute("UPDATE sums SET gradient = ?, seal = ? WHERE key = ?", changed)
    connection.close()
    with pytest.raises(ValueError, match=r"damaged \(a sum was changed\)"):
        SERAPH(checkpoint=file).fit(X, y)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE fit SET value = x'00'", "it does not say whose it is"),
        ("UPDATE fit SET name = NULL WHERE name = 'X'", "it does not say whose it is"),
        ("DROP TABLE sums", "no such table"),
        ("ALTER TABLE sums DROP COLUMN seal", "seal"),
        ("ALTER TABLE sums RENAME COLUMN value TO other", "no such column"),
        ("DROP TABLE fit; CREATE TABLE fit (name)", "no such column"),
    ],
)
def test_a_forged_table_is_refused(wine, file, statement, reason):
    X, y, _ = wine
    begun(SERAPH(), file, X, y)
    with sqlite3.connect(file) as connection:
        connection.executescript(statement)
    connection.close()
    with pytest.raises(ValueError, match=f"damaged .*{reason}"):
        SERAPH(checkpoint=file).fit(X, y)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
def test_a_device_or_pipe_is_refused_unread(wine, tmp_path):
    X, y, _ = wine
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with os.fdopen(os.open(path, os.O_RDWR), "r+b", buffering=0) as pipe:
        pipe.write(b"SQLite format 3")
        with pytest.raises(ValueError, match="is a device"):
            SERAPH(checkpoint=path).fit(X, y)
        assert pipe.read(15) == b"SQLite format 3"
    assert path.is_fifo()


@pytest.mark.parametrize("kind", ["a database", "text"])
def test_the_file_of_another_program_is_left_alone(wine, file, kind):
    X, y, _ = wine
    if kind == "text":
        file.write_text("My thesis")
    else:
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE letters (text TEXT)")
        connection.close()
    before = file.read_bytes()
    with pytest.raises(ValueError, match="is not a checkpoint"):
        SERAPH(checkpoint=file).fit(X, y)
    assert file.read_bytes() == before


def test_a_fit_outlives_the_place_of_its_checkpoint(wine, tmp_path, monkeypatch):
    X, y, _ = wine
    monkeypatch.setattr(time, "monotonic", itertools.count(step=100.0).__next__)  # often due
    place = tmp_path / "scratch"
    place.mkdir()

    def lose(state):
        if state.iteration == 3:
            shutil.rmtree(place)

    learner = SERAPH(checkpoint=place / "fit.ckpt", callback=lose)
    with pytest.warns(UserWarning, match="could not be written"):
        learner.fit(X, y)
    assert learner.converged_


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        (3, ValueError, "must be the path of a file, or None; got 3"),
        ("", ValueError, "must be the path of a file, or None; got ''"),
        (".", ValueError, "is a folder"),
        ("no such folder/fit.ckpt", FileNotFoundError, "there is no folder 'no such folder'"),
    ],
)
def test_a_place_that_is_none_is_refused_at_the_start(wine, path, error, message):
    with pytest.raises(error, match=message):
        SERAPH(checkpoint=path).fit(*wine[:2])


# What a sum depends on


def test_a_recorded_sum_is_given_for_the_same_question_only(wine, file):
    X, _, _ = wine
    rng = np.random.default_rng(0)
    codes = np.array([0, 0, 1, 1])
    terms = PairTerms(codes, np.array([[5, 9]]), np.array([True]), mu=0.1)
    P, Q = rng.normal(size=(2, 3, X.shape[1]))
    pairs = np.array([[6, 7], [6, 8]])
    questions = [
        (P, terms, "factor"),
        (P, terms, "metric"),
        (P, terms, "threshold"),
        (Q, terms, "factor"),
        (P[:2], terms, "factor"),
        (P, replace(terms, eta=2.0), "factor"),
        (P, replace(terms, mu=0.2), "factor"),
        (P, replace(terms, q=Posterior()), "factor"),
        (P, replace(terms, q=Posterior(P)), "factor"),
        (P, replace(terms, q=Posterior(Q)), "factor"),
        (P, replace(terms, codes=codes[:3]), "factor"),
        (P, replace(terms, pairs=np.array([[5, 8]])), "factor"),
        (P, replace(terms, similar=np.array([False])), "factor"),
        (P, replace(terms, weights=np.array([2.0])), "factor"),
        (P, replace(terms, plan=Plan(share=0.5)), "factor"),
        (P, replace(terms, plan=Plan(labeled_share=0.5)), "factor"),
        (P, replace(terms, plan=Plan(listed=PairList.of(pairs), weight=3.0)), "factor"),
        (P, replace(terms, plan=Plan(listed=PairList.of(pairs), step=2, weight=3.0)), "factor"),
        (P, replace(terms, plan=Plan(listed=PairList.of(pairs), weight=4.0)), "factor"),
        (P, replace(terms, plan=Plan(listed=PairList.of(pairs + 1), weight=4.0)), "factor"),
    ]
    points = PointsInMemory(X)
    fit = fingerprint({}, points, PairLabels.make(len(X), marks=Marks([[0, 1]], [1], rows=len(X))))
    for _ in range(2):
        backend = NumpySweep(X)
        journal = Journal(file, fit)
        recorded = RecordedSweep(journal, backend, points.digest())
        assert recorded.shape == X.shape
        for question in [*questions, *questions]:
            value, gradient = recorded(*question)
            own_value, own_gradient = NumpySweep(X)(*question)
            assert value == own_value
            assert gradient.dtype == np.float64
            np.testing.assert_array_equal(gradient, own_gradient, strict=True)
            gradient += 1.0  # whoever asks may write to what is given
        assert recorded.n_sweeps == 2 * len(questions)
        assert backend.n_sweeps in (len(questions), 0)
        journal.close(remove=False)
    assert backend.n_sweeps == 0
    other = NumpySweep(X[::-1])
    backwards = PointsInMemory(X[::-1]).digest()
    journal = Journal(file, fit)
    RecordedSweep(journal, other, backwards)(*questions[0])
    journal.close(remove=False)
    assert other.n_sweeps == 1


@dataclass(frozen=True)
class LongerList(PairList):
    more: str = "a"


@dataclass(frozen=True)
class LongerTerms(PairTerms):
    more: float = 0.0


def test_a_new_field_at_any_depth_makes_another_question(file):
    X = np.random.default_rng(0).normal(size=(12, 2))
    pairs = PairList.of(np.array([[6, 7], [6, 8]]))
    lists = [LongerList(*vars(pairs).values(), more) for more in ("a", "b")]
    sweep, journal = NumpySweep(X), Journal(file, {})
    recorded = RecordedSweep(journal, sweep, "X")
    for plan in [Plan(listed=one) for one in lists]:
        for more in (0.0, 1.0):
            for _ in range(2):
                terms = LongerTerms(np.array([0, 1]), mu=0.1, plan=plan, more=more)
                recorded(np.eye(2), terms, "factor")
    journal.close(remove=True)
    assert (recorded.n_sweeps, sweep.n_sweeps) == (8, 4)


def test_the_order_of_a_gradient_in_memory_is_kept(file):
    by_columns = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    for number, gradient in enumerate([by_columns, by_columns.T, np.array(3.0)]):
        journal = Journal(file, {})
        journal.sums(f"{number}", lambda gradient=gradient: (1.5, gradient))
        journal.close(remove=False)
        journal = Journal(file, {})
        value, again = journal.sums(f"{number}", lambda: pytest.fail("it is known"))
        journal.close(remove=False)
        assert value == 1.5
        np.testing.assert_array_equal(again, gradient, strict=True)
        assert again.flags.c_contiguous == gradient.flags.c_contiguous


def test_of_a_complete_fold_in_a_search_the_scores_alone_are_kept(file):
    rows, grid = np.arange(5), np.array([[0.5, 1.0], [1.0, 1.0]])
    scores = np.array([0.1 + 0.2, -3.0])

    def compute():
        journal.sums("key", lambda: (1.0, np.ones((2, 2))))
        return scores

    journal = Journal(file, {})
    journal.scores(rows, grid, compute)
    journal.close(remove=False)
    journal = Journal(file, {})
    again = journal.scores(rows, grid, lambda: pytest.fail("they are known"))
    np.testing.assert_array_equal(again, scores, strict=True)
    assert journal.sums("key", lambda: (2.0, np.ones((2, 2))))[0] == 2.0
    for other in ((rows, 2.0 * grid), (rows + 1, grid)):
        np.testing.assert_array_equal(journal.scores(*other, lambda: -scores), -scores)
    np.testing.assert_array_equal(journal.scores(rows, grid, pytest.fail), scores)
    journal.close(remove=False)


def test_a_known_fold_leaves_the_sums_of_the_next_one(file):
    journal = Journal(file, {})
    rows, grid, scores = np.arange(5), np.ones((1, 2)), np.array([-1.0])
    journal.scores(rows, grid, lambda: scores)
    journal.sums("key", lambda: (1.0, np.ones(2)))
    np.testing.assert_array_equal(journal.scores(rows, grid, pytest.fail), scores)
    assert journal.sums("key", lambda: pytest.fail("it is known"))[0] == 1.0
    journal.close(remove=True)


def test_data_are_told_apart_wherever_they_are(wine):
    X, _, _ = wine
    labels = PairLabels.make(len(X), marks=Marks([[0, 1]], [1], rows=len(X)))

    def told(points):
        return fingerprint({}, points, labels)["X"]

    kinds = {
        "numpy": PointsInMemory,
        "columns first": lambda X: PointsInMemory(np.asfortranarray(X)),
        "dask": lambda X: ChunkedPoints.read(da.from_array(X, chunks=(20, -1))),
    }
    for kind, made in kinds.items():
        assert told(made(X)) == told(made(X.copy())), kind
        assert told(made(X)) != told(made(X + 1e-12)), kind
        assert told(made(X)) != told(made(X.astype(np.float32))), kind
    assert told(PointsInMemory(X)) == told(kinds["columns first"](X))
    assert told(PointsInMemory(X)) != told(PointsInMemory(X.reshape(-1, 1)))
