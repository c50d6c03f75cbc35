"""Large margin nearest neighbours (Weinberger, Blitzer, Saul 2005; Weinberger, Saul 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from .._base import MahalanobisLearner
from .._pairs import PairLabels
from .._solvers import compress
from .._validation import check_number
from .._warnings import warn
from ._classes import labeled_classes
from ._triples import Triples

# Iterations from one look at the lower bound to the next.
_LOOK = 5
_CORRECTIONS = 20


class LMNN(MahalanobisLearner):
    r"""Large margin nearest neighbours (Weinberger, Blitzer and Saul, 2005).

    Each labelled point has target neighbours, the `n_neighbors` nearest ones of its class
    under the Euclidean distance. The metric pulls them close, and pushes points of other
    classes a unit margin further away than they are: it minimises

    .. math:: (1 - \mu) \sum_{j \to i} d^2_{ij} + \mu \sum_{j \to i} \sum_{l: y_l \neq y_i}
              [1 + d^2_{ij} - d^2_{il}]_+

    over the targets :math:`j` of each :math:`i`. It learns from class labels alone;
    unlabelled rows have no influence. The metric absorbs the units of X, so the unit margin
    needs no scaling: a common factor on X leaves the learned distances what they are. The
    scales of the features relative to each other do matter, through the targets.

    With few labels the minimum overfits, and is often worse than the Euclidean distance. A
    large `tol` (0.1 to 0.3) stops early, nearer to the Euclidean metric, and is the better
    choice then.

    Parameters
    ----------
    n_neighbors : int, default=3
        Target neighbours of a point. A class with fewer members gives what it has.
    push_weight : float, default=0.5
        The weight :math:`\mu` of the push, between 0 and 1; that of the pull is the rest.
    n_components : int, optional
        Largest rank the metric may have. The search then starts at that many principal
        components, and finds a local minimum; without it, the minimum is global.
    max_iter : int, default=1000
        Iterations of L-BFGS at most.
    tol : float, default=0.01
        Where to stop: at this ``optimality_gap_``. With `n_components` also where an iteration
        lowers the objective by less than 1e-4 of that, since a bound over all metrics says
        little of those of low rank. (The solver rounds the kink of the hinge off within
        ``1.5 * tol`` of it, but between 0.0005 and 0.05.)
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``. Orthogonal rows, the longest first.
    objective_ : float
        Value of the objective, with the hinge as it is.
    optimality_gap_ : float
        How far the objective may lie above its minimum over all metrics, by a lower bound
        from the dual problem; in units of the objective at the start, the best multiple of
        the Euclidean metric (on the principal components, with `n_components`).
    converged_ : bool
        Whether the solver met its tolerance.
    n_iter_ : int
        Iterations.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    References
    ----------
    K. Weinberger, J. Blitzer, L. Saul. Distance metric learning for large margin nearest
    neighbor classification. NIPS 2005.

    K. Weinberger, L. Saul. Distance metric learning for large margin nearest neighbor
    classification. JMLR 10, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph.classic import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> learner = LMNN(n_components=2).fit(X, y)
    >>> learner.transform(X).shape
    (178, 2)
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        push_weight: float = 0.5,
        n_components: int | None = None,
        max_iter: int = 1000,
        tol: float = 0.01,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.push_weight = push_weight
        self.n_components = n_components
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric from the labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs, pair_labels : array-like, optional
            Accepted only where they follow from `y`: the method needs classes.

        Returns
        -------
        LMNN
            The fitted learner.
        """
        self._check_parameters()
        points = self._check_points(X)
        labels = PairLabels.make(len(points), y, pairs, pair_labels)
        labeled, codes = labeled_classes(self, points, labels)
        order = np.argsort(codes, kind="stable")
        coordinates, basis = _principal_coordinates(labeled[order])
        triples = Triples.make(
            coordinates,
            codes[order],
            n_neighbors=self.n_neighbors,
            push_weight=float(self.push_weight),
            rounding=float(np.clip(3.0 * self.tol, 1e-3, 0.1)),
        )
        found = _minimise(
            triples,
            _first_factor(triples, self.n_components),
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=self.verbose,
        )
        if not found.converged:
            warn(
                f"LMNN has not converged ({found.n_iter} iterations, optimality gap "
                f"{found.gap:.1e}). Raise max_iter or tol.",
                ConvergenceWarning,
            )
        return self._learned(
            X,
            (compress(found.P) @ basis).astype(points.dtype),
            objective_=found.objective,
            optimality_gap_=found.gap,
            converged_=found.converged,
            n_iter_=max(1, found.n_iter),
        )

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_number("n_components", self.n_components, low=1, integer=True, instead=None)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        if not (isinstance(self.push_weight, Real) and 0.0 < float(self.push_weight) < 1.0):
            raise ValueError(
                "push_weight must be a number between 0 and 1, which themselves leave nothing "
                f"to balance; got {self.push_weight!r}."
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _principal_coordinates(X: NDArray) -> tuple[NDArray, NDArray]:
    """Coordinates along the principal components, and the map (d, m) that leads to them.

    Directions in which the points do not differ are left out; units are taken out, so that
    squares neither overflow nor vanish.
    """
    size = float(np.max(np.abs(X)))
    centred = X / size
    centred -= centred.mean(axis=0)
    left, lengths, right = np.linalg.svd(centred, full_matrices=False)
    keep = lengths > 1e-7 * lengths[0]
    unit = float(np.sqrt(np.mean(lengths[keep] ** 2)))
    return left[:, keep] * (lengths[keep] / unit), right[keep] / unit / size


@dataclass(frozen=True)
class _Found:
    P: NDArray
    objective: float
    gap: float
    converged: bool
    n_iter: int


def _first_factor(triples: Triples, rank: int | None) -> NDArray:
    """Best multiple of the Euclidean metric, or of that of the leading components."""
    d = triples.points.shape[1]
    P = np.eye(d if rank is None else min(rank, d), d)
    mean = 2.0 * float(np.mean(np.sum(triples.points**2, axis=1)))
    low, high = -10.0, 10.0
    for _ in range(10):
        middle = 0.5 * (low + high)
        factor = np.sqrt(2.0**middle / mean) * P
        slope = np.vdot(triples.at(factor).laplacian, triples.points @ factor.T)
        low, high = (low, middle) if slope > 0.0 else (middle, high)
    return np.sqrt(2.0**low / mean) * P


def _minimise(triples: Triples, P: NDArray, *, max_iter: int, tol: float, verbose: int) -> _Found:
    """L-BFGS on the factor, until the lower bound says that the minimum is near."""
    X, shape = triples.points, P.shape
    capped = shape[0] < shape[1]
    bound = _LowerBound(triples)
    first = triples.at(P)
    # Duplicates may leave nothing to lower but rounding errors.
    unit = max(first.rounded, 1e-9 * float(triples.present.sum()))
    state: dict[str, Any] = {"n_iter": 0, "at": first, "lower": 0.0}

    def gap() -> float:
        return (state["at"].exact - state["lower"]) / unit

    def value(x: NDArray) -> tuple[float, NDArray]:
        state["at"] = at = triples.at(x.reshape(shape))
        return at.rounded / unit, (2.0 / unit) * (at.laplacian.T @ X).ravel()

    def after_iteration(intermediate_result: Any) -> None:
        state["n_iter"] += 1
        if state["n_iter"] % _LOOK == 0:
            state["lower"] = max(state["lower"], bound(intermediate_result.x.reshape(shape)))
        if verbose:
            print(
                f"[LMNN] {state['n_iter']}/{max_iter}  objective {state['at'].exact:.6g}  "
                f"at least {state['lower']:.6g}",
                flush=True,
            )
        if gap() <= tol:
            raise StopIteration

    found = minimize(
        value,
        P.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "maxcor": _CORRECTIONS,
            "ftol": 1e-4 * tol if capped else 0.0,
            "gtol": 0.0,
        },
    )
    P = found.x.reshape(shape)
    state["at"] = triples.at(P)
    state["lower"] = max(state["lower"], bound(P))
    converged = gap() <= tol or (capped and bool(found.success))
    return _Found(P, state["at"].exact, gap(), converged, state["n_iter"])


class _LowerBound:
    """A value that no metric can go below, from the dual problem.

    For weights w in [0, 1] of the triples the objective at any A is at least
    ``mu sum(w) + <G, A>``, with G the gradient by A for these weights. Where G is
    positive semi-definite that is at least ``mu sum(w)``. Where it is not, shrinking w makes
    it so: the gradient at ``s w`` is ``(1 - s)(1 - mu) C + s G``.
    """

    def __init__(self, triples: Triples) -> None:
        self.triples = triples
        values, vectors = np.linalg.eigh((1.0 - triples.push_weight) * triples.pull_matrix())
        # Directions without a pull get a small one, or the bound would be lost to rounding.
        floor = 1e-6 * max(values[-1], 1e-6 * len(triples.points))
        self.whitening = vectors / np.sqrt(np.maximum(values, floor))

    def __call__(self, P: NDArray) -> float:
        X = self.triples.points
        at = self.triples.at(P, X)
        gradient = self.whitening.T @ (X.T @ at.laplacian) @ self.whitening
        least = float(np.linalg.eigvalsh(gradient)[0])
        return at.push / (1.0 - min(least, 0.0))
