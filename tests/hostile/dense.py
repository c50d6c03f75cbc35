"""The objective, its gradient and the certificate, from the list of all pairs in float64."""

import numpy as np
from scipy.special import expit

from tests.helpers.oracle import entropy, log_likelihood


def signs_of(codes, pairs=(), similar=()):
    """+1, -1 or 0 for each pair, in the order of ``np.triu_indices``."""
    weights, shares = told_of(codes, pairs, similar)
    return np.where(weights > 0.0, np.where(shares > 0.5, 1, -1), 0)


def told_of(codes, pairs=(), likeness=(), weights=None):
    """Weight and likeness of each pair, in the order of ``np.triu_indices``; weight 0: not told.

    What several marks of a pair say is added up. A pair of two classes is settled by them.
    """
    n = len(codes)
    weight, sum_of_shares = np.zeros((n, n)), np.zeros((n, n))
    marks = zip(pairs, likeness, np.ones(len(pairs)) if weights is None else weights, strict=True)
    for (i, j), share, heavy in marks:
        if not np.isnan(share):
            first, second = min(i, j), max(i, j)
            weight[first, second] += heavy
            sum_of_shares[first, second] += heavy * share
    known = np.logical_and.outer(codes >= 0, codes >= 0)
    weight = np.where(known, 1.0, weight)
    shares = np.divide(sum_of_shares, weight, out=np.zeros((n, n)), where=weight > 0.0)
    shares = np.where(known, codes[:, np.newaxis] == codes, shares)
    above = np.triu_indices(n, 1)
    return weight[above], shares[above]


class Dense:
    """Objective (7) at the metric ``P'P``; or (6), if ``scale = -kappa`` is not 1.

    Attributes
    ----------
    value : float
        The objective.
    size : float
        Sum of the sizes of its terms, and of what rounding `P` can change: what errors are
        relative to.
    blur : float
        How far rounding the distances can move the gradient.
    """

    def __init__(self, points, P, told, *, eta, mu, lam, scale=1.0, gamma=0.0, triplets=()):
        X = np.asarray(points, dtype=np.float64)
        X = X - X.mean(axis=0)
        P = np.asarray(P, dtype=np.float64)
        i, j = np.triu_indices(len(X), 1)
        D = X[i] - X[j]
        d2 = np.sum((D @ P.T) ** 2, axis=1)
        t = scale * (d2 - eta)
        if not isinstance(told, tuple):  # signs
            told = np.abs(told) * 1.0, told > 0
        heavy, share = told
        labeled = heavy > 0.0
        alike, apart = log_likelihood(t, True, 0.0), log_likelihood(t, False, 0.0)
        terms = np.where(labeled, heavy * (share * alike + (1 - share) * apart), -mu * entropy(t))
        p = expit(-t)
        spread = p * (1 - p)
        w = np.where(labeled, heavy * (p - share), mu * spread * t)
        self.lam, self.P, self.gamma = lam, P, gamma
        trace = float(np.sum(P**2))
        self.value = terms.sum() - lam * trace - 0.5 * gamma * scale**2
        self.size = np.abs(terms).sum() + np.abs(w) @ (scale * (d2 + eta)) + lam * trace
        self.size += gamma * scale**2
        # Tiles compute |z_i|^2 + |z_j|^2 - 2 z_i z_j, and round at the size of these.
        lengths = np.sum((X @ P.T) ** 2, axis=1)
        lengths = lengths[i] + lengths[j]
        self.size += 1e-6 * scale * (np.abs(w) @ lengths)
        # A huge mu amplifies the rounding of each entropy, also where they cancel.
        self.size += 1e-8 * mu * len(t)
        # And a huge eta that of each distance from it: d2 - eta has an error of eta / 2^53.
        self.size += 1e-3 * scale * eta * len(t)
        self.gradient = scale * (D.T * w) @ D - lam * np.eye(X.shape[1])
        squares = np.sum(D**2, axis=1)
        self.pull = float(np.abs(w) @ squares)
        # How much w changes where t is rounded: a small difference, where eta is huge. And how
        # much differences of points change where they are turned into other coordinates. And how
        # much is lost where tiles add up w x x', to subtract them again for points that are near.
        bend = np.where(labeled, heavy * spread, mu * spread * (1.0 + np.abs(t)))
        eps = np.finfo(float).eps
        self.blur = eps * scale**2 * float((bend * squares) @ (d2 + lengths + eta))
        drift = eps * X.shape[1] * np.abs(X).max(initial=0.0)
        norms = np.sum(X**2, axis=1)
        self.blur += eps * scale * float(np.abs(w) @ (norms[i] + norms[j]))
        self.blur += 2.0 * drift * scale * float(np.abs(w) @ np.sqrt(squares))
        if len(triplets):
            self._add(X, np.asarray(triplets))

    def _add(self, X, triplets):
        """Add what triplets say: ``-ln(1 + exp(d2(a, b) - d2(a, c)))`` each."""
        a, b, c = X[triplets.T]
        near, far = (np.sum(((a - other) @ self.P.T) ** 2, axis=1) for other in (b, c))
        terms = -np.logaddexp(0.0, near - far)
        q = expit(near - far)
        self.value += terms.sum()
        self.size += np.abs(terms).sum() + q @ (near + far)
        self.gradient -= ((a - b).T * q) @ (a - b) - ((a - c).T * q) @ (a - c)
        self.pull += float(q @ np.sum((a - b) ** 2 + (a - c) ** 2, axis=1))

    @property
    def gap(self):
        """``max(eigmax(G), |<G, A>| / tr A) / lam``."""
        if not self.lam > 0:
            return np.inf
        trace = np.sum(self.P**2)
        along = abs(np.sum((self.P @ self.gradient) * self.P)) / trace if trace else 0.0
        return max(np.linalg.eigvalsh(self.gradient)[-1], along) / self.lam
