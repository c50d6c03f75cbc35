"""LDM: weights of the principal components, learned from the neighbors of labeled points."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from .._marks import PairLabels
from .._sweep import exact_size, magnitude, principal_directions, subtract_mean
from .._utils._typing import Array
from .._utils._validation import check_number, shown
from .._utils._warnings import warn
from ._learner import ClassicLearner
from ._local_likelihood import Likelihood

# Default weight of the trace for one term and a unit largest variance: our choice, as the paper
# has no such term. It scales as the standard deviation of the likelihood's gradient, with the root
# of the number of terms.
_NOISE = 0.03


class LDM(ClassicLearner):
    r"""Local distance metric learning (Yang, Jin, Sukthankar and Liu, 2006).

    The metric is :math:`A = \sum_k \gamma_k v_k v_k'` with :math:`\gamma_k \ge 0`, where
    :math:`v_k` are the principal components of all points, labeled or not. The weights
    maximize

    .. math:: \sum_x \ln \frac{M_S(x)}{M_S(x) + M_D(x)} - \lambda\, \mathrm{tr}(A),
              \qquad M(x) = \sum_{x'} e^{-\|x - x'\|_A^2},

    with :math:`M_S(x)` summed over the points known to be similar to :math:`x` and
    :math:`M_D(x)` over those known to be dissimilar: a point should have some of its own kind
    close by, not all of them. The sum runs over the points that are in both kinds of pairs.
    A point with similar pairs alone would add 0 whatever the metric, one with dissimilar pairs
    alone minus infinity; they are left out, but count as neighbors.

    Parameters
    ----------
    n_components : int or float or None, default=None
        Largest number of principal components to use; or, for a fraction in (0, 1], as many as
        it takes to explain this fraction of the variance. None uses all that vary.
    lam : float or "auto", default="auto"
        Weight of the trace. "auto" is ``0.03 sqrt(t) * 2 eigmax(Cov(X))`` for t points in the
        sum; the fitted distances then do not depend on the units of X. The paper has no such
        term, which is ``lam=0``: see the notes.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop at this ``optimality_gap_``.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map: principal components times the root of their weight, without those
        of weight 0.
    gamma_ : ndarray of shape (n_principal_components,)
        Weight of each principal component that is used, the one of largest variance first.
    lam_ : float
        The weight of the trace that was used.
    objective_ : float
        Value of the objective.
    optimality_gap_ : float
        How much the objective can still change, to first order and per point in the sum, if
        one weight changes by its own size or grows by the size of the largest.
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
    The weights are found by bound optimization: each iteration maximizes, in closed form, a
    function that lies below the objective and touches it at the current weights.

    Suppose that under some weights the nearest labeled point of every labeled point is of its
    own kind. Then the likelihood rises to 0 as these weights grow to infinity, and there is no
    best metric; with few labels in many dimensions this is nearly always so. The trace makes
    the maximum finite, and keeps small the weights that few labels cannot determine. With
    ``lam=0`` the solver stops where the likelihood has become flat, close to its upper bound
    0, or at `max_iter`.

    The likelihood is not concave, so the maximum may be a local one. The search starts from
    the Euclidean distance, at unit mean squared distance of two points.

    References
    ----------
    L. Yang, R. Jin, R. Sukthankar, Y. Liu. An efficient algorithm for local distance metric
    learning. AAAI 2006. (The bound used here is not theirs: it is derived in the source.)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph.classic import LDM
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> some = np.full(len(y), -1)
    >>> some[::6] = y[::6]  # 30 labels, 148 unlabeled rows
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

    def _check_parameters(self) -> None:
        n = self.n_components
        is_count = isinstance(n, Integral) and not isinstance(n, bool) and int(n) >= 1
        is_share = isinstance(n, Real) and not isinstance(n, Integral) and 0 < float(n) <= 1
        if not (n is None or is_count or is_share):
            raise ValueError(
                "n_components must be a whole number of at least 1, a fraction of the variance "
                f"in (0, 1], or None; got {shown(n)}."
            )
        check_number("lam", self.lam, low=0, instead="auto")
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        axes, Z, unit = _principal_components(points, self.n_components)
        likelihood = Likelihood(Z, labels)
        if self.lam == "auto":
            lam = _NOISE * np.sqrt(likelihood.n_terms) * 2.0 * float(Z[:, 0].var())
        else:
            lam = float(self.lam) / unit**2
        start = np.ones(len(axes))
        gamma, history, gap = maximize(likelihood, start, lam, self.max_iter, self.tol)
        n_iter, used = len(history) - 1, gamma > 0.0
        if not used.any():
            warn(
                f"The learned metric is zero (rank 0): {type(self).__name__} gives no component "
                "any weight, and every distance is 0. lam is too large for these labels, or they "
                "ask for a collapse; lower lam or check the labels."
            )
        if gap > self.tol:
            advice = (
                "With lam=0 the likelihood may have no maximum: the weights may grow forever. "
                "Raise lam, or max_iter, or tol."
                if self.lam == 0
                else "Raise max_iter, or tol, or lam."
            )
            self._warn_not_converged(f"{n_iter} iterations, optimality gap {gap:.1e}", advice)
        return np.sqrt(gamma[used])[:, np.newaxis] * axes[used] / unit, {
            "gamma_": gamma / unit**2,
            "lam_": lam * unit**2,
            "objective_": history[-1],
            "optimality_gap_": gap,
            "converged_": gap <= self.tol,
            "n_iter_": max(1, n_iter),
            "history_": {"objective": np.array(history)},
        }


def _principal_components(points: Array, n_components: float | None) -> tuple[Array, Array, float]:
    """Return the principal axes as rows, the points along them, and the unit of length.

    The unit is the root of the mean squared distance of two points (along these axes).
    """
    size = exact_size(magnitude(points))
    # Every component that varies counts, down to rounding errors in the precision of X.
    floor = float(np.finfo(points.dtype).eps) * max(points.shape)
    left, lengths, axes = principal_directions(
        subtract_mean(points.astype(np.float64) / size), floor
    )
    if not lengths[0] > floor:
        raise ValueError(
            f"All {len(points)} rows of X are the same point: there is no principal component. "
            "Pass points that differ."
        )
    variances = lengths**2 / len(points)
    keep = len(variances)
    if isinstance(n_components, Integral):
        keep = min(keep, int(n_components))
    elif n_components is not None:
        explained = np.cumsum(variances) / variances.sum()
        keep = 1 + int(np.searchsorted(explained[:-1], float(n_components) - 1e-12))
    spread = float(np.sqrt(2.0 * variances[:keep].sum()))
    return axes[:keep], left[:, :keep] * (lengths[:keep] / spread), size * spread


def maximize(
    likelihood: Likelihood, gamma: Array, lam: float, max_iter: int, tol: float
) -> tuple[Array, list[float], float]:
    """Maximize ``likelihood(gamma) - lam * sum(gamma)`` over ``gamma >= 0``, from `gamma`.

    Returns gamma, the objective at the start and after each iteration, and the gap at the end.

    Each step maximizes the `bound`. The width at which the bound is proven to hold is cautious.
    So a wider one is tried first, from the curvature that the last step met (Barzilai and
    Borwein), and narrowed until the step gains half of what the bound promises. At the proven
    width it gains all of it, so the objective never falls.
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
    return gamma, history, gap


def bound(near: Array, far: Array, step: Array, lam: float, width: float) -> float:
    """Return a lower bound on the gain of the objective by a `step`.

    ``-c sum_k [far_k (exp(-step_k / c) - 1) + near_k (exp(step_k / c) - 1)] - lam sum_k step_k``

    with c the `width`, and ``near_k = sum_x r_x E_S[w_k]``, ``far_k = sum_x r_x E_D[w_k]``
    for ``w_k = (v_k'(x - x'))^2``, where E_S and E_D are means over the similar and the
    dissimilar points of x, weighted by the kernel, and ``r = M_D / (M_S + M_D)``. It is a
    lower bound because

    - ``ln M_S`` is convex in gamma, so it lies above its tangent, and
      ``M_D / M_S`` is at most ``(M_D / M_S)_old E_D[exp(sum_k (E_S[w_k] - w_k) step_k)]``;
    - ``-ln(1 + u)`` is convex in u, so it lies above its tangent;
    - that exponential is at most the mean of ``exp(-step_k / c)`` and ``exp(step_k / c)`` with
      weights ``c w_k`` and ``c E_S[w_k]``, by Jensen, provided these add up to at most 1.
    """
    ratio = step / width
    return float(-width * (far @ np.expm1(-ratio) + near @ np.expm1(ratio)) - lam * step.sum())


def bound_step(near: Array, far: Array, gamma: Array, lam: float, width: float) -> Array:
    """Return the step from `gamma` that maximizes the `bound` and keeps the weights >= 0."""
    tiny = 1e-150  # its square is not 0
    # Where a sum is 0 the maximum lies at infinity; with a larger sum the bound still holds.
    near, far = np.maximum(near, 1e-12 * far + tiny), np.maximum(far, 1e-12 * near + tiny)
    growth = 2.0 * far / (lam + np.sqrt(lam**2 + 4.0 * near * far))
    step: Array = np.maximum(width * np.log(growth), -gamma)
    return step
