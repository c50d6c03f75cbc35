"""The settings of a fit, checked once and the same for every estimator of the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np

from .._solvers import SOLVERS, Solver
from .._sweep import SampleSizes, check_backend
from .._utils._validation import (
    check_choice,
    check_n_jobs,
    check_number,
    check_seed,
    check_verbose,
    shown,
)
from ._callback import FitState


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of `learn`; most are parameters of `SERAPH`.

    Parameters
    ----------
    name : str
        The class or function that the user called, for messages.
    lam_factor, mu_factor : float, default=1.0
        Multiples of `lam` and `mu`, whether these are numbers or "auto".
    device : str, optional
        Where torch computes, once the backend is chosen.
    average : bool, default=False
        Whether to average the metric with those for other weights of the trace.
    toward_neighbors : bool, default=False
        Whether to find a target of shrinkage that knows the neighbors.
    sizes : SampleSizes
        From which sizes on pairs are sampled.
    """

    name: str = "SERAPH"
    mu: float | Literal["auto"] = "auto"
    lam: float | Literal["auto"] = "auto"
    mu_factor: float = 1.0
    lam_factor: float = 1.0
    average: bool = False
    toward_neighbors: bool = False
    eta: float = 1.0
    gamma: float | None = None
    manifold: float = 0.0
    solver: str = "auto"
    n_components: int | None = None
    max_iter: int = 200
    tol: float = 1e-3
    unlabeled_pairs: int | float | Literal["auto", "all"] = "auto"
    backend: str = "auto"
    device: str | None = None
    callback: Callable[[FitState], object] | None = None
    verbose: int = 0
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    sizes: SampleSizes = field(default_factory=SampleSizes)

    @property
    def gpu(self) -> str | None:
        """The device, if it is a GPU that has double precision."""
        return self.device if (self.device or "").startswith("cuda") else None

    @classmethod
    def of(cls, estimator: Any, **changes: Any) -> Self:
        """Read and check the parameters of an estimator.

        Parameters
        ----------
        estimator : estimator
            Has the parameters above as attributes.
        **changes
            Settings that the estimator lacks or calls by another name.
        """
        names = {field.name for field in fields(cls)}
        given = {name: value for name, value in vars(estimator).items() if name in names}
        return cls(**{"name": type(estimator).__name__, **given, **changes})

    def __post_init__(self) -> None:
        """Refuse settings that are wrong or that do not go together."""
        for name in ("mu", "lam"):
            check_number(name, getattr(self, name), low=0, instead="auto")
        for name in ("eta", "manifold", "tol"):
            check_number(name, getattr(self, name), low=0)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("gamma", self.gamma, low=0, instead=None)
        check_number("n_components", self.n_components, low=1, integer=True, instead=None)
        check_choice("solver", self.solver, tuple(SOLVERS))
        check_backend(self.backend)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)
        check_seed(self.random_state)
        self._check_unlabeled_pairs()
        if self.callback is not None and not callable(self.callback):
            raise ValueError(
                "callback must be a function of one argument, or None; got "
                f"{shown(self.callback)}."
            )
        self._check_combinations()

    def _check_unlabeled_pairs(self) -> None:
        size = self.unlabeled_pairs
        if isinstance(size, Integral) and not isinstance(size, bool):
            is_valid = size >= 1
        elif isinstance(size, Real) and not isinstance(size, bool):
            is_valid = 0.0 < size <= 1.0
        else:
            is_valid = isinstance(size, str) and size in ("auto", "all")
        if is_valid:
            return
        raise ValueError(
            'unlabeled_pairs must be "auto", "all", a number of pairs (a whole number of at least '
            f"1) or a share of them (above 0 and up to 1.0); got {shown(size)}."
        )

    def _check_combinations(self) -> None:
        if self.n_components is not None and not self.method.adapts_rank:
            raise ValueError(
                f"n_components={self.n_components} caps the rank, which solver={self.solver!r} "
                f"cannot do: use {_names(lambda solver: solver.adapts_rank)}."
            )
        if self.gamma is not None and not self.method.finds_scale:
            raise ValueError(
                f"gamma={self.gamma} asks for the full model (6), whose kappa "
                f"solver={self.solver!r} cannot find: use "
                f"{_names(lambda solver: solver.finds_scale)}; or gamma=None."
            )

    @property
    def method(self) -> Solver:
        """The solver that runs."""
        return SOLVERS[self.solver]

    def sample_size(self, n_unlabeled: int) -> int | None:
        """Number of unlabeled pairs that the user wants sampled; None for "auto" and "all"."""
        if isinstance(self.unlabeled_pairs, str):
            return None
        if isinstance(self.unlabeled_pairs, Integral):
            size = int(self.unlabeled_pairs)
        else:
            size = max(1, round(self.unlabeled_pairs * n_unlabeled))
        return size if size < n_unlabeled else None


def _names(is_able: Callable[[Solver], bool]) -> str:
    """List the solvers that are able to do something, for a message."""
    *others, last = [f'"{name}"' for name, solver in SOLVERS.items() if is_able(solver)]
    return f"solver={', '.join(others)} or {last}"
