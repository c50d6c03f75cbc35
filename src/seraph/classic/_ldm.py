"""LDM: weights for the principal components, from the neighbours of the labelled points."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from .._base import MahalanobisLearner
from .._pairs import PairLabels
from .._validation import check_number
from ._local_likelihood import Likelihood

# Size of the noise in the likelihood's gradient that the trace has to outweigh.
_NOISE = 0.03


class LDM(MahalanobisLearner):
    r"""Local distance metric learning (Yang, Jin, Sukthankar and Liu, 2006).

    The metric is :math:`A = \sum_k \gamma_k v_k v_k'` with :math:`\gamma_k \ge 0`, where
    :math:`v_k` are the principal components of all the points, unlabelled ones too. The
    weights maximise

    .. math:: \sum_x \ln \frac{M_S(x)}{M_S(x) + M_D(x)} - \lambda\, \mathrm{tr}(A),
              \qquad M(x) = \sum_{x'} e^{-\|x - x'\|_A^2},

    with :math:`M_S(x)` summed over the points known to be similar to :math:`x` and
    :math:`M_D(x)` over those known to be dissimilar: a point should have its own kind close
    by, and need not be close to all of it. The sum runs over the points that stand in both
    kinds of pairs. A point with similar pairs alone would add 0 whatever the metric, one with
    dissimilar pairs alone minus infinity; they are left out, but count as neighbours.

    Parameters
    ----------
    n_components : int or float or None, default=None
        Principal components to use: so many at most, or, for a number in (0, 1], as many as
        it takes to explain this fraction of the variance. None uses all that vary.
    lam : float or "auto", default="auto"
        Weight of the trace. "auto" is ``0.03 sqrt(t) * 2 eigmax(Cov(X))`` for t points in the
        sum; the fitted distances then don't depend on the units of X. The paper has no such
        term, which is ``lam=0``: see the notes.
    max_iter : int, default=500
        Iterations at most.
    tol : float, default=1e-4
        Where to stop: at this ``optimality_gap_``.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map: principal components times the root of their weight, without those
        of weight 0.
    gamma_ : ndarray of shape (n_principal_components,)
        Weight of each principal component in use, the one of the largest variance first.
    lam_ : float
        The weight of the trace that was used.
    objective_ : float
        Value of the objective.
    optimality_gap_ : float
        How much the objective can still change, to first order and per point in the sum, if
        one weight changes by its own size or grows by that of the largest.
    converged_ : bool
        Whether ``optimality_gap_`` met the tolerance.
    n_iter_ : int
        Number of iterations.
    history_ : dict of ndarray
        "objective" at the start and after each iteration. It never falls.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    The weights are found by bound optimisation: each iteration maximises, in closed form, a
    function that lies below the objective and touches it at the current weights.

    Where some weights make the nearest labelled point of every labelled point one of its own
    kind, the likelihood rises to 0 as these weights grow to infinity, and few labels in many
    dimensions are nearly always like that: there is no best metric then. The trace makes the
    maximum finite, and keeps down what few labels cannot tell. With ``lam=0`` the solver stops
    where the likelihood has become flat, close to its upper bound 0, or at `max_iter`.

    The likelihood is not concave, so the maximum may be a local one. The search starts from
    the Euclidean distance, at unit mean squared distance of two points.

    References
    ----------
    L. Yang, R. Jin, R. Sukthankar, Y. Liu. An efficient algorithm for local distance metric
    learning. AAAI 2006. (The bound used here is this library's own.)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph.classic import LDM
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> some = np.full(len(y), -1)
    >>> some[::6] = y[::6]  # 30 labels, 148 unlabelled rows
    >>> learner = LDM().fit(X, some)
    >>> learner.gamma_.shape, bool(learner.gamma_.min() >= 0.0)
    ((13,), True)
    """

    def __init__(
        self,
        *,
        n_components: float | None = None,
        lam: float | Literal["auto"] = "auto",
        max_iter: int = 500,
        tol: float = 1e-4,
    ) -> None:
        self.n_components = n_components
        self.lam = lam
        self.max_iter = max_iter
        self.tol = tol

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric.

        Class labels, marked pairs, or both can be given; they are merged.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labelled or not.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of pairs of points that are known to be alike or not.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for pairs that are alike, -1 or False for those that are not.

        Returns
        -------
        LDM
            The fitted learner.
        """
        _check_components(self.n_components)
        check_number("lam", self.lam, low=0, instead="auto")
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        points = self._check_points(X)
        labels = PairLabels.make(len(points), y, pairs, pair_labels)

        axes, Z, unit = _principal_components(points, self.n_components)
        likelihood = Likelihood(Z, labels)
        if self.lam == "auto":
            lam = _NOISE * np.sqrt(likelihood.n_terms) * 2.0 * float(Z[:, 0].var())
        else:
            lam = float(self.lam) / unit**2
        found = maximise(likelihood, np.ones(len(axes)), lam, self.max_iter, self.tol)
        self._warn_of_result(found)
        used = found.gamma > 0.0
        components = np.sqrt(found.gamma[used])[:, np.newaxis] * axes[used] / unit
        return self._learned(
            X,
            components.astype(points.dtype),
            gamma_=found.gamma / unit**2,
            lam_=lam * unit**2,
            objective_=found.history[-1],
            optimality_gap_=found.gap,
            converged_=found.converged,
            n_iter_=max(1, len(found.history) - 1),
            history_={"objective": np.array(found.history)},
        )

    def _warn_of_result(self, found: Found) -> None:
        if not found.gamma.any():
            warnings.warn(
                "The learned metric is zero (rank 0): every distance is 0. lam is too large "
                "for these labels, or they ask for a collapse; lower lam or check the labels.",
                stacklevel=3,
            )
        if not found.converged:
            cause = (
                "With lam=0 the likelihood may have no maximum: the weights may grow for ever. "
                "Raise lam, or max_iter, or tol."
                if self.lam == 0
                else "Raise max_iter, or tol, or lam."
            )
            warnings.warn(
                f"LDM has not converged ({len(found.history) - 1} iterations, optimality gap "
                f"{found.gap:.1e}). {cause}",
                ConvergenceWarning,
                stacklevel=3,
            )


def _check_components(value: object) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
    part = not isinstance(value, Integral) and isinstance(value, Real) and 0 < float(value) <= 1
    if value is not None and not whole and not part:
        raise ValueError(
            "n_components must be a whole number of at least 1, a fraction of the variance in "
            f"(0, 1], or None; got {value!r}."
        )


def _principal_components(
    points: NDArray, n_components: float | None
) -> tuple[NDArray, NDArray, float]:
    """Principal axes as rows, the points along them, and the unit these are measured in.

    The unit is the root of the mean squared distance of two points (along these axes).
    """
    size = float(np.max(np.abs(points), initial=0.0)) or 1.0
    centred = points.astype(np.float64) / size  # keeps the squares finite
    centred -= centred.mean(axis=0)
    left, lengths, axes = np.linalg.svd(centred, full_matrices=False)
    floor = np.finfo(points.dtype).eps * max(points.shape)
    varying = (lengths > floor * lengths[0]) & (lengths[0] > floor)
    if not varying.any():
        raise ValueError(
            f"All {len(points)} rows of X are the same point: there is no principal component."
        )
    variances = lengths[varying] ** 2 / len(points)
    keep = len(variances)
    if isinstance(n_components, Integral):
        keep = min(keep, int(n_components))
    elif n_components is not None:
        explained = np.cumsum(variances) / variances.sum()
        keep = 1 + int(np.searchsorted(explained[:-1], float(n_components) - 1e-12))
    spread = float(np.sqrt(2.0 * variances[:keep].sum()))
    return axes[:keep], left[:, :keep] * (lengths[:keep] / spread), size * spread


@dataclass(frozen=True)
class Found:
    """Where `maximise` stopped: weights, objective at each iteration, gap there."""

    gamma: NDArray
    history: list[float]
    gap: float
    converged: bool


def maximise(
    likelihood: Likelihood, gamma: NDArray, lam: float, max_iter: int, tol: float
) -> Found:
    """Maximise ``likelihood(gamma) - lam * sum(gamma)`` over ``gamma >= 0`` from `gamma` on.

    Each step maximises the `bound`. The width at which it is proven to hold is cautious: a
    wider one is tried first, by the curvature that the last step met (Barzilai and Borwein),
    and narrowed until the step gains half of what the bound promises. At the proven width it
    gains all of it, so the objective never falls.
    """
    safe = width = likelihood.safe_width
    value, near, far = likelihood(gamma)
    history = [value - lam * float(gamma.sum())]
    gap = np.inf
    for _ in range(max_iter + 1):
        slope = far - near - lam
        reach = np.maximum(gamma * np.abs(slope), max(1.0, gamma.max()) * slope)
        gap = float(reach.max()) / likelihood.n_terms
        if gap <= tol or len(history) > max_iter:
            break
        while True:
            step = bound_step(near, far, gamma, lam, width)
            new_value, new_near, new_far = likelihood(gamma + step)
            objective = new_value - lam * float((gamma + step).sum())
            gain = objective - history[-1]
            if gain >= 0.5 * bound(near, far, step, lam, width) or width <= safe:
                break
            width = max(width / 3.0, safe)
        if gain < 0.0 or np.abs(step).max() <= 1e-14 * gamma.max():
            break  # rounding errors are all that is left to gain
        bend = float(step @ (slope - (new_far - new_near - lam)))
        widest = 10.0 * width
        met = float(step**2 @ (near + far)) / bend if bend > 0.0 else widest
        width = min(max(met, safe), widest)
        gamma, near, far = gamma + step, new_near, new_far
        history.append(objective)
    return Found(gamma, history, gap, gap <= tol)


def bound(near: NDArray, far: NDArray, step: NDArray, lam: float, width: float) -> float:
    """What the objective gains at least by a `step`, from 0 at none.

    ``-c sum_k [far_k (exp(-step_k / c) - 1) + near_k (exp(step_k / c) - 1)] - lam sum_k step_k``

    with c the `width`, and ``near_k = sum_x r_x E_S[w_k]``, ``far_k = sum_x r_x E_D[w_k]``
    for ``w_k = (v_k'(x - x'))^2``, the means E taken by the kernel over the similar and the
    dissimilar points of x, and ``r = M_D / (M_S + M_D)``. It is a lower bound because

    - ``ln M_S`` is convex in gamma, so it lies above its tangent, and
      ``M_D / M_S`` is at most ``(M_D / M_S)_old E_D[exp(sum_k (E_S[w_k] - w_k) step_k)]``;
    - ``-ln(1 + u)`` is convex in u, so it lies above its tangent;
    - that exponential is at most the mean of ``exp(-step_k / c)`` and ``exp(step_k / c)`` with
      weights ``c w_k`` and ``c E_S[w_k]``, by Jensen, provided these add up to at most 1.
    """
    ratio = step / width
    return float(-width * (far @ np.expm1(-ratio) + near @ np.expm1(ratio)) - lam * step.sum())


def bound_step(near: NDArray, far: NDArray, gamma: NDArray, lam: float, width: float) -> NDArray:
    """Step from `gamma` at which the `bound` is largest, weights staying at least 0."""
    tiny = 1e-150  # of which the square is not 0
    # Where a sum is 0 the maximum lies at infinity; a larger sum makes the bound no less true.
    near, far = np.maximum(near, 1e-12 * far + tiny), np.maximum(far, 1e-12 * near + tiny)
    growth = 2.0 * far / (lam + np.sqrt(lam**2 + 4.0 * near * far))
    return np.maximum(width * np.log(growth), -gamma)
