"""Duplicates: vectors of records, weights of columns, and what is found with them."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime, minimize

from seraph import Marks
from seraph.records import DuplicateFinder
from seraph.records._column_weights import ColumnWeights, block_gaps, objective
from seraph.records._vectors import WHOLE, RecordVectors, as_columns
from tests.helpers.people import people, same

# Vectors


def vectors_of(table):
    columns = as_columns(table)
    made = RecordVectors().fit(columns)
    return made, made.transform(columns)


def gap(made, Z, name, i, j):
    block = made.block_of_ == made.names_.index(name)
    return float(((Z[i] - Z[j])[block] ** 2).sum())


def test_a_slip_is_nearer_than_another_name_in_its_own_block():
    table, _ = people()
    table.loc[0, "name"], table.loc[1, "name"] = "katherine müller", "catherine muller"
    made, Z = vectors_of(table)
    slip = gap(made, Z, "name", 0, 1)
    others = [gap(made, Z, "name", 0, j) for j in range(2, 40)]
    assert slip < 0.5 * min(others)
    assert np.mean(others) > 1.5


def test_exchanged_columns_are_near_as_a_whole_record():
    table, _ = people()
    table = pd.DataFrame({"first": table["name"].str[:6], "last": table["street"].str[:8]})
    table.loc[1, ["first", "last"]] = table.loc[0, ["last", "first"]].to_numpy()
    made, Z = vectors_of(table)
    assert gap(made, Z, WHOLE, 0, 1) < 1e-3
    assert gap(made, Z, "first", 0, 1) > 0.5


def test_missing_cells_count_neither_for_nor_against():
    rng = np.random.default_rng(0)
    table, _ = people(200, 100)
    for name in ("street", "age"):
        table.loc[rng.random(len(table)) < 0.5, name] = None
    made, Z = vectors_of(table)
    missing = np.flatnonzero(table["street"].isna())
    known = np.flatnonzero(~table["street"].isna())
    pairs = np.column_stack([rng.choice(missing, 400), rng.choice(missing, 400)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    both = np.mean([gap(made, Z, "street", i, j) for i, j in pairs])
    one = np.mean([gap(made, Z, "street", i, rng.choice(known)) for i in missing])
    assert both == pytest.approx(1.0, abs=0.1)
    assert one == pytest.approx(1.5, abs=0.1)
    ages = np.flatnonzero(table["age"].isna())
    both = np.mean([gap(made, Z, "age", *rng.choice(ages, 2, replace=False)) for _ in range(400)])
    assert both == pytest.approx(1.0, abs=0.2)


def test_a_record_has_the_same_vector_wherever_it_stands():
    table, _ = people()
    made, Z = vectors_of(table)
    order = np.random.default_rng(0).permutation(len(table))
    again = made.transform(as_columns(table.iloc[order]))
    np.testing.assert_allclose(again, Z[order], atol=1e-6)


def test_codes_are_text_and_other_numbers_are_scaled():
    table = pd.DataFrame(
        {"name": ["ann", "bob", "cy"], "zip": [2601, 2602, 9601], "kg": [60.5, 71.0, 80.0]}
    )
    made, Z = vectors_of(table)
    assert (made.block_of_ == made.names_.index("kg")).sum() == 1
    assert gap(made, Z, "zip", 0, 2) < 2.0
    numbers = Z[:, made.block_of_ == made.names_.index("kg")]
    assert numbers.std() == pytest.approx(1.0)


def test_dates_are_both_days_and_letters():
    table = pd.DataFrame(
        {
            "name": ["ann", "bob", "cy"],
            "born": pd.to_datetime(["1980-01-02", "1980-01-03", None]),
        }
    )
    made, Z = vectors_of(table)
    assert "born (days)" in made.names_
    assert "born" in made.names_
    assert np.isfinite(Z).all()


def test_a_column_may_have_the_name_of_a_block():
    names = [f"person {k} {k * k}" for k in range(20)]
    made, _ = vectors_of({WHOLE: names, "b": names[::-1], "days": names})
    assert made.names_ == (WHOLE, "b", "days", WHOLE + "_")


# Weights


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    X[30:] = X[:30]
    X[30:, 4:] += rng.normal(size=(30, 2))  # the last block says nothing
    X[30:, :4] += 0.3 * rng.normal(size=(30, 4))
    pairs = np.r_[np.c_[np.arange(20), np.arange(30, 50)], np.c_[np.arange(20), np.arange(31, 51)]]
    return X, pairs, np.repeat([True, False], 20), np.array([0, 0, 0, 1, 2, 2])


def test_the_gradient_of_the_weights_is_right(task):
    X, pairs, alike, block_of = task
    gaps, signs = block_gaps(X, pairs, block_of), np.where(alike, 1.0, -1.0)
    x = np.array([0.3, 0.2, 0.5, 0.4, 1.0])
    numeric = approx_fprime(x, lambda x: objective(x, gaps, signs, 0.3)[0], 1e-7)
    np.testing.assert_allclose(objective(x, gaps, signs, 0.3)[1], numeric, rtol=1e-5, atol=1e-5)


def test_another_solver_finds_the_same_weights(task):
    X, pairs, alike, block_of = task
    learner = ColumnWeights(block_of).fit(X, marks=Marks(pairs, alike, rows=X))
    gaps, signs = block_gaps(X, pairs, block_of), np.where(alike, 1.0, -1.0)
    other = minimize(
        lambda x: objective(x, gaps, signs, 0.3)[0],
        np.full(5, 0.1),
        method="SLSQP",
        bounds=[(0, None)] * 3 + [(None, None)] * 2,
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    np.testing.assert_allclose(learner.weights_, other.x[:3], atol=1e-3)
    assert learner.weights_[2] < 0.5 * learner.weights_[0]


def test_the_distance_is_the_weighted_sum_over_blocks(task):
    X, pairs, alike, block_of = task
    learner = ColumnWeights(block_of).fit(X, marks=Marks(pairs, alike, rows=X))
    expected = block_gaps(X, pairs, block_of) @ learner.weights_
    np.testing.assert_allclose(learner.pair_distance(pairs, X) ** 2, expected)


# What is found


@pytest.fixture(scope="module")
def found():
    table, person = people(120, 80)
    finder = DuplicateFinder(random_state=0).fit(table)
    pairs = finder.questions(60)
    return table, person, finder, pairs, finder.find(pairs, same(person, pairs))


def test_duplicates_are_found_at_the_wanted_precision(found):
    _, person, _, _, result = found
    right = same(person, result.pairs)
    assert right.mean() >= 0.95
    assert right.sum() >= 70  # of 80
    low, high = result.precision[1:]
    assert low <= result.precision[0] <= high
    assert result.n_groups == len(np.unique(result.group[result.group >= 0]))
    members = result.group[result.pairs]
    assert (members[:, 0] == members[:, 1]).all()
    assert (members >= 0).all()
    assert sum(result.weights.values()) == pytest.approx(1.0)


def test_only_neighbors_are_candidates(found):
    table, _, _, _, result = found
    assert result.n_candidates <= 10 * len(table)


def test_a_tighter_precision_accepts_no_more_pairs(found):
    _, person, finder, pairs, _ = found
    answers = same(person, pairs)
    counts = [len(finder.find(pairs, answers, precision=p).pairs) for p in (0.5, 0.95, 0.99)]
    assert counts[0] >= counts[1] >= counts[2]


def test_answers_overrule_the_model(found):
    _, person, finder, pairs, result = found
    answers = same(person, pairs)
    surest = next(p for p in result.pairs.tolist() if p not in pairs[answers].tolist())
    turned = finder.find([*pairs.tolist(), surest], [*answers, False])
    i, j = surest
    assert turned.group[i] != turned.group[j] or turned.group[i] == -1
    assert surest not in turned.pairs.tolist()


def test_questions_share_no_record_and_are_not_repeated(found):
    _, person, finder, pairs, _ = found
    assert len(np.unique(pairs)) == pairs.size
    more = finder.questions(20, pairs, same(person, pairs))
    assert not {tuple(p) for p in more.tolist()} & {tuple(p) for p in pairs.tolist()}


def test_questions_after_answers_of_one_kind_are_still_spread(found):
    _, _, finder, pairs, _ = found
    more = finder.questions(10, pairs[:3], [True, True, True])
    assert len(more) == 10


def test_two_tables_are_linked_across_only():
    table, person = people(120, 80)
    first = np.array([np.flatnonzero(person == p)[0] for p in range(120)])
    second = np.setdiff1d(np.arange(len(table)), first)
    one, two = table.iloc[first], table.iloc[second]
    finder = DuplicateFinder(random_state=0).fit(one, two)
    pairs = finder.questions(60)
    assert pairs[:, 0].max() < len(one)
    assert pairs[:, 1].max() < len(two)
    result = finder.find(pairs, same(person[first], pairs, person[second]))
    right = same(person[first], result.pairs, person[second])
    assert right.mean() >= 0.95
    assert right.sum() >= 70
    assert len(result.group) == len(one)
    assert len(result.other_group) == len(two)
    with pytest.raises(ValueError, match="rows"):
        finder.find([[0, len(two)], [1, 1]], [True, False])


def test_records_that_are_equal_are_found_however_many_they_are(monkeypatch):
    monkeypatch.setattr("seraph.records._groups._LARGEST", 10)
    table, person = people(60, 40)
    table = pd.concat([table, *[table.iloc[:1]] * 15], ignore_index=True)
    person = np.r_[person, np.repeat(person[0], 15)]
    finder = DuplicateFinder(n_neighbors=20).fit(table)
    pairs = finder.questions(60)
    result = finder.find(pairs, same(person, pairs))
    assert len(set(result.group[-15:])) == 1


# What is refused


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1.0, 2.0]], "data frame"),
        ({"a": []}, "empty"),
        ({"a": ["x"], "b": ["y", "z"]}, "one length"),
        ({"kg": [1.5, 2.5, 3.5]}, "No column holds text"),
        ({"a": ["x", "x", "x"]}, "nothing to compare"),
        ({"a": ["x", "y"]}, "nothing to compare"),
    ],
)
def test_records_that_cannot_be_compared_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        DuplicateFinder().fit(table)


def test_bad_arguments_are_refused(found):
    table, person, finder, pairs, _ = found
    answers = same(person, pairs)
    with pytest.raises(ValueError, match="both kinds"):
        finder.find(pairs[answers], answers[answers])
    with pytest.raises(ValueError, match="say different"):
        finder.find(pairs[~answers], answers[~answers])
    with pytest.raises(ValueError, match="precision"):
        finder.find(pairs, answers, precision=1.5)
    with pytest.raises(ValueError, match=r"cannot be reached.*0\.\d{3}"):
        finder.find(pairs, answers, precision=1.0)
    with pytest.raises(ValueError, match="call fit first"):
        DuplicateFinder().find(pairs, answers)
    with pytest.raises(ValueError, match="'nope'"):
        DuplicateFinder(text=["nope"]).fit(table)
    with pytest.raises(ValueError, match="different columns"):
        DuplicateFinder().fit(table, table.drop(columns="town"))
    with pytest.raises(ValueError, match="n_neighbors"):
        DuplicateFinder(0).fit(table)
