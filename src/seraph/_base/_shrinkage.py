r"""Shrinkage of a learned metric toward the Euclidean one, or toward another target.

A learned metric of low rank is blind in most directions, which ruins nearest neighbors where
there are more classes than dimensions. The remedy is a mixture of the learned metric
:math:`A` and a target :math:`T`,

.. math:: A_\rho = (1 - \rho)\, A + \rho\, \frac{v(A)}{v(T)}\, T, \qquad
          v(B) = \mathrm{tr}\,(B\, \mathrm{Cov}),

with Cov the covariance of the points. A learner whose model has a threshold for squared distances
multiplies this by a factor that keeps the threshold's meaning: as many pairs of points are below
it as under A.

The rule "auto" gives the target the odds

.. math:: \frac{\rho}{1 - \rho} = 0.18 \sqrt{d}, \qquad
          d = \frac{v(T)^2}{\mathrm{tr}\,(T\, \mathrm{Cov}\, T\, \mathrm{Cov})},

where d, the participation ratio, is the number of directions that the points effectively have
under T. Squared distances over d directions vary around their mean by a share of
:math:`\sqrt{2 / d}`, so the target needs that much more weight to have the same say in what is
near and what is far. A fit that has found the target may multiply these odds.

A factor of the mixture with the identity has as many rows as there are features. With many
features the mixture is kept as two parts instead, :math:`A_\rho = P^\top P + s^2 I`: a factor of
low rank and the number s. No square matrix of the features appears.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from .._sweep import Coordinates, exact_size, magnitude
from .._utils._eigen import eigh, eigvalsh, svd
from .._utils._typing import Array
from .._utils._validation import check_number

# Odds of the target for points of one effective direction, if the shrinkage is "auto". Chosen on
# the choosing sets of benchmarks/evidence.
_ODDS = 0.18
_EPS = float(np.finfo(np.float64).eps)
# Lengths that differ by less than this share of the longest are equal except for rounding.
_EQUAL = 1e-9
# Rows whose distances say how many pairs are below a threshold.
_ROWS_FOR_THRESHOLD = 500
# With more features than this the Euclidean part is kept apart: a full factor would be a square
# matrix of that size, 32 MB in double precision at this one.
MOST_FEATURES = 2048


def check_target(target: ArrayLike | None, n_features: int) -> tuple[Array | None, float]:
    """Check a matrix to shrink toward; None is the Euclidean distance.

    Returns it over a power of two near its largest entry, so that products neither overflow nor
    vanish, and that power.
    """
    if target is None:
        return None, 1.0
    shape = (n_features, n_features)
    given = np.asarray(target)
    is_matrix = given.dtype.kind in "iuf" and given.shape == shape
    with np.errstate(over="ignore"):  # a longer float may be infinite in double precision
        matrix = given.astype(np.float64) if is_matrix else np.full((1, 1), np.nan)
    if not np.isfinite(matrix).all():
        raise ValueError(
            f"shrinkage_target must be a matrix of finite numbers of shape {shape}, as X has "
            f"{n_features} features; got an array of {given.dtype} of shape {given.shape}"
            f"{' with NaN or infinity' if given.shape == shape else ''}."
        )
    if not matrix.any():
        raise ValueError("shrinkage_target is zero: there is nothing to shrink toward.")
    size = exact_size(magnitude(matrix))
    matrix = matrix / size
    if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=1e-9):
        raise ValueError(
            "shrinkage_target must be symmetric; got a matrix that differs from its transpose by "
            f"up to {np.abs(matrix - matrix.T).max() * size:.3g}."
        )
    least = float(eigvalsh(matrix)[0])
    if least < -1e-8 * n_features:
        raise ValueError(
            "shrinkage_target must be positive semi-definite; got a smallest eigenvalue of "
            f"{least * size:.3g}. The inverse of a covariance, or get_mahalanobis_matrix() of a "
            "fitted learner, is."
        )
    return (matrix + matrix.T) / 2.0, size


@dataclass(frozen=True)
class Blend:
    """How to mix a learned metric with its target.

    Parameters
    ----------
    shrinkage : float or None
        Share of the target, from 0 to 1; None goes by the rule above.
    target : ndarray of shape (m, m) or None
        Matrix of the target, over `target_size`; None is the Euclidean distance.
    n_components : int, float or None
        Number of leading directions to keep; a share means as many as were learned.
    threshold : float or None
        The threshold for squared distances, if the model has one. Where nothing was learned, it
        becomes the mean squared distance under the target.
    target_size : float
        Factor of `target`. It matters only where nothing was learned and there is no threshold.
    weight : float
        Factor of the odds that the rule gives the target.
    """

    shrinkage: float | None
    target: Array | None = None
    n_components: float | None = None
    threshold: float | None = None
    target_size: float = 1.0
    weight: float = 1.0

    @classmethod
    def of(
        cls,
        estimator: Any,
        n_features: int,
        *,
        has_rule: bool = False,
        automatic: float | None = None,
        threshold: float | None = None,
    ) -> Blend:
        """Check and read the parameters of a learner.

        Parameters
        ----------
        estimator : estimator
            May have the parameters ``shrinkage``, ``shrinkage_target`` and ``n_components``.
        n_features : int
            Number of features of the metric.
        has_rule : bool, default=False
            Whether the learner accepts "auto".
        automatic : float, optional
            The value of "auto"; if None, the rule above. Then the target may be "auto", too:
            `toward` takes the one that the fit finds.
        threshold : float, optional
            The threshold for squared distances, if the model has one.
        """
        value = getattr(estimator, "shrinkage", 0.0)
        check_number("shrinkage", value, low=0, high=1, instead="auto" if has_rule else ...)
        given = getattr(estimator, "shrinkage_target", None)
        if has_rule and automatic is None and isinstance(given, str) and given == "auto":
            given = None
        target, size = check_target(given, n_features)
        return cls(
            automatic if isinstance(value, str) else float(value),
            target,
            getattr(estimator, "n_components", None),
            threshold,
            size,
        )

    @property
    def is_off(self) -> bool:
        """Whether the learned metric is the final one."""
        return self.shrinkage == 0.0

    def toward(self, target: Array | None, weight: float) -> Blend:
        """Return the same with the target that a fit has found, if it has found one."""
        if target is None:
            return self
        return replace(self, target=target, target_size=1.0, weight=weight)

    def share(self, coordinates: Coordinates) -> float:
        """Return the share of the target for these points."""
        if self.shrinkage is not None:
            return self.shrinkage
        total, norm = self._target_variance(coordinates)
        odds = self.weight * _ODDS * (total / norm if total > 0.0 else 1.0)
        return odds / (1.0 + odds)

    def __call__(
        self, P: Array, coordinates: Coordinates, learned: Array | None = None
    ) -> tuple[Array, float]:
        """Return a factor of the mixture for the learned factor `P`, and its isotropic part.

        Its rows are orthogonal, longest first; where several are equally long, those along
        which the points vary most come first.

        Parameters
        ----------
        P : ndarray of shape (r, m)
            Factor of the learned metric on the user's features.
        coordinates : Coordinates
            The points.
        learned : ndarray of shape (q, m), optional
            Factor of the metric that the threshold belongs to, if it is another than `P`.

        Returns
        -------
        factor : ndarray of shape (k, m)
        short : float
            The mixture is ``factor.T @ factor + short**2 * I``.
        """
        aim, size = self._target_variance(coordinates)[0], 1.0
        P = P.astype(np.float64, copy=False)
        variance = _total_variance(P, coordinates)
        if variance > 0.0 and aim > 0.0:
            rho = self.share(coordinates)
            a, b = 1.0 - rho, rho * variance / aim
        elif aim == 0.0 and len(P):  # points do not vary along the target
            return P.astype(coordinates.array.dtype), 0.0
        elif self.threshold is None or aim == 0.0:
            a, b, size = 0.0, coordinates.unit**2, self.target_size  # the target as it is
        else:
            a, b = 0.0, self.threshold / (2.0 * aim)
        factor, short = self._mixture(P, a, b, coordinates)
        scale = math.sqrt(size)
        if self.threshold is not None and variance > 0.0:
            known = P if learned is None else learned
            scale *= _to_threshold(factor, short, known, self.threshold, coordinates)
        elif self.n_components is not None:
            total = (a * variance) + (b * aim)
            kept = _total_variance(factor, coordinates)
            scale *= math.sqrt(total / kept) if kept > 0.0 else 1.0
        return _in_range(factor * scale, coordinates.array.dtype), short * scale

    def _mixture(
        self, P: Array, a: float, b: float, coordinates: Coordinates
    ) -> tuple[Array, float]:
        """Return a factor, and the length of the Euclidean part that is not in it.

        Together they are the mixture ``a P'P + b / unit^2 T``.
        """
        m = P.shape[1]
        if self.target is not None:
            factor = _factor(a * (P.T @ P) + b / coordinates.unit**2 * self.target)
        elif m > MOST_FEATURES and self.n_components is None:
            lengths, rows = _sorted_directions(P, coordinates)
            keep = slice(None) if a > 0.0 else slice(0)
            return (
                math.sqrt(a) * lengths[keep, np.newaxis] * rows[keep],
                math.sqrt(b) / coordinates.unit,
            )
        else:
            factor = _with_identity(P, a, b, coordinates)
        if self.n_components is not None:
            is_number = isinstance(self.n_components, Integral)
            factor = factor[: int(self.n_components) if is_number else max(len(P), 1)]
        return factor, 0.0

    def _target_variance(self, coordinates: Coordinates) -> tuple[float, float]:
        """Return ``tr(T Cov)`` and the root of ``tr(T Cov T Cov)``, over powers of ``unit``."""
        product = covariance = coordinates.covariance
        if self.target is not None:
            basis = coordinates.basis
            own = self.target if basis is None else basis.T @ self.target @ basis
            product = own @ covariance
        # (Divided by its size first: the squares of small variances would vanish.)
        size = magnitude(product)
        part = product / size
        return float(np.trace(product)), size * math.sqrt(max(float(np.vdot(part, part.T)), 0.0))


def _in_range(factor: Array, dtype: Any) -> Array:
    """Return a factor in the precision of the points, if that has room for it."""
    if np.abs(factor).max(initial=0.0) <= np.finfo(dtype).max:
        return factor.astype(dtype)
    raise ValueError(
        f"The metric to hand out has components of up to {np.abs(factor).max():.3g}, and "
        f"{np.dtype(dtype).name} ends at {np.finfo(dtype).max:.3g}. Scale the features or "
        "shrinkage_target, or pass X in float64."
    )


def _total_variance(P: Array, coordinates: Coordinates) -> float:
    """Return the total variance of the points under the metric ``P'P`` on the features."""
    own = coordinates.from_features(P.astype(np.float64, copy=False))
    return float(np.vdot(own @ coordinates.covariance, own))


def _to_threshold(
    factor: Array, short: float, learned: Array, threshold: float, coordinates: Coordinates
) -> float:
    """Return the scale at which as many pairs are below the threshold as under `learned`."""
    points = coordinates.some_rows(_ROWS_FOR_THRESHOLD)
    before, after = (
        pdist(points @ coordinates.from_features(one.astype(np.float64)).T, "sqeuclidean")
        for one in (learned, factor)
    )
    if short > 0.0:
        after += (short * coordinates.unit) ** 2 * pdist(points, "sqeuclidean")
    # The inverse of the quantile below: it does not jump where a pair crosses the threshold.
    before.sort()
    share = float(np.interp(threshold, before, np.linspace(0.0, 1.0, len(before))))
    # With all pairs on one side, the nearest ones (or the farthest) decide.
    least = 1.0 / len(before)
    limit = float(np.quantile(after, min(max(share, least), 1.0 - least)))
    return math.sqrt(threshold / limit) if limit > 0.0 else 1.0


def _factor(A: Array) -> Array:
    """Return a factor of A with orthogonal rows, longest first, without null directions."""
    values, vectors = eigh(A)
    values, vectors = values[::-1], vectors[:, ::-1]
    keep = values > values[0] * len(A) * _EPS
    return (vectors[:, keep] * np.sqrt(values[keep])).T


def _with_identity(P: Array, a: float, b: float, coordinates: Coordinates) -> Array:
    """Return a factor of ``a P'P + b / unit^2 I``, kept to the span of many features."""
    m = P.shape[1]
    lengths, learned = _sorted_directions(P, coordinates)
    short = math.sqrt(b) / coordinates.unit
    long = np.hypot(math.sqrt(a) * lengths, short)
    if len(learned) == m:
        return long[:, np.newaxis] * learned
    basis = coordinates.basis
    if basis is not None and m > MOST_FEATURES:
        rest = basis @ _complement(learned @ basis)
    else:
        rest = _complement(learned)
    return np.vstack([long[:, np.newaxis] * learned, short * _widest(rest.T, coordinates)])


def _sorted_directions(P: Array, coordinates: Coordinates) -> tuple[Array, Array]:
    """Return the lengths of a factor along orthonormal rows, longest first, and these rows.

    Of equally long ones the widest come first.
    """
    _, lengths, rows = svd(P)
    keep = lengths > lengths.max(initial=0.0) * max(P.shape) * _EPS
    lengths, rows = lengths[keep], rows[keep]
    breaks = np.flatnonzero(lengths[:-1] - lengths[1:] > _EQUAL * lengths.max(initial=0.0)) + 1
    return lengths, np.vstack([_widest(some, coordinates) for some in np.split(rows, breaks)])


def _widest(rows: Array, coordinates: Coordinates) -> Array:
    """Turn orthonormal rows to the directions along which the points vary, the widest first."""
    if len(rows) < 2:
        return rows
    own = rows if coordinates.basis is None else rows @ coordinates.basis
    turn: Array = eigh(own @ coordinates.covariance @ own.T)[1][:, ::-1]
    return turn.T @ rows


def _complement(rows: Array) -> Array:
    """Return orthonormal columns that span the orthogonal complement of the `rows`."""
    return np.linalg.qr(rows.T, mode="complete")[0][:, len(rows) :]
