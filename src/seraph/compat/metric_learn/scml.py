"""Sparse compositional metric learning, from triplets and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import check_array

from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ...classic._scml import compose, in_mean_distances, local_directions
from ._base_metric import MahalanobisMixin, PointLearner
from ._guesses import _TripletsClassifierMixin
from .constraints import Constraints, known_codes

__all__ = ["SCML", "SCML_Supervised"]


class _BaseSCML(MahalanobisMixin):
    _bases: tuple[str, ...] = ("triplet_diffs",)

    def __init__(
        self,
        beta: float = 1e-5,
        basis: Any = "triplet_diffs",
        n_basis: int | None = None,
        gamma: float = 5e-3,
        max_iter: int = 10000,
        output_iter: int = 500,
        batch_size: int = 10,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.beta = beta
        self.basis = basis
        self.n_basis = n_basis
        self.gamma = gamma
        self.max_iter = max_iter
        self.output_iter = output_iter
        self.batch_size = batch_size
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _check_numbers(self, *names: str) -> None:
        for name in (*names, "max_iter"):
            check_number(name, getattr(self, name), low=1, integer=True)
        check_number("n_basis", self.n_basis, low=1, integer=True, instead=None)

    def _learn(self, points: Array, rows: Array) -> Self:
        m = points.shape[1]
        near, far, unit = in_mean_distances(points.astype(float), rows)
        if not isinstance(self.basis, np.ndarray):
            check_choice("basis", self.basis, self._bases)
            n_basis = min(20 * m, 500) if self.n_basis is None else int(self.n_basis)
            basis = local_directions(
                points / unit,
                rows[:, 0],
                near,
                far,
                n_basis=n_basis,
                random_state=self.random_state,
            )
        else:
            basis = check_array(self.basis, input_name="basis")
            if basis.shape[1] != m:
                raise ValueError(
                    f"basis must have {m} columns, one for each feature; got shape {basis.shape}."
                )
        beta = float(self.beta) / unit**2  # of the weights in the unit of X
        P, fitted = compose(near, far, basis, beta, self.max_iter, 1e-3)
        components = np.zeros((m, m))  # as many rows as features, whatever the rank
        components[: len(P)] = P / unit
        return self._adopt(components, n_iter_=fitted["n_iter_"])


class SCML(_TripletsClassifierMixin, _BaseSCML):
    """Sparse compositional metric learning from triplets, by the solver of `seraph.classic.SCML`.

    Parameters
    ----------
    beta : float, default=1e-05
        Weight of the sum of the weights: larger values keep fewer directions.
    basis : str or ndarray, default="triplet_diffs"
        The directions to choose from: a name (both give local discriminants), or an array
        of shape (n_basis, n_features).
    n_basis : int, optional
        Number of directions to choose from.
    gamma : float, default=0.005
        Step size of metric-learn's stochastic solver; not used.
    max_iter : int, default=10000
        Maximum number of iterations.
    output_iter, batch_size : int
        Settings of metric-learn's stochastic solver; not used.
    verbose : bool, default=False
        Whether to warn if the solver stops early; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    random_state : int, RandomState instance or None, default=None
        Seed of the directions.

    Examples
    --------
    >>> from seraph.compat.metric_learn import SCML
    >>> triplets = [[[0.0, 0.0], [0.0, 3.0], [1.0, 0.0]], [[1.0, 0.0], [1.1, 4.0], [0.0, 0.1]]]
    >>> SCML(n_basis=4).fit(triplets).predict(triplets).tolist()
    [1, 1]
    """

    def fit(self, triplets: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        triplets : array-like of shape (n_triplets, 3, n_features) or (n_triplets, 3)
            Triplets of points, or of indicators: the first is closer to the second.
        """
        self._check_numbers()
        formed = self._tuples(triplets, size=3)
        points, rows = np.unique(formed.reshape(-1, formed.shape[2]), axis=0, return_inverse=True)
        return self._learn(points, rows.reshape(-1, 3))


class SCML_Supervised(PointLearner, _BaseSCML):  # noqa: N801
    """Sparse compositional metric learning from classes, by the solver of `seraph.classic.SCML`.

    Parameters
    ----------
    k_genuine : int, default=3
        Number of neighbors of the same class that a point is compared with.
    k_impostor : int, default=10
        Number of neighbors of other classes.
    beta, basis, n_basis, gamma, max_iter, output_iter, batch_size
        As for `SCML`; `basis` may be "lda", too, which gives the same directions.
    verbose, preprocessor, random_state
        As for `SCML`.

    Examples
    --------
    >>> from seraph.compat.metric_learn import SCML_Supervised
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SCML_Supervised(n_basis=40).fit(X, y).transform(X).shape
    (150, 4)
    """

    _bases = ("triplet_diffs", "lda")

    def __init__(
        self,
        k_genuine: int = 3,
        k_impostor: int = 10,
        beta: float = 1e-5,
        basis: Any = "lda",
        n_basis: int | None = None,
        gamma: float = 5e-3,
        max_iter: int = 10000,
        output_iter: int = 500,
        batch_size: int = 10,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        self.k_genuine = k_genuine
        self.k_impostor = k_impostor
        settings = (beta, basis, n_basis, gamma, max_iter, output_iter, batch_size, verbose)
        super().__init__(*settings, preprocessor, random_state)

    def _learn_labels(self, points: Array, y: Array) -> Self:
        self._check_numbers("k_genuine", "k_impostor")
        rows = Constraints(known_codes(y)).generate_knntriplets(
            points, self.k_genuine, self.k_impostor
        )
        if len(rows) == 0:
            raise ValueError(
                "SCML needs at least two classes, one of them with at least two members, to make "
                "triplets from; y has too few."
            )
        return self._learn(points, rows)
