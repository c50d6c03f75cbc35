"""The regularization path: the metrics for many weights of the trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from .._engine import (
    RegularizationPath,
    Settings,
    check_checkpoint,
    describe_early_stop,
    fingerprint,
    follow_path,
    open_journal,
    read_array,
    read_labels,
    warn_of_scales,
)
from .._marks import Marks
from .._utils._typing import Array
from .._utils._validation import check_number, shown
from .._utils._warnings import warn
from ._seraph import SERAPH

# Parameters of the learner that a path allows the default of only.
_ONLY = {"gamma": None, "solver": "auto", "callback": None}


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
) -> RegularizationPath:
    r"""Learn the metrics of the model (7) for many weights of the trace, starting at zero.

    .. math:: A(\lambda) = \arg\max_A \sum_{labeled} \ln p(y_{ij})
              - \mu \sum_{unlabeled} H(p_{ij}) - \lambda\, \mathrm{tr}(A)

    The path is followed by predictor-corrector continuation: the last solutions are extrapolated,
    and quasi-Newton steps correct the prediction. It starts at

    .. math:: \lambda_{max} = \mathrm{eigmax} \Bigl( \sum_{ij} \phi'_{ij}(0)\,
              (x_i - x_j)(x_i - x_j)^T \Bigr),

    the largest eigenvalue of the gradient of the pair terms at the zero metric. With ``mu=0``
    the problem is concave, and the metric is zero exactly for larger weights. With unlabeled
    pairs the zero metric is only a local maximum there, and the path starts higher if a better
    one is found. The path then follows one of several maxima, which need not be the one that
    ``SERAPH(lam=...)`` finds from its own start.

    Parameters
    ----------
    X, y
        The data, as in ``SERAPH.fit``.
    learner : SERAPH, optional
        The model and its settings; None means ``SERAPH()``. Its `lam` and `shrinkage` do not
        matter, and `solver` and `gamma` must be the defaults. `max_iter` is for each weight,
        `checkpoint` for the whole path, and `verbose=1` prints a line per weight.
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
    RegularizationPath
        The weights, metrics, ranks, objectives, and number of sweeps.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import seraph_path
    >>> X, y = load_wine(return_X_y=True)
    >>> y = np.where(np.arange(len(y)) % 15 == 0, y, -1)
    >>> path = seraph_path(StandardScaler().fit_transform(X), y, n_lams=20)
    >>> int(path.ranks[0]), bool(path.ranks[-1] > 1)
    (0, True)
    >>> path.components[-1].shape[1]
    13
    """
    check_number("n_lams", n_lams, low=1, integer=True)
    check_number("eps", eps)
    if not 0.0 < eps < 1.0:
        raise ValueError(f"eps must lie between 0 and 1, both excluded; got {shown(eps)}.")
    learner = _check_learner(learner)
    settings = Settings.of(learner, name="seraph_path")
    points, settings = read_array(X, settings)
    labels = read_labels(X, len(points), y, marks)
    warn_of_scales(points, getattr(X, "columns", None))
    weights = None if lams is None else _check_lams(lams)
    parameters = {"lams": weights, "n_lams": n_lams, "eps": eps, **vars(settings)}
    with open_journal(
        learner.checkpoint, lambda: fingerprint(parameters, points, labels, graph)
    ) as journal:
        path = follow_path(
            points,
            labels,
            settings,
            (n_lams, eps) if weights is None else weights,
            graph=graph,
            journal=journal,
        )
        if not path.converged.all():
            left = f"{np.sum(~path.converged)} of {len(path.converged)} values of lam"
            warn(describe_early_stop(settings.name, left), ConvergenceWarning)
    return path


def _check_learner(learner: SERAPH | None) -> SERAPH:
    if learner is None:
        return SERAPH()
    if not isinstance(learner, SERAPH):
        raise ValueError(f"learner must be a SERAPH, or None; got {shown(learner)}.")
    check_checkpoint(learner.checkpoint)
    for name, default in _ONLY.items():
        if getattr(learner, name, default) != default:
            raise ValueError(
                f"A path is followed with {name}={default!r} only; got a learner with "
                f"{name}={shown(getattr(learner, name))}."
            )
    return learner


def _check_lams(lams: ArrayLike) -> Array:
    try:
        weights = np.unique(np.asarray(lams, dtype=np.float64).ravel())[::-1]
    except (TypeError, ValueError) as error:
        raise ValueError(f"lams must hold numbers; got {shown(lams)}.") from error
    if len(weights) == 0 or not np.all(np.isfinite(weights)) or weights[-1] <= 0.0:
        raise ValueError(
            f"lams must hold positive finite weights, at least one; got {shown(np.asarray(lams))}."
        )
    return weights
