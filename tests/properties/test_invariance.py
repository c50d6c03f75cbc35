"""What must not change the metric does not: names, orders, units, places, containers."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.base import clone

from seraph import Marks
from tests.helpers.em import em
from tests.helpers.plain import SERAPH
from tests.helpers.strategies import DISGUISES, ROW_FORMS, SIGN_FORMS, examples, seeds, sound_cases
from tests.helpers.trial import attempt

SETTINGS = st.sampled_from(
    [
        {},
        {"mu": 0.0},
        {"lam": 1.0},
        {"solver": "spg"},
        {"solver": "projected-gradient", "max_iter": 20},
        {"solver": em(5)},
        {"gamma": 1.0},
        {"n_components": 1},
        {"manifold": 0.1},
    ]
)
# One maximum, and close to it: what is learned does not hang on how it was found.
STRICT = {"mu": 0.0, "tol": 1e-7, "max_iter": 5000}
SAME_FORMS = ("columns first", "every second row and column", "from the end", "read-only", "list")
FRAMES = ("objects", "other bytes first", "pandas", "pandas Float64", "polars")


def fitted(learner, X, **known):
    learner = attempt(lambda: learner.fit(X, **known))
    assert not isinstance(learner, Exception), learner
    return learner


def fit(case, **parameters):
    return fitted(SERAPH(**parameters), **case.arguments)


def check_same_bits(one, other):
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.objective_ == other.objective_
    assert one.n_iter_ == other.n_iter_


def check_same_distances(one, X, other, Y):
    """The same value, as the certificates have it; and the same distances, but for their tol."""
    tolerance = sum(
        2 * learner.optimality_gap_ * learner.lam_ * np.sum(learner.components_**2)
        for learner in (one, other)
    )
    assert one.objective_ == pytest.approx(other.objective_, abs=tolerance + 1e-9, rel=1e-9)
    first, second = pdist(one.transform(X)), pdist(other.transform(Y))
    np.testing.assert_allclose(first, second, atol=0.01 * max(1.0, first.max(initial=0.0)))


# The same numbers, bit for bit


@examples(5)
@given(case=sound_cases(), parameters=SETTINGS)
def test_a_fit_repeats(case, parameters):
    learner = fit(case, **parameters)
    other = fitted(clone(learner), **case.arguments)
    check_same_bits(learner, other)
    check_same_bits(learner, pickle.loads(pickle.dumps(learner)))
    before = learner.components_
    np.testing.assert_array_equal(fitted(learner, **case.arguments).components_, before)


@examples(5)
@given(case=sound_cases(), parameters=SETTINGS, form=st.sampled_from(SAME_FORMS + FRAMES))
def test_the_container_of_the_points_does_not_matter(case, parameters, form):
    other = replace(case, table=replace(case.table, form=form))
    check_same_bits(fit(case, **parameters), fit(other, **parameters))


@examples(5)
@given(
    case=sound_cases(marked=True),
    parameters=SETTINGS,
    order=st.sampled_from(("plain", "reversed", "last first")),  # given twice, a mark counts twice
    row_form=st.sampled_from(tuple(ROW_FORMS)),
    sign_form=st.sampled_from(tuple(SIGN_FORMS)),
)
def test_order_and_type_of_marked_pairs_do_not_matter(
    case, parameters, order, row_form, sign_form
):
    marked = replace(case.marked, order=order, row_form=row_form, sign_form=sign_form)
    check_same_bits(fit(case, **parameters), fit(replace(case, marked=marked), **parameters))


@examples(5)
@given(case=sound_cases(marked=True), parameters=SETTINGS, seed=seeds())
def test_marks_by_name_are_those_by_number(case, parameters, seed):
    X, y, rows = case.table.X, case.knowledge["y"], case.marked.rows
    names = np.array([f"row {k}" for k in range(len(X))])
    order = np.random.default_rng(seed).permutation(len(X))
    marks = Marks(names[rows], case.marked.similar, rows=names[order])
    table = pd.DataFrame(X, index=names)
    check_same_bits(fit(case, **parameters), fitted(SERAPH(**parameters), table, y=y, marks=marks))


@examples(5)
@given(case=sound_cases(), power=st.integers(-60, 60))
def test_a_power_of_two_as_unit_changes_no_bit_of_a_distance(case, power):
    X, known = case.table.X, case.knowledge
    one, other = fitted(SERAPH(), X, **known), fitted(SERAPH(), X * 2.0**power, **known)
    np.testing.assert_array_equal(one.components_, other.components_ * 2.0**power)
    assert one.objective_ == other.objective_


# The same metric, but for rounding and the tolerance


@examples(5)
@given(case=sound_cases(), exponent=st.floats(-8, 8))
def test_the_unit_of_the_points_does_not_matter(case, exponent):
    X, known = case.table.X, case.knowledge
    scaled = X * 10.0**exponent
    one, other = fitted(SERAPH(**STRICT), X, **known), fitted(SERAPH(**STRICT), scaled, **known)
    check_same_distances(one, X, other, scaled)


@examples(5)
@given(case=sound_cases(), seed=seeds())
def test_a_shift_of_the_points_does_not_matter(case, seed):
    X, known = case.table.X, case.knowledge
    moved = X + 100.0 * np.random.default_rng(seed).normal(size=case.table.m)
    one, other = fitted(SERAPH(**STRICT), X, **known), fitted(SERAPH(**STRICT), moved, **known)
    check_same_distances(one, X, other, moved)


@examples(5)
@given(case=sound_cases(), seed=seeds())
def test_the_order_of_the_rows_does_not_matter(case, seed):
    X, known = case.table.X, case.knowledge
    order = np.random.default_rng(seed).permutation(len(X))
    moved = {**known, "y": known["y"][order]}
    if case.marked is not None:
        moved["marks"] = known["marks"][order]
    one, other = fitted(SERAPH(**STRICT), X, **known), fitted(SERAPH(**STRICT), X[order], **moved)
    check_same_distances(one, X, other, X)


@examples(5)
@given(case=sound_cases(), disguise=st.sampled_from(tuple(DISGUISES)))
def test_the_names_of_the_classes_do_not_matter(case, disguise):
    renamed = replace(case, classes=replace(case.classes, disguise=disguise))
    one, other = fit(case, **STRICT), fit(renamed, **STRICT)
    check_same_distances(one, case.table.X, other, case.table.X)


@examples(5)
@given(case=sound_cases())
def test_classes_say_what_the_list_of_all_their_pairs_says(case):
    X, codes = case.table.X, case.classes.codes
    known = np.flatnonzero(codes >= 0)
    i, j = known[np.array(np.triu_indices(len(known), 1))]
    one = fitted(SERAPH(**STRICT), X, y=codes)
    pairs, similar = np.column_stack([i, j]), codes[i] == codes[j]
    other = fitted(SERAPH(**STRICT), X, marks=Marks(pairs, similar, rows=len(X)))
    assert one.lam_ == other.lam_
    assert one.n_similar_ == other.n_similar_
    assert one.n_unlabeled_ == other.n_unlabeled_
    check_same_distances(one, X, other, X)
