"""The objective, its gradient and the certificate, from the list of all pairs in float64."""

import numpy as np
from scipy.special import expit

from tests.helpers.oracle import entropy, log_likelihood


def signs_of(codes, pairs=(), similar=()):
    """+1, -1 or 0 for each pair, in the order of ``np.triu_indices``."""
    known = np.logical_and.outer(codes >= 0, codes >= 0)
    table = np.where(known, np.where(codes[:, np.newaxis] == codes, 1, -1), 0)
    for (i, j), alike in zip(pairs, similar, strict=True):
        table[i, j] = table[j, i] = 1 if alike else -1
    return table[np.triu_indices(len(codes), 1)]


class Dense:
    """Objective (7) at the metric ``P'P``; or (6), if ``scale = -kappa`` is not 1.

    Attributes
    ----------
    value : float
        The objective.
    size : float
        Sum of the sizes of its terms, and of what rounding `P` can change: what errors are
        relative to.
    """

    def __init__(self, points, P, signs, *, eta, mu, lam, scale=1.0, gamma=0.0):
        X = np.asarray(points, dtype=np.float64)
        X = X - X.mean(axis=0)
        P = np.asarray(P, dtype=np.float64)
        i, j = np.triu_indices(len(X), 1)
        D = X[i] - X[j]
        d2 = np.sum((D @ P.T) ** 2, axis=1)
        t = scale * (d2 - eta)
        terms = np.where(
            signs > 0,
            log_likelihood(t, True, 0.0),
            np.where(signs < 0, log_likelihood(t, False, 0.0), -mu * entropy(t)),
        )
        p = expit(-t)
        w = np.where(signs > 0, p - 1, np.where(signs < 0, p, mu * p * (1 - p) * t))
        self.lam, self.P, self.gamma = lam, P, gamma
        trace = float(np.sum(P**2))
        self.value = terms.sum() - lam * trace - 0.5 * gamma * scale**2
        self.size = np.abs(terms).sum() + np.abs(w) @ (scale * (d2 + eta)) + lam * trace
        self.size += gamma * scale**2
        # Tiles compute |z_i|^2 + |z_j|^2 - 2 z_i z_j, and round at the size of these.
        squares = np.sum((X @ P.T) ** 2, axis=1)
        self.size += 1e-6 * scale * (np.abs(w) @ (squares[i] + squares[j]))
        # A huge mu amplifies the rounding of each entropy, also where they cancel.
        self.size += 1e-8 * mu * len(t)
        self.gradient = scale * (D.T * w) @ D - lam * np.eye(X.shape[1])
        self.pull = float(np.abs(w) @ np.sum(D**2, axis=1))

    @property
    def gap(self):
        """``max(eigmax(G), |<G, A>| / tr A) / lam``."""
        if not self.lam > 0:
            return np.inf
        trace = np.sum(self.P**2)
        along = abs(np.sum((self.P @ self.gradient) * self.P)) / trace if trace else 0.0
        return max(np.linalg.eigvalsh(self.gradient)[-1], along) / self.lam
