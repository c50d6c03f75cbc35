"""How pairs are described, proposed and weighed."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score

from seraph.records._candidates import neighbor_pairs
from seraph.records._columns import as_frame, distinct, texts_of
from seraph.records._model import PairModel, Stack, _held_out, objective
from seraph.records._questions import open_questions
from seraph.records._similarities import RIVALS, WHOLE, Similarities
from seraph.records._terms import term_vectors
from tests.helpers.people import people

ACROSS = np.array([[0, 1], [0, 2]])


def described(table, pairs=ACROSS, **parameters):
    """Return the features of pairs as a data frame with a column for each."""
    made = Similarities(as_frame(table), **parameters)
    made.compete(np.asarray(pairs))
    frame = pd.DataFrame(made(np.asarray(pairs)))
    frame.columns = [
        f"{name} {made.columns[:k].count(name)}" for k, name in enumerate(made.columns)
    ]
    return made, frame


def test_equal_cells_are_at_one_and_letters_compare_like_cosines():
    table = {"name": ["ann lee", "ann lee", "bo wu", "ann wu"]}
    _, features = described(table, [[0, 1], [0, 3]])
    assert features.loc[0, ["name 0", "name 1", "name 2"]].tolist() == pytest.approx([1, 1, 1])
    A = term_vectors(np.array(table["name"], dtype=object), "letters").toarray()
    assert features["name 0"][1] == pytest.approx(A[0] @ A[3], abs=1e-6)
    # Of 13 letters, 2 + 3 - 2 are inserted or deleted: "lee" and "wu" have nothing in common.
    assert features["name 2"][1] == pytest.approx(1 - 5 / 13)


def test_a_missing_cell_is_neither_similar_nor_different():
    table = {"name": ["ann", "ann", "bob", "cy"], "town": ["ulm", None, "ulm", "bern"]}
    _, features = described(table)
    assert np.isnan(features["town 0"][0])
    assert features["town 0"][1] == pytest.approx(1.0)
    assert features["town 2"].tolist() == [1.0, 0.0]  # its own feature
    model = PairModel.prior(features.to_numpy(), np.ones(features.shape[1]))
    assert (model.standardized(np.full((1, features.shape[1]), np.nan)) == 0.0).all()


def test_numbers_are_compared_by_ratio_and_dates_by_days():
    table = {
        "name": ["ann", "bob", "cy"],
        "price": ["$100", "$1,000.00", "$110.50"],
        "born": pd.to_datetime(["1980-01-02", "1980-01-03", "1990-05-01"]),
        "zip": [2601, 2602, 9611],
    }
    _, features = described(table)
    assert features["price 0"].tolist() == pytest.approx([0.1, 100 / 110.5])
    assert features["born 0"][0] > 0.99 > features["born 0"][1]
    assert features["zip 1"].tolist() == [0.75, 0.5]  # edits: a code is text


@pytest.mark.parametrize("form", [pa.Table.from_pandas, pl.from_pandas, dict])
def test_tables_of_any_library_are_the_same_records(form):
    table, _ = people(20, 10)
    made, expected = as_frame(form(table)), as_frame(table)
    assert list(made) == list(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(*(texts_of(np.asarray(c)) for c in (made[name], values)))


def test_a_pair_is_set_against_the_best_that_its_records_are_in():
    table, _ = people(20, 10)
    made = Similarities(as_frame(table))
    pairs = neighbor_pairs(made.vectors, np.arange(30), 5, 30)
    made.compete(pairs)
    score = made(pairs)[:, made.columns.index(WHOLE)]
    plain = []
    for own, (i, j) in zip(score, pairs.tolist(), strict=True):
        other = [
            max(
                [
                    s
                    for s, p in zip(score, pairs.tolist(), strict=True)
                    if row in p and p != [i, j]
                ],
                default=0.0,
            )
            for row in (i, j)
        ]
        plain.append([own - max(other), own - min(other)])
    np.testing.assert_allclose(made(pairs)[:, -2:], plain, atol=1e-6)
    assert made.columns[-2:] == [RIVALS, RIVALS]


@pytest.mark.parametrize(
    ("unit", "analysis"),
    [
        ("letters", {"analyzer": "char_wb", "ngram_range": (3, 3)}),
        ("words", {"token_pattern": r"\w+"}),
    ],
)
def test_terms_are_those_of_scikit_learn(unit, analysis):
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice([*"abcü éß'-1_"], rng.integers(1, 7))) for _ in range(60)]
    texts = [" ".join(" ".join(rng.choice(words, rng.integers(1, 6))).split()) for _ in range(80)]
    texts = np.array([*texts, "a", "", "日本語 x"], dtype=object)
    plain = TfidfVectorizer(**analysis, sublinear_tf=True, strip_accents="unicode")
    plain.fit(texts[texts != ""])
    made = term_vectors(texts, unit)
    cosines = [(A @ A.T).toarray() for A in (made, plain.transform(texts))]
    np.testing.assert_allclose(*cosines, atol=1e-5)
    # Distinct texts that count several times are worth as much as the texts themselves.
    more = np.concatenate([texts, texts[:20]])
    once, which = distinct(more)
    again = term_vectors(once, unit, np.bincount(which))[which]
    cosines = [(A @ A.T).toarray() for A in (again, term_vectors(more, unit))]
    np.testing.assert_allclose(*cosines, atol=1e-5)


# Candidates


def plain_neighbors(V, k, n_first):
    S = (V @ V.T).toarray()
    n = len(S)
    side = np.arange(n) >= n_first
    found = set()
    for i in range(n):
        allowed = [
            j for j in range(n) if j != i and (n_first == n or side[i] != side[j]) and S[i, j] > 0
        ]
        for j in sorted(allowed, key=lambda j: (-S[i, j], j))[:k]:
            found.add((min(i, j), max(i, j)))
    return found


@pytest.mark.parametrize("n_first", [40, 25])
def test_neighbors_are_those_of_all_cosines(n_first):
    table, _ = people(30, 10)
    V = term_vectors(table["name"].to_numpy(object), "letters").astype(np.float64)
    found = neighbor_pairs(V, np.arange(40), 4, n_first, at_once=50)
    assert set(map(tuple, found.tolist())) == plain_neighbors(V, 4, n_first)
    assert len(np.unique(found, axis=0)) == len(found)


# The model


@pytest.fixture
def task():
    rng = np.random.default_rng(0)
    U = rng.normal(size=(200, 4))
    X = rng.normal(size=(40, 4))
    same = X @ [2.0, 1.0, 0.0, 0.0] + 0.5 * rng.normal(size=40) > 0.0
    return X, same, U


def test_the_learned_weights_are_a_minimum(task):
    """No other point of a fine cloud around them is better, within the bounds."""
    X, same, U = task
    prior = PairModel.prior(U, np.ones(4))
    model = prior.learned(X, same)

    def value(x):
        signs = np.where(same, 1.0, -1.0)
        return objective(x, prior.standardized(X), signs, prior.weights, prior.rho)[0]

    x = np.array([*model.weights, model.offset])
    rng = np.random.default_rng(0)
    for size in (1e-2, 0.1, 1.0):
        near = x + size * rng.normal(size=(200, 5))
        near[:, :4] = np.maximum(near[:, :4], 0.0)
        assert min(map(value, near)) >= value(x) - 1e-6


def test_a_wrong_answer_counts_as_little_as_one_in_twenty(task):
    """Far down, a wrong "same" hardly moves the weights; without lapses it would turn them."""
    X, same, U = task
    prior = PairModel.prior(U, np.ones(4))
    far = np.array([[-6.0, -3.0, 0.0, 0.0]])
    more, said = np.concatenate([X, far]), np.append(same, True)
    weights = [prior.learned(*given).weights for given in ((X, same), (more, said))]
    assert np.linalg.norm(weights[1] - weights[0]) < 0.15 * np.linalg.norm(weights[0])


def stacked(rule, n=150, seed=0):
    """Return what answers that follow a rule teach, and how it ranks other pairs."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n + 1000, 4))
    same, fold = rule(X), np.arange(n) % 5
    prior = PairModel.prior(X, np.ones(4))
    model, known = Stack.learned(prior, X[:n], same[:n], fold)
    aucs = [
        roc_auc_score(same[n:], m.margins(X[n:])) for m in (model, prior.learned(X[:n], same[:n]))
    ]
    return model, known, X, aucs


def test_the_forest_counts_where_a_sum_cannot_say_it():
    """The same in one column or in another, but not a little in both."""
    model, known, X, (both, line) = stacked(lambda X: X[:, :2].max(axis=1) > 0.8)
    assert both > line + 0.02
    assert model.sum.weights[1] > 0.4
    assert known.shape == (2, 150)
    shares = model.shares(X)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[:2].min() > 2.0 * shares[2:].max()


def test_margins_that_are_held_out_know_nothing_of_their_fold(task):
    """With other answers in a fold, its own margins but for the weights of the sum stay."""
    X, same, U = task
    fold = np.arange(len(X)) % 5
    prior = PairModel.prior(U, np.ones(4))
    turned = np.where(fold == 0, ~same, same)
    orders = [
        np.argsort(_held_out(prior, X, said, fold)[fold == 0], axis=0) for said in (same, turned)
    ]
    np.testing.assert_array_equal(*orders)


# Questions


def test_a_part_of_the_questions_is_a_sample_below_the_line():
    """Pairs are asked in proportion to sqrt(p (1 - p)), for the best estimate of a total."""
    p = np.sort(10.0 ** np.random.default_rng(0).uniform(-6.0, -1.8, 20_000))
    p[-200:] = np.linspace(0.1, 0.9, 200)
    asked = np.concatenate(
        [p[open_questions(p, 60, np.random.default_rng(seed))[:60]] for seed in range(20)]
    )
    low = asked[asked < 0.02]
    assert 10 * 20 <= len(low) <= 20 * 20  # a third of them, most of them below the line
    size = np.sqrt(p[p < 0.02])
    wanted = np.interp([0.25, 0.5, 0.75], np.cumsum(size) / size.sum(), np.log10(p[p < 0.02]))
    np.testing.assert_allclose(np.quantile(np.log10(low), [0.25, 0.5, 0.75]), wanted, atol=0.25)
