"""The regularization path: the metrics for many weights of the trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ._advice import warn_of_scales
from ._marks import Marks
from ._objective import to_solver
from ._points import to_memory
from ._seraph import SERAPH
from ._utils._eigen import eigvalsh
from ._utils._public import publish
from ._utils._typing import Array
from ._utils._validation import check_number, shown
from ._utils._warnings import warn

# Factor by which the largest weight grows until the metric for it is zero, and how often at most.
_GROWTH, _MOST_GROWTHS = 1.5, 20


def seraph_path(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    learner: SERAPH | None = None,
    lams: ArrayLike | None = None,
    n_lams: int = 100,
    eps: float = 1e-3,
    marks: Marks | None = None,
    graph: Any = None,
) -> tuple[Array, list[Array], Array]:
    r"""Learn the metrics of the model (7) for many weights of the trace, the largest first.

    .. math:: A(\lambda) = \arg\max_A \sum_{labeled} \ln p(y_{ij})
              - \mu \sum_{unlabeled} H(p_{ij}) - \lambda\, \mathrm{tr}(A)

    Each fit starts from the metric of the weight before. With ``mu=0`` the metric is zero exactly
    for weights from :math:`\mathrm{eigmax}(G)` on, G the gradient of the pair terms at zero. With
    unlabeled pairs the zero metric is only a local maximum there, and the path starts higher if a
    better one is found.

    Parameters
    ----------
    X, y
        The data, as in ``SERAPH.fit``.
    learner : SERAPH, optional
        The model and its settings; None means ``SERAPH()``. Its `lam` does not matter, and
        `max_iter` is for each weight.
    lams : array-like of shape (n_lams,), optional
        The weights, positive, in any order. By default `n_lams` of them, evenly spaced on a
        log scale, from where the metric is zero down to `eps` times that.
    n_lams : int, default=100
        Number of weights, if `lams` is None.
    eps : float, default=1e-3
        The smallest weight over the largest, if `lams` is None.
    marks, graph
        More data, as in ``SERAPH.fit``.

    Returns
    -------
    lams : ndarray of shape (n_lams,)
        The weights, decreasing.
    components : list of ndarray of shape (rank, n_features)
        The map of the metric for each weight.
    gaps : ndarray of shape (n_lams,)
        ``optimality_gap_`` of each.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import seraph_path
    >>> X, y = load_wine(return_X_y=True)
    >>> y = np.where(np.arange(len(y)) % 15 == 0, y, -1)
    >>> lams, components, gaps = seraph_path(StandardScaler().fit_transform(X), y, n_lams=20)
    >>> len(components[0]), len(components[-1]) > 1
    (0, True)
    """
    check_number("n_lams", n_lams, low=1, integer=True)
    check_number("eps", eps)
    if not 0.0 < eps < 1.0:
        raise ValueError(f"eps must lie between 0 and 1, both excluded; got {shown(eps)}.")
    if learner is not None and not isinstance(learner, SERAPH):
        raise ValueError(f"learner must be a SERAPH, or None; got {shown(learner)}.")
    model = SERAPH() if learner is None else clone(learner)
    fit = model._prepare(X, y, marks, graph)  # noqa: SLF001
    warn_of_scales(fit.problem.frame, getattr(X, "columns", None))
    if lams is None:
        problem = fit.problem
        zero = to_solver(np.zeros((0, len(problem.frame.covariance))), problem.like)
        gradient = to_memory(problem.objective(0.0).value_and_gradient(zero)[1])
        largest = float(eigvalsh(gradient)[-1]) * problem.frame.unit**2
        if largest <= 0.0:  # zero is a local maximum for every weight
            largest = problem.weigh_trace("auto") * problem.frame.unit**2
            if len(fit.run(largest)[0].P) == 0:
                raise ValueError(
                    "The metric is zero whatever lam is. Add dissimilar pairs or labels of "
                    "another class, or give features that vary, if all points are equal."
                )
        for _ in range(_MOST_GROWTHS):
            if len(fit.run(largest)[0].P) == 0:
                break
            largest *= _GROWTH
        weights = np.geomspace(largest, eps * largest, n_lams)
    else:
        weights = _check_lams(lams)
    components, gaps, converged, start = [], [], [], None
    for lam in weights:
        result, s = fit.run(float(lam), start)
        components.append(fit.components(result, s))
        start = components[-1] if len(components[-1]) else None
        gaps.append(result.gap)
        converged.append(result.converged)
    if not all(converged):
        warn(
            f"seraph_path has not converged for {converged.count(False)} of {len(weights)} values "
            "of lam. Raise max_iter or tol of the learner.",
            ConvergenceWarning,
        )
    return weights, components, np.array(gaps)


def _check_lams(lams: ArrayLike) -> Array:
    try:
        weights = np.unique(np.asarray(lams, dtype=np.float64))[::-1]
    except (TypeError, ValueError):
        weights = np.empty(0)
    if not (len(weights) and np.isfinite(weights).all() and weights[-1] > 0.0):
        raise ValueError(
            f"lams must hold positive finite numbers, at least one; got {shown(lams)}."
        )
    return weights


publish(globals(), "seraph", ["seraph_path"])
