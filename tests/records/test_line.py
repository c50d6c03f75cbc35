"""The line between pairs that are the same and others, and what is said of it."""

import numpy as np
import pytest
from scipy.special import entr, expit

from seraph.records._line import GAMMA, Curves, Line, outcome
from tests.helpers.quick import few


def answered(n=200, seed=0):
    """Margins spread evenly, and answers that follow a curve."""
    rng = np.random.default_rng(seed)
    margins = rng.uniform(-12.0, 3.0, n)
    return margins[np.newaxis], rng.random(n) < expit(3.0 + margins)


NONE = np.empty(0)  # no unlabeled pairs


def drawn(answered, same, margins, precision=None):
    curves = Curves.given(answered, same, margins)
    return curves, Line.draw(curves, margins, precision)


def predicted(curves, line, margins):
    """What is said of accepting all candidates above the line; answers do not count."""
    accepted = margins >= line.margin
    none = np.zeros(len(curves.same), dtype=bool)
    reached = outcome(curves, margins[accepted], margins[~accepted], none)
    return reached.new_precision, reached.new_recall


CANDIDATES = np.random.default_rng(1).uniform(-12.0, 3.0, 500)


def test_the_line_is_the_lowest_that_reaches_the_precision():
    curves, line = drawn(*answered(), CANDIDATES, 0.9)
    p = line.probability(np.sort(CANDIDATES)[::-1])
    reached = [t for t in range(1, len(p) + 1) if p[:t].mean() >= 0.9]
    assert (line.margin <= CANDIDATES).sum() == max(reached)
    assert line.reachable >= 0.9
    expected = p[: max(reached)].mean(), p[: max(reached)].sum() / p.sum()
    said = predicted(curves, line, CANDIDATES)
    for (value, low, high), share in zip(said, expected, strict=True):
        assert 0.0 <= low < value < high <= 1.0
        assert value == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("slope", [0.3, 5.0])
def test_by_default_the_line_has_the_best_expected_f1(slope):
    """An oracle tries all lines. The best probability is half the best F1."""
    margins = np.random.default_rng(0).uniform(-12.0, 3.0, 200)
    same = np.random.default_rng(1).random(200) < expit(slope * (margins + 1.0))
    _, line = drawn(margins[np.newaxis], same, CANDIDATES)
    p = np.sort(line.probability(CANDIDATES))[::-1]
    f1 = [2.0 * p[:t].sum() / (t + p.sum()) for t in range(1, len(p) + 1)]
    assert (line.margin <= CANDIDATES).sum() == 1 + np.argmax(f1)
    assert line.threshold == pytest.approx(max(f1) / 2.0, abs=0.02)


def test_answered_pairs_count_as_right_as_far_as_answers_are():
    margins = np.linspace(3.0, -6.0, 200)
    curves, _ = drawn(*answered(), margins)
    reached = outcome(curves, margins[:50], margins[50:], curves.same)
    truth = curves.truth().mean(axis=1)[curves.same]
    right = 50 * reached.new_precision[0] + truth.sum()
    assert reached.precision[0] == pytest.approx(right / (50 + len(truth)), abs=0.01)
    assert reached.n_same[0] > right
    nothing = np.zeros(200, dtype=bool)
    assert outcome(curves, margins[:0], margins, nothing).new_recall == (0.0, 0.0, 0.0)


def test_the_truth_of_an_answer_follows_bayes_theorem():
    """The oracle adds up all that can have happened: the pair, and whether the answer slipped."""
    margins, same = answered(30)
    curves = Curves.given(margins, same, NONE)
    for place in (0, 7, 22):
        for number in (0, 100, 399):
            p = expit(curves.intercepts[0, number] + curves.slopes[0, number] * margins[0, place])
            slip = curves.lapses[0, number]
            said = {True: 1.0 - slip if same[place] else slip}
            said[False] = 1.0 - said[True]
            truth = p * said[True] / (p * said[True] + (1.0 - p) * said[False])
            assert curves.truth()[place, number] == pytest.approx(truth)


@pytest.mark.slow
def test_the_ranges_hold_the_truth_as_often_as_they_say():
    """Curves of all slopes; answers spread evenly, candidates mostly different."""
    rng = np.random.default_rng(3)
    inside, n = np.zeros(2), 40
    for _ in range(n):
        slope, middle = 2.5 * np.abs(rng.standard_cauchy()) + 1.0, rng.uniform(2.0, 5.0)
        asked = rng.uniform(0.0, 9.0, 60)
        candidates = 9.0 * np.sqrt(rng.random(500))
        said, true = (
            rng.random(len(d)) < expit(slope * (middle - d)) for d in (asked, candidates)
        )
        curves, line = drawn(-asked[np.newaxis], said, -candidates, 0.8)
        accepted = -candidates >= line.margin
        reached = true[accepted].mean(), true[accepted].sum() / true.sum()
        ranges = predicted(curves, line, -candidates)
        inside += [low <= r <= high for r, (_, low, high) in zip(reached, ranges, strict=True)]
    # Of 40 ranges of 95 %, fewer than 35 hold the truth once in 70 times.
    assert (inside >= 35).all()


@pytest.mark.parametrize(
    "unlabeled",
    few([NONE, CANDIDATES[::5], np.linspace(-60.0, 1.0, 3000)], lambda some: len(some) == 100),
)
def test_the_curves_are_the_posterior(unlabeled):
    """A plain oracle: curves from the prior, weighted by what they say of all pairs."""
    (margins,), same = answered(40)
    rng = np.random.default_rng(4)
    slope = np.exp(0.5 * rng.normal(size=40_000))
    beside = 0.5 * margins.std()
    middle = rng.uniform(margins.min() - beside, margins.max() + beside, len(slope))
    lapse = rng.beta(1.0, 19.0, len(slope))[:, None]
    sign = np.where(same, 1.0, -1.0)
    right = expit(sign * slope[:, None] * (margins - middle[:, None]))
    weight = np.prod(lapse + (1.0 - 2.0 * lapse) * right, axis=1)
    some = unlabeled[:: max(1, len(unlabeled) // 100)]
    p = expit(slope[:, None] * (some - middle[:, None]))
    doubt = (entr(p) + entr(1.0 - p)).sum(axis=1) / max(len(some), 1)
    weight *= np.exp(-GAMMA * len(same) * doubt)
    curves = Curves.given(margins[np.newaxis], same, unlabeled)
    assert curves.lapses.mean() == pytest.approx(np.average(lapse[:, 0], weights=weight), abs=3e-3)
    for margin in np.quantile(margins, [0.3, 0.5, 0.7, 0.9]):
        p, q = expit(slope * (margin - middle)), curves.probability(np.array(margin))
        mean = np.average(p, weights=weight)
        spread = np.sqrt(np.average((p - mean) ** 2, weights=weight))
        assert q.mean() == pytest.approx(mean, abs=0.01)
        assert q.std() == pytest.approx(spread, abs=0.01)


def test_wrong_answers_far_down_do_not_make_many_candidates_the_same():
    """Answers alone could not tell lapses from a flat curve; pairs without answers can."""
    margins = np.linspace(-12.0, 6.0, 100)
    same = (margins > 0.0) ^ (np.arange(100) % 10 == 3)
    many = np.concatenate([np.linspace(-12.0, -4.0, 6000), np.linspace(2.0, 6.0, 100)])
    missed = [
        Curves.given(margins[np.newaxis], same, pairs).probability(many[:6000]).sum(axis=0)
        for pairs in (NONE, many)
    ]
    alone, together = (np.percentile(some, 97.5) for some in missed)
    assert together < 0.5 * alone


def test_answers_that_a_margin_separates_leave_doubt():
    margins, same = np.arange(8.0, 0.0, -1.0), np.arange(8) < 4
    curves, line = drawn(margins[np.newaxis], same, np.linspace(0.5, 8.5, 400), 0.7)
    p = line.probability(margins)
    assert (p[:4] > 0.5).all()
    assert (p[4:] < 0.5).all()
    assert 0.8 < p[0] < 1.0
    precision, recall = predicted(curves, line, np.linspace(0.5, 8.5, 400))
    assert precision[2] - precision[1] > 0.2
    assert recall[2] == 1.0
    assert recall[1] < 0.9


def test_curves_of_several_ways_to_know_the_answers_count_alike():
    margins, same = answered(60)
    _, both = drawn(np.concatenate([margins, 2.0 * margins]), same, CANDIDATES)
    one, two = (drawn(scale * margins, same, CANDIDATES)[1] for scale in (1.0, 2.0))
    mean = 0.5 * (one.probability(CANDIDATES) + two.probability(CANDIDATES))
    np.testing.assert_allclose(both.probability(CANDIDATES), mean)


def test_weak_evidence_does_not_leave_nearly_everything_out():
    """Seven pairs in a hundred are the same, and few are likelier the same than different."""
    rng = np.random.default_rng(0)
    margins = rng.normal(size=20_000)
    true = rng.random(20_000) < expit(1.2 * margins - 3.0)
    asked = np.argsort(-margins + rng.normal(size=20_000))[:100]
    curves, line = drawn(margins[np.newaxis, asked], true[asked], margins)
    (_, low, high), recall = predicted(curves, line, margins)
    assert true[margins >= line.margin].sum() > 0.1 * true.sum()
    assert low <= true[margins >= line.margin].mean() <= high
    assert recall[2] - recall[1] > 0.3


def test_the_expected_precision_holds_however_the_answers_were_chosen():
    """Answers are spread evenly; the candidates are mostly different, as neighbors are."""
    rng = np.random.default_rng(2)
    margins = 3.0 - 15.0 * np.sqrt(rng.random(20_000))
    truth = rng.random(len(margins)) < expit(3.0 + margins)
    curves, line = drawn(*answered(400), margins, 0.9)
    accepted = margins >= line.margin
    precision, recall = predicted(curves, line, margins)
    assert precision[1] <= truth[accepted].mean() <= precision[2]
    assert recall[1] <= truth[accepted].sum() / truth.sum() <= recall[2]
