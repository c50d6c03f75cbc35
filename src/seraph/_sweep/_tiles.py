"""The part of a sweep that all backends in memory share: the loop over tiles, and the gradient.

A backend adds a subclass of `Pass`, whose abstract methods supply its arrays, and the `Arithmetic`
of a tile.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from .._utils._typing import Array
from ._plan import PairList, Strip, row_blocks
from ._terms import PairTerms, Variable

# A tile on the diagonal contains the pairs of a point with itself. They get this t, and q = 0:
# exp(-t) is 0 in any precision, and so are their terms and weights.
_SELF_MARGIN = 1e4
# Largest size of an operand that is converted to double precision for a matrix product: 64 MB.
_PRODUCT_NUMBERS = 1 << 23

# An ndarray or a Tensor.
AnyArray = Any
# Value, degrees ``W 1`` and product of the weights with ``Y`` (see `Pass.sweep`).
Sums = tuple[Any, AnyArray, AnyArray]


class Arithmetic(Protocol):
    """The pair terms, for the arrays of a backend; `_formulas` has them for numpy.

    Terms return the sum of ``phi`` over a tile, and an array with ``phi'`` of each pair. They may
    overwrite `t`. `scratch` is None, or two arrays of the shape of `t` to work in.
    """

    @property
    def cross_entropy(self) -> Callable[..., tuple[Any, AnyArray]]:
        """``(t, q, scratch)``: the labeled term (11); q is an array, or 0.0 or 1.0 for all."""

    @property
    def negative_entropy(self) -> Callable[..., tuple[Any, AnyArray]]:
        """``(t, scratch)``: the unlabeled term of (7)."""

    @property
    def e_step(self) -> Callable[..., AnyArray]:
        """``(t, mu, out)``: the q (10) of each pair; `out` is an array to write it to, or None."""


class Pass(ABC):
    """One sweep over the pairs under a factor `P`.

    Parameters
    ----------
    X : array of shape (n, m)
        Points.
    P : ndarray of shape (r, m)
        Factor of the metric.
    terms : PairTerms
        The term of each pair.
    wrt : {"metric", "factor", "threshold"}
        What to differentiate by.
    arithmetic : Arithmetic
        The arithmetic of a tile.
    n_tiled : int, optional
        Number of rows, the first ones, whose pairs are swept in tiles. By default all, or the
        class-labeled ones if no unlabeled pair is swept in a tile.
    """

    xp: Any  # numpy or torch: the functions that have the same name in both
    wide: Any  # dtype of the sums
    least_side = 64  # smallest side of a tile of a share
    gathered_numbers: int  # coordinates of a list of pairs to gather at a time

    def __init__(
        self,
        X: AnyArray,
        P: Array,
        terms: PairTerms,
        wrt: Variable,
        arithmetic: Arithmetic,
        n_tiled: int | None = None,
    ) -> None:
        self.X, self.terms, self.wrt, self.arithmetic = X, terms, wrt, arithmetic
        self.weights = 1.0, 1.0, 1.0  # how many pairs a pair of a tile stands for: see `Weights`
        if n_tiled is None:
            n_tiled = len(X) if terms.tiles_unlabeled else len(terms.codes)
        self.n_tiled = n_tiled
        self.now = self._margins(P)
        self.Z = self.now.Z
        # The derivative by the threshold is the sum of the weights: Y has no columns.
        self.Y = {"metric": X, "factor": self.Z, "threshold": X[:, :0]}[wrt]
        self.frozen: Margins | None = None
        if terms.mu > 0.0 and terms.q is not None and terms.q.P is not None:
            self.frozen = self._margins(terms.q.P)

    def _margins(self, P: Array) -> Margins:
        return Margins(self.xp, self.X @ self._array(P).T, self.terms.eta, self.n_tiled)

    @abstractmethod
    def _array(self, a: Array) -> AnyArray:
        """Return an array of the backend, with the dtype of the points and on their device."""

    @abstractmethod
    def _indices(self, pairs: Array) -> tuple[AnyArray, AnyArray]:
        """Return the first and the second rows of pairs of shape (l, 2), to index the points."""

    @abstractmethod
    def _zeros(self, *shape: int) -> AnyArray:
        """Return zeros of the dtype `wide`."""

    @abstractmethod
    def _widened(self, a: AnyArray) -> AnyArray:
        """Cast an array to the dtype `wide`."""

    @abstractmethod
    def _scratch(self, side: int) -> Any:
        """Allocate the scratch memory of tiles up to this side; None to allocate in each tile."""

    @abstractmethod
    def _views(self, scratch: Any, shape: tuple[int, int]) -> Sequence[Any]:
        """Return four arrays of a tile's shape from `scratch`, for t, q and work; or four None."""

    @abstractmethod
    def _same_class(self, rows: slice, columns: slice, out: AnyArray | None) -> AnyArray:
        """Return the q of pairs of class-labeled rows: 1 where the codes are equal, else 0.

        An array, written to `out` if that is not None; off the diagonal, a scalar if all q of the
        tile are equal.
        """

    def strips(self, side: int, split: int | None = None) -> list[Strip]:
        """Return the tiles of the plan; with `split`, those of rows before it with the others."""
        n, n_labeled = len(self.X), len(self.terms.codes)
        if split is None:
            unlabeled = self.n_tiled > n_labeled
            strips, self.weights = self.terms.plan.tiles(
                n, n_labeled, side, self.least_side, unlabeled=unlabeled
            )
            return strips
        columns = row_blocks(split, n, side)
        return [(rows, columns) for rows in row_blocks(0, split, side)]

    def parts(self, side: int, split: int | None = None) -> list[Sums]:
        """Return the sums over all tiles, in as many parts as the backend likes."""
        strips = self.strips(side, split)
        return [self.sweep(strips)] if strips else []

    def sweep(self, strips: Sequence[Strip]) -> Sums:
        """Sum over some strips of tiles: the value, the degrees ``W 1`` and a product with ``W``.

        ``U`` is the upper triangle of ``W = U + U'``, with half of each tile on the diagonal. By
        the factor the product is ``W Z``. By the metric it is ``X' U X``, which takes half of the
        work of ``X' W X``. Degrees and ``W Z`` end with the last row that the strips visit.
        """
        blocks = [block for rows, columns in strips for block in (rows, *columns)]
        n, width = max(block.stop for block in blocks), self.Y.shape[1]
        scratch = self._scratch(max(block.stop - block.start for block in blocks))
        value, degree = 0.0, self._zeros(n)
        by_factor = self.wrt == "factor"
        product = self._zeros(n, width) if by_factor else self._zeros(width, width)
        for rows, across in strips:
            UY = self._zeros(rows.stop - rows.start, width)
            for columns in across:
                tile_value, weight = self.tile(rows, columns, scratch)
                value += tile_value
                degree[rows] += weight.sum(axis=1)
                degree[columns] += weight.sum(axis=0)
                UY += weight @ self.Y[columns]
                if by_factor:
                    product[columns] += weight.T @ self.Y[rows]
            if by_factor:
                product[rows] += UY
            else:
                product += self._widened(self.Y[rows]).T @ UY
        return value, degree, product

    def tile(self, rows: slice, columns: slice, scratch: Any) -> tuple[Any, AnyArray]:
        """Return value and weights of the pairs rows x columns; half of them on the diagonal."""
        t, q, *room = self._views(scratch, (rows.stop - rows.start, columns.stop - columns.start))
        work = None if room[0] is None else room
        if columns.stop <= len(self.terms.codes):
            scale = self.weights[0]
            t = self.now.tile(rows, columns, t)
            q = self._same_class(rows, columns, q)
            if rows == columns:
                _fill_diagonal(q, 0.0)
            value, weight = self.arithmetic.cross_entropy(t, q, work)
        else:
            scale = self.terms.mu * self.weights[1 + (rows.start >= len(self.terms.codes))]
            value, weight = self._unlabeled_tile(rows, columns, t, q, work)
        if rows == columns:  # the tile has each pair twice
            scale *= 0.5
        if scale != 1.0:
            weight *= scale
        return scale * value, weight

    def _unlabeled_tile(
        self, rows: slice, columns: slice, t: Any, t_old: Any, work: Sequence[Any] | None
    ) -> tuple[Any, AnyArray]:
        t = self.now.tile(rows, columns, t)
        if self.frozen is not None:
            t_old = self.frozen.tile(rows, columns, t_old)
        return self._unlabeled(t, t_old, work)

    def _unlabeled(
        self, t: AnyArray, t_old: AnyArray, work: Sequence[Any] | None = None
    ) -> tuple[Any, AnyArray]:
        """Return unlabeled terms; `t` and `t_old`, under the frozen metric, may be overwritten."""
        if self.terms.q is None:
            return self.arithmetic.negative_entropy(t, work)
        if self.frozen is None:
            return self.arithmetic.cross_entropy(t, 0.0, work)
        q = self.arithmetic.e_step(t_old, self.terms.mu, t_old)
        return self.arithmetic.cross_entropy(t, q, work)

    def total(self, parts: Sequence[Sums]) -> tuple[Any, AnyArray]:
        """Return value and gradient of all pairs: these parts of the tiles, and `of_lists`."""
        value, gradient = self.of_lists()
        if parts:
            more, degree, product = self.added(parts)
            value += more
            gradient += self._gradient(degree[:, None], product)
        return value, gradient

    def of_lists(self) -> tuple[Any, AnyArray]:
        """Return value and gradient of the pairs outside tiles: the marked, and a plan's list."""
        value, gradient = self.sum_list(self.terms.pairs, marked=True)
        plan, mu = self.terms.plan, self.terms.mu
        if mu > 0.0 and plan.pairs is not None:
            scale = mu * plan.weight
            more, part = self.sum_list(plan.pairs, marked=False)
            value, gradient = value + scale * more, gradient + scale * part
        return value, gradient

    def added(self, parts: Sequence[Sums]) -> Sums:
        """Add up parts of a sweep, in their order."""
        degree, product = (self._sum([part[which] for part in parts]) for which in (1, 2))
        return sum(part[0] for part in parts), degree, product

    def _sum(self, parts: Sequence[AnyArray]) -> AnyArray:
        """Add arrays in their order; shorter ones are padded with rows of zeros."""
        total = self._zeros(*max((part.shape for part in parts), key=lambda shape: shape[0]))
        for part in parts:
            total[: len(part)] += part
        return total

    def _gradient(self, degree: AnyArray, product: AnyArray) -> AnyArray:
        """Return the gradient from degrees and product: ``Lap(W) = diag(W 1) - W``."""
        if self.wrt == "threshold":
            return -0.5 * degree.sum()
        gradient = self._zeros(self.Y.shape[1], self.X.shape[1])
        for rows in chunks(len(degree), product_rows(self.X.shape[1])):
            X, Y = self._widened(self.X[rows]), self.Y[rows]
            if self.wrt == "factor":
                gradient += 2.0 * (degree[rows] * Y - product[rows]).T @ X
            else:
                gradient += X.T @ (degree[rows] * Y)
        return gradient if self.wrt == "factor" else gradient - product - product.T

    def list_terms(
        self, chunk: slice, t: AnyArray, t_old: AnyArray, *, marked: bool
    ) -> tuple[Any, AnyArray]:
        """Return value and weights of some pairs of a list.

        Unlabeled pairs have their terms; marked ones have theirs minus the unlabeled terms that
        tiles have added.
        """
        if not marked:
            return self._unlabeled(t, t_old)
        # 1.0 * t is a copy, since the first term may overwrite it.
        value, weight = self._labeled(chunk, 1.0 * t)
        if not self.terms.tiles_unlabeled:
            return value, weight
        swept_value, swept_weight = self._unlabeled(t, t_old)
        weight -= self.terms.mu * swept_weight
        return value - self.terms.mu * swept_value, weight

    def _labeled(self, chunk: slice, t: AnyArray) -> tuple[Any, AnyArray]:
        """Return the labeled terms of marked pairs: ``phi`` of (11), times their weights."""
        q = self._array(self.terms.similar[chunk]).reshape(t.shape)
        if self.terms.weights is None:
            return self.arithmetic.cross_entropy(t, q, None)
        weights = self._array(self.terms.weights[chunk]).reshape(t.shape)
        phi = self.xp.clip(t, None, 0.0) - q * t - self.xp.log1p(self.xp.exp(-self.xp.abs(t)))
        _, weight = self.arithmetic.cross_entropy(t, q, None)
        return (weights * phi).sum(dtype=self.wide), weights * weight

    def sum_list(self, pairs: Array | PairList | None, *, marked: bool) -> tuple[Any, AnyArray]:
        """Return value and gradient of a list of pairs.

        Parameters
        ----------
        pairs : ndarray of shape (l, 2), PairList or None
            The pairs, whose points are gathered; None if each row of `X` is the difference
            ``x_i - x_j`` of a pair.
        marked : bool
            Whether these are the marked pairs, or else unlabeled ones of weight 1.
        """
        value, n_columns = 0.0, self.X.shape[1]
        by_threshold = self.wrt == "threshold"
        gradient = self._zeros() if by_threshold else self._zeros(self.Y.shape[1], n_columns)
        # (The derivative by the threshold needs no points: Y has no columns.)
        arrays = [self.Y if by_threshold else self.X, self.Z]
        if self.frozen is not None:
            arrays.append(self.frozen.Z)
        n_pairs = len(self.X if pairs is None else pairs)
        for chunk in chunks(n_pairs, max(1, self.gathered_numbers // n_columns)):
            if pairs is None:
                dX, *dZ = (array[chunk] for array in arrays)
            else:
                i, j = self._indices(pairs[chunk])
                dX, *dZ = (array[i] - array[j] for array in arrays)
            t = [self.xp.einsum("kr,kr->k", d, d)[None] - self.terms.eta for d in dZ]
            part, weight = self.list_terms(chunk, t[0], t[-1], marked=marked)
            value += part
            if by_threshold:
                gradient -= weight.sum(dtype=self.wide)
            elif self.wrt == "factor":
                gradient += 2.0 * (weight * dZ[0].T) @ dX
            else:
                gradient += (weight * dX.T) @ dX
        return value, gradient


class Margins:
    """``t_ij = ||z_i - z_j||^2 - eta`` of tiles of the first `n_tiled` rows."""

    def __init__(self, xp: Any, Z: AnyArray, eta: float, n_tiled: int) -> None:
        self.xp, self.Z, self.eta = xp, Z, eta
        if n_tiled == 0:
            return
        Z = Z[:n_tiled]
        squares = xp.einsum("ir,ir->i", Z, Z)[:, None]
        ones = xp.ones_like(squares)
        # t is one inner product, of (-2 z_i, |z_i|^2 - eta, 1) and (z_j, 1, |z_j|^2).
        self.left = xp.hstack([-2.0 * Z, squares - eta, ones])
        self.right = xp.hstack([Z, ones, squares])

    def tile(self, rows: slice, columns: slice, out: AnyArray | None) -> AnyArray:
        """Return the t of the pairs rows x columns."""
        t = self.xp.matmul(self.left[rows], self.right[columns].T, out=out)
        self.xp.clip(t, -self.eta, None, out=t)  # rounding can make a squared distance negative
        if rows == columns:
            _fill_diagonal(t, _SELF_MARGIN)
        return t


def _fill_diagonal(square: AnyArray, value: float) -> None:
    square.reshape(-1)[:: len(square) + 1] = value


def chunks(n: int, size: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of a given size."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def product_rows(width: int) -> int:
    """Return how many rows of this width to convert and multiply at a time."""
    return max(_PRODUCT_NUMBERS // max(width, 1), 1)
