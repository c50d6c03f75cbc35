"""What must not change the metric does not: names, orders, units, places, containers."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from seraph import SERAPH, Marks
from tests.helpers.em import em
from tests.helpers.quick import examples
from tests.helpers.strategies import FORMS, ROW_FORMS, SIGN_FORMS, seeds, sound_cases
from tests.helpers.trial import fitted

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
        {"unlabeled_pairs": 3},
    ]
)
# Those whose metric depends on rounding errors by no more than these.
DIRECT = st.sampled_from([{}, {"mu": 0.0}, {"n_components": 1}])


def fit(case, **parameters):
    return fitted(SERAPH(**parameters), **case.arguments)


def check_same_bits(one, other):
    np.testing.assert_array_equal(one.components_, other.components_)
    assert one.objective_ == other.objective_
    assert one.n_iter_ == other.n_iter_


def check_same_distances(one, X, other, Y):
    """The same metric to 1e-6."""
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-9)
    first, second = pdist(one.transform(X)), pdist(other.transform(Y))
    np.testing.assert_allclose(second, first, rtol=0, atol=1e-6 * max(1.0, first.max(initial=0)))


# The same numbers, bit for bit


@examples(2)
@given(case=sound_cases(), parameters=SETTINGS, form=st.sampled_from(tuple(FORMS)))
def test_the_container_of_the_points_does_not_matter(case, parameters, form):
    check_same_bits(fit(case, **parameters), fit(replace(case, form=form), **parameters))


@examples(2)
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
    other = replace(case, order=order, row_form=row_form, sign_form=sign_form)
    check_same_bits(fit(case, **parameters), fit(other, **parameters))


@examples(2)
@given(case=sound_cases(marked=True), parameters=SETTINGS, seed=seeds())
def test_marks_by_name_are_those_by_number(case, parameters, seed):
    X, y, rows = case.X, case.y, case.rows
    names = np.array([f"row {k}" for k in range(len(X))])
    order = np.random.default_rng(seed).permutation(len(X))
    marks = Marks(names[rows], case.similar, rows=names[order])
    table = pd.DataFrame(X, index=names)
    check_same_bits(fit(case, **parameters), fitted(SERAPH(**parameters), table, y=y, marks=marks))


# The same metric, but for rounding errors


@examples(2)
@given(case=sound_cases(), parameters=DIRECT, scale=st.sampled_from([1e-6, 0.3, 30.0, 1e6]))
def test_units_do_not_matter(case, parameters, scale):
    X, known = case.X, case.knowledge
    one, other = (fitted(SERAPH(**parameters), c * X, **known) for c in (1.0, scale))
    check_same_distances(one, X, other, scale * X)
    assert other.lam_ == pytest.approx(scale**2 * one.lam_, rel=1e-9)
    lam = {**parameters, "lam": other.lam_}  # nor with a weight in these units
    check_same_distances(one, X, fitted(SERAPH(**lam), scale * X, **known), scale * X)


@examples(2)
@given(case=sound_cases(), parameters=DIRECT, seed=seeds())
def test_neither_a_shift_nor_a_rotation_matters(case, parameters, seed):
    X, known = case.X, case.knowledge
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0]
    moved = X @ turn + 10.0 * rng.normal(size=X.shape[1])
    one, other = (fitted(SERAPH(**parameters), points, **known) for points in (X, moved))
    check_same_distances(one, X, other, moved)


@examples(2)
@given(case=sound_cases(), parameters=DIRECT, seed=seeds())
def test_the_order_of_the_rows_does_not_matter(case, parameters, seed):
    X, known = case.X, case.knowledge
    order = np.random.default_rng(seed).permutation(len(X))
    moved = {**known, "y": known["y"][order]}
    if case.n_pairs:
        moved["marks"] = known["marks"][order]
    one = fitted(SERAPH(**parameters), X, **known)
    check_same_distances(one, X, fitted(SERAPH(**parameters), X[order], **moved), X)


@examples(2)
@given(case=sound_cases(), parameters=DIRECT)
def test_classes_say_what_the_list_of_all_their_pairs_says(case, parameters):
    X, codes = case.X, case.codes
    known = np.flatnonzero(codes >= 0)
    i, j = known[np.array(np.triu_indices(len(known), 1))]
    one = fitted(SERAPH(**parameters), X, y=codes)
    marks = Marks(np.column_stack([i, j]), codes[i] == codes[j], rows=len(X))
    other = fitted(SERAPH(**parameters), X, marks=marks)
    for name in ("lam_", "mu_", "n_similar_", "n_dissimilar_", "n_unlabeled_"):
        assert getattr(one, name) == getattr(other, name)
    check_same_distances(one, X, other, X)
