"""The line between pairs that are the same and others, and what is said of it."""

import numpy as np
import pytest
from scipy.special import expit

from seraph.records._line import Line, curves_given


def answered(n=200, seed=0):
    """Margins spread evenly, and answers that follow a curve."""
    rng = np.random.default_rng(seed)
    margins = rng.uniform(-12.0, 3.0, n)
    return margins[np.newaxis], rng.random(n) < expit(3.0 + margins)


def predicted(line, margins):
    """What is said of accepting all candidates above the line."""
    accepted = margins >= line.margin
    return line.predicted(margins[accepted], margins[~accepted])


CANDIDATES = np.random.default_rng(1).uniform(-12.0, 3.0, 500)


def test_the_line_is_the_lowest_that_reaches_the_precision():
    line = Line.draw(*answered(), CANDIDATES, 0.9)
    p = line.probability(np.sort(CANDIDATES)[::-1])
    reached = [t for t in range(1, len(p) + 1) if p[:t].mean() >= 0.9]
    assert (line.margin <= CANDIDATES).sum() == max(reached)
    assert line.note(0.9) == ""
    expected = p[: max(reached)].mean(), p[: max(reached)].sum() / p.sum()
    for (value, low, high), share in zip(predicted(line, CANDIDATES), expected, strict=True):
        assert 0.0 <= low < value < high <= 1.0
        assert value == pytest.approx(share, abs=0.02)


def test_by_default_pairs_are_accepted_that_are_likelier_the_same():
    line = Line.draw(*answered(), CANDIDATES)
    accepted = line.probability(CANDIDATES) >= 0.5
    np.testing.assert_array_equal(line.margin <= CANDIDATES, accepted)


def test_each_target_draws_its_own_line():
    margins = [Line.draw(*answered(), CANDIDATES, p).margin for p in (0.4, 0.5, 0.8, 0.95)]
    assert (np.diff(margins) > 0.0).all()


def test_a_margin_that_says_nothing_still_draws_a_line_and_says_so():
    margins, same = answered()
    line = Line.draw(-margins, same, CANDIDATES, 0.95)
    assert "cannot be reached" in line.note(0.95)
    assert line.reachable < 0.5
    assert (line.margin <= CANDIDATES).any()


def test_the_expected_precision_holds_however_the_answers_were_chosen():
    """Answers are spread evenly; the candidates are mostly different, as neighbors are."""
    rng = np.random.default_rng(2)
    margins = 3.0 - 15.0 * np.sqrt(rng.random(20_000))
    truth = rng.random(len(margins)) < expit(3.0 + margins)
    line = Line.draw(*answered(400), margins, 0.9)
    accepted = margins >= line.margin
    precision, recall = predicted(line, margins)
    assert precision[1] <= truth[accepted].mean() <= precision[2]
    assert recall[1] <= truth[accepted].sum() / truth.sum() <= recall[2]


def test_pairs_that_are_sure_count_as_found_and_right():
    margins = np.linspace(3.0, -6.0, 200)
    line = Line.draw(*answered(), margins)
    few, many = (line.predicted(margins[:50], margins[50:], sure) for sure in (0, 10_000))
    for before, after in zip(few, many, strict=True):
        assert 1.0 - after[1] < 0.1 * (1.0 - before[1])
    assert line.predicted(margins[:0], margins) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


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
        line = Line.draw(-asked[np.newaxis], said, -candidates, 0.8)
        accepted = -candidates >= line.margin
        reached = true[accepted].mean(), true[accepted].sum() / true.sum()
        ranges = predicted(line, -candidates)
        inside += [low <= r <= high for r, (_, low, high) in zip(reached, ranges, strict=True)]
    # Of 40 ranges of 95 %, fewer than 35 hold the truth once in 70 times.
    assert (inside >= 35).all()


def test_the_curves_are_the_posterior():
    """A plain oracle: curves from the prior, weighted by what they say of the answers."""
    (margins,), same = answered(40)
    x = (margins - margins.mean()) / margins.std()
    rng = np.random.default_rng(4)
    slope = 2.5 * np.abs(rng.standard_cauchy(100_000))
    middle = rng.uniform(x.min() - 0.5, x.max() + 0.5, len(slope))
    sign = np.where(same, 1.0, -1.0)
    weight = np.prod(expit(sign * slope[:, None] * (x - middle[:, None])), axis=1)
    a, b = curves_given(margins, same)
    for margin in np.quantile(margins, [0.3, 0.5, 0.7, 0.9]):
        p = expit(slope * ((margin - margins.mean()) / margins.std() - middle))
        q = expit(a + b * margin)
        mean = np.average(p, weights=weight)
        spread = np.sqrt(np.average((p - mean) ** 2, weights=weight))
        assert q.mean() == pytest.approx(mean, abs=0.01)
        assert q.std() == pytest.approx(spread, abs=0.01)


def test_answers_that_a_margin_separates_leave_doubt():
    margins, same = np.arange(8.0, 0.0, -1.0), np.arange(8) < 4
    line = Line.draw(margins[np.newaxis], same, np.linspace(0.5, 8.5, 400), 0.7)
    p = line.probability(margins)
    assert (p[:4] > 0.5).all()
    assert (p[4:] < 0.5).all()
    assert 0.8 < p[0] < 1.0
    precision, recall = predicted(line, np.linspace(0.5, 8.5, 400))
    assert precision[2] - precision[1] > 0.2
    assert recall[2] == 1.0
    assert recall[1] < 0.9


def test_curves_of_several_ways_to_know_the_answers_count_alike():
    margins, same = answered(60)
    both = Line.draw(np.concatenate([margins, 2.0 * margins]), same, CANDIDATES)
    one, two = (Line.draw(scale * margins, same, CANDIDATES) for scale in (1.0, 2.0))
    mean = 0.5 * (one.probability(CANDIDATES) + two.probability(CANDIDATES))
    np.testing.assert_allclose(both.probability(CANDIDATES), mean)


@pytest.mark.slow
def test_many_margins_are_summed_as_one_by_one():
    margins, same = answered()
    many = np.random.default_rng(5).normal(-4.0, 3.0, 20_000)
    line = Line.draw(margins, same, many)
    logits = line.intercepts + np.multiply.outer(many, line.slopes)
    np.testing.assert_allclose(line.probability(many), expit(logits).mean(axis=1), atol=1e-5)
    for sign in (1.0, -1.0):
        np.testing.assert_allclose(
            line._counts(many, sign), expit(sign * logits).sum(axis=0), rtol=1e-4
        )
    equal = Line.draw(margins, same, np.full(5000, 1.0))
    assert equal.probability(np.ones(1)) == pytest.approx(line.probability(np.ones(1)), abs=1e-5)
    assert equal.predicted(np.full(5000, 1.0), np.empty(0))[1][1] == 1.0
