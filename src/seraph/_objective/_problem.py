"""The objective of points, labels and parameters, in the solvers' coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from .._marks import PairLabels
from .._pairs import BlockPairs, ListedPairs, library, sample_class_pairs, wide
from .._points import Frame, PointSet, to_memory
from .._utils._typing import Array
from ._manifold import Roughness
from ._objective import ClassPairs, MarkedPairs, Objective, Term, Trace, UnlabeledPairs
from ._triplets import Triplets

# All pairs of fewer rows than WHOLE are summed. From there on, each row has partners after it and
# before it: enough for PAIRS pairs, but at least PARTNERS. Above ROWS rows, a sample of the rows
# is used. (benchmarks/speed.py measures the choice.)
WHOLE, PAIRS, PARTNERS, ROWS = 1000, 128_000, 16, 20_000
# Of more classified rows than this, pairs are sampled: as many similar and dissimilar ones for
# each row.
_MOST_CLASSIFIED, _CLASS_PARTNERS = 3000, 16
# Noise of the labeled gradient that the trace has to outweigh, in units of its own scale. Chosen
# on small tasks: see docs/results/paper.md.
_NOISE = 0.08
# The unit of the optimality gap is the weight of the trace, but at least this share of the noise:
# with a smaller unit, `tol` would be below the rounding errors of the gap.
_LEAST_SCALE = 0.01


@dataclass(frozen=True)
class Problem:
    """The objective for points and labels, in the solvers' coordinates.

    `mu` and `lam` are the weights of the unlabeled pairs, and of the trace in the solvers' units;
    `like` are some points: solvers compute with arrays of their library, on their device.
    """

    frame: Frame
    objective: Objective
    mu: float
    lam: float
    like: Any

    @classmethod
    def make(
        cls,
        points: PointSet,
        labels: PairLabels,
        learner: Any,
        *,
        frame: Frame,
        graph: Any = None,
    ) -> Problem:
        """Choose the pairs to sum, and weigh them, by the parameters of a `SERAPH`."""
        mu, lam, manifold = learner.mu, learner.lam, float(learner.manifold)
        rng = check_random_state(learner.random_state)
        weight = 0.0
        if labels.n_unlabeled:  # "auto" gives them the total weight of the labeled pairs
            weight = float(labels.labeled_weight / labels.n_unlabeled if mu == "auto" else mu)
        n_jobs = effective_n_jobs(learner.n_jobs)
        source = _Source(points, labels, frame, float(learner.eta), n_jobs)
        terms: list[Term] = []
        if weight > 0.0:
            terms.append(source.unlabeled_pairs(weight, learner.unlabeled_pairs, rng))
        terms += source.labeled_pairs(weight, rng)
        if len(labels.triplets):
            rows, numbers = np.unique(labels.triplets, return_inverse=True)
            X = source.take(rows)
            terms.append(Triplets.make(X, numbers.reshape(labels.triplets.shape)))
        like = source.take(np.arange(1))
        if manifold > 0.0:
            everything = to_memory(frame.apply(points.take(slice(None))))
            R = Roughness.matrix(everything, graph, manifold)
            terms.append(Roughness(to_solver(R, like)))
        noise = estimate_noise(labels) * 2.0 * float(frame.principal_axes[0][-1])
        of_trace = noise if lam == "auto" else float(lam) / frame.unit**2
        scale = max(of_trace, _LEAST_SCALE * noise) or 1.0
        eps = float(library(like).finfo(like.dtype).eps)
        every = (*terms, Trace(of_trace))
        objective = Objective(every, len(frame.covariance), scale, 4.0 * eps)
        return cls(frame, objective, weight, of_trace, like)


def to_solver(a: Array, like: Any) -> Any:
    """Return an array as solvers take it: in double precision, where the points are."""
    xp = library(like)
    if xp is np:
        return np.asarray(a, dtype=np.float64)
    return xp.as_tensor(np.ascontiguousarray(a), dtype=wide(like), device=like.device)


@dataclass(frozen=True)
class _Source:
    """What the terms of pairs are made from."""

    points: PointSet
    labels: PairLabels
    frame: Frame
    eta: float
    n_jobs: int

    def take(self, rows: Array) -> Any:
        """Return rows in the solvers' coordinates."""
        return self.frame.apply(self.points.take(rows))

    def unlabeled_pairs(
        self, mu: float, choice: int | str, rng: np.random.RandomState
    ) -> UnlabeledPairs:
        """Return the term of all pairs but those of two classified rows, or of a sample.

        The sample is weighted so that its sum is right on average: an incomplete U-statistic.
        """
        n, codes = self.points.shape[0], self.labels.codes
        partners = max(PARTNERS, PAIRS // n) if choice == "auto" and n >= WHOLE else None
        rows = None if choice == "all" else self.points.sampled
        if not isinstance(choice, str):
            partners = int(choice)
        if partners is None:  # classified rows together: few blocks have pairs to leave out
            rows = np.argsort(codes < 0, kind="stable")
        else:
            rows = rng.permutation(n if rows is None else rows)
        X = self.take(rows)
        pairs = BlockPairs.make(codes[rows], partners, labeled=False, like=X, n_jobs=self.n_jobs)
        n_all = n * (n - 1) / 2.0 - sum(self.labels.implied)
        return UnlabeledPairs(X, self.eta, mu * n_all / max(pairs.n_pairs, 1.0), pairs, mu)

    def labeled_pairs(self, mu: float, rng: np.random.RandomState) -> list[Term]:
        """Return the terms of the pairs that classes imply, and of marked pairs."""
        labels, terms = self.labels, list[Term]()
        classified = labels.rows_by_class
        if len(classified) > _MOST_CLASSIFIED:
            sample = sample_class_pairs(labels.codes[classified], _CLASS_PARTNERS, rng)
            terms.append(self._listed(classified[sample[0]], *sample[1:], mu=0.0))
        elif sum(labels.implied):
            X = self.take(classified)
            codes = labels.codes[classified]
            pairs = BlockPairs.make(codes, labeled=True, like=X, n_jobs=self.n_jobs)
            terms.append(ClassPairs(X, self.eta, 1.0, pairs))
        if len(labels.pairs):
            terms.append(self._listed(labels.pairs, labels.likeness, labels.weights, mu=mu))
        return terms

    def _listed(self, pairs: Array, q: Array, weights: Array, *, mu: float) -> MarkedPairs:
        rows, numbers = np.unique(pairs, return_inverse=True)
        X = self.take(rows)
        listed = ListedPairs.make(numbers.reshape(pairs.shape), q, weights, len(rows), like=X)
        return MarkedPairs(X, self.eta, 1.0, listed, mu)


def estimate_noise(labels: PairLabels) -> float:
    """Estimate the noise in a sum over the labeled pairs, for points of unit variance.

    Similar and dissimilar pairs count by their geometric mean: where one kind is rare, there
    is less noise than the number of all pairs suggests. A pair counts by its weight, so that a
    common factor on all weights does not change the metric.
    """
    one = labels.labeled_weight / (labels.n_labeled + len(labels.triplets))
    balanced = max(labels.similar_weight, one) * max(labels.dissimilar_weight, one)
    return _NOISE * float(2.0 * np.sqrt(balanced) / np.sqrt(labels.effective_rows))
