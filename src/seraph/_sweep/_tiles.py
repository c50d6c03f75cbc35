"""Sums over tiles and lists of pairs in memory, and their gradients, for all array libraries.

A backend makes a `Pass` with its `Arithmetic`, gives it strips of tiles and lists, in parallel or
one after the other, and adds up the results with `Pass.total`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from ._formulas import AnyArray, Arithmetic, Scratch
from ._lists import Listed
from ._plan import Strip
from ._terms import PairTerms, Variable

# A tile on the diagonal contains the pairs of a point with itself. They get this t, and q = 0:
# exp(-t) is 0 in any precision, and so are their terms and weights.
_SELF_MARGIN = 1e4
# Largest size of an operand that is converted to double precision for a matrix product: 64 MB.
_PRODUCT_NUMBERS = 1 << 23

# Value, degrees ``W 1`` and product of the weights with ``Y`` (see `Pass.sum_tiles`).
Sums = tuple[Any, AnyArray, AnyArray]


def count_rows(pairs: Iterable[Strip | Listed]) -> int:
    """Count the rows up to the last one of some tiles or lists."""
    return max((some.stop for some in pairs), default=0)


class Pass:
    """One pass over the pairs under a factor `P`.

    Parameters
    ----------
    arithmetic : Arithmetic
        The pair terms, for the arrays of a library.
    X : array of shape (n, m)
        Points.
    P : array of shape (r, m)
        Factor of the metric.
    terms : PairTerms
        The term of each pair. Tiles and lists come with their own weights.
    wrt : {"metric", "factor", "threshold"}
        What to differentiate by.
    n_tiled : int
        Number of rows, the first ones, whose pairs are summed in tiles.
    """

    def __init__(
        self,
        arithmetic: Arithmetic,
        X: AnyArray,
        P: AnyArray,
        terms: PairTerms,
        wrt: Variable,
        n_tiled: int,
    ) -> None:
        self.arithmetic, self.xp, self.wide = arithmetic, arithmetic.xp, arithmetic.wide
        self.X, self.terms, self.wrt, self.n_tiled = X, terms, wrt, n_tiled
        self.codes = arithmetic.codes(terms.codes)
        self.now = self._find_margins(P)
        self.Z = self.now.Z
        # The derivative by the threshold is the sum of the weights: Y has no columns.
        self.Y = {"metric": X, "factor": self.Z, "threshold": X[:, :0]}[wrt]
        self.frozen: Margins | None = None
        if terms.mu > 0.0 and terms.q is not None and terms.q.P is not None:
            self.frozen = self._find_margins(terms.q.P)

    def _find_margins(self, P: AnyArray) -> Margins:
        Z = self.X @ self.arithmetic.array(P).T
        return Margins(self.xp, Z, self.terms.eta, self.n_tiled)

    def sum_tiles(self, strips: Sequence[Strip]) -> Sums:
        """Sum over strips of tiles: the value, the degrees ``W 1`` and a product with ``W``.

        ``U`` is the upper triangle of ``W = U + U'``, with half of each tile on the diagonal. By
        the factor the product is ``W Z``. By the metric it is ``X' U X``, which takes half of the
        work of ``X' W X``. Degrees and ``W Z`` end with the last row that the strips visit.
        """
        zeros = self.arithmetic.zeros
        blocks = [block for strip in strips for block in (strip.rows, *strip.columns)]
        scratch = self.arithmetic.scratch(max([block.stop - block.start for block in blocks]))
        n, width = max([block.stop for block in blocks]), self.Y.shape[1]
        value, degree = 0.0, zeros(n)
        by_factor = self.wrt == "factor"
        product = zeros(n, width) if by_factor else zeros(width, width)
        for strip in strips:
            rows = strip.rows
            UY = zeros(rows.stop - rows.start, width)
            for columns in strip.columns:
                tile_value, weight = self._sum_tile(strip, columns, scratch)
                value += tile_value
                degree[rows] += weight.sum(axis=1)
                degree[columns] += weight.sum(axis=0)
                UY += weight @ self.Y[columns]
                if by_factor:
                    product[columns] += weight.T @ self.Y[rows]
            if by_factor:
                product[rows] += UY
            else:
                product += self.arithmetic.widen(self.Y[rows]).T @ UY
        return value, degree, product

    def _sum_tile(
        self, strip: Strip, columns: slice, scratch: Callable[[tuple[int, int]], Scratch]
    ) -> tuple[Any, AnyArray]:
        """Return value and weights of the pairs rows x columns; half of them on the diagonal."""
        rows = strip.rows
        t, q, *work = scratch((rows.stop - rows.start, columns.stop - columns.start))
        if strip.labeled:
            t = self.now.tile(rows, columns, t)
            q = self._compare_classes(rows, columns, q)
            value, weight = self.arithmetic.cross_entropy(t, q, work)
        elif self.terms.q is None:
            value, weight = self.arithmetic.entropy_of_tile(self.now, rows, columns, t, work)
        else:
            t = self.now.tile(rows, columns, t)
            t_old = None if self.frozen is None else self.frozen.tile(rows, columns, q)
            value, weight = self._sum_unlabeled(t, t_old, work)
        scale = strip.weight if rows != columns else 0.5 * strip.weight
        if scale != 1.0:
            weight *= scale
        return scale * value, weight

    def _compare_classes(self, rows: slice, columns: slice, out: AnyArray | None) -> AnyArray:
        """Return the q of class-labeled pairs: 1 where the codes are equal, else 0.

        Rows are often sorted by class: a tile whose pairs all have the same q has a scalar.
        """
        left, right = self.terms.codes[rows], self.terms.codes[columns]
        if left.max() < right.min() or right.max() < left.min():
            return 0.0
        if rows != columns and left.min() == right.max() and left.max() == right.min():
            return 1.0
        q = self.arithmetic.equal(self.codes[rows, None], self.codes[None, columns], out)
        if rows == columns:
            _fill_diagonal(q, 0.0)
        return q

    def _sum_unlabeled(
        self, t: AnyArray, t_old: AnyArray | None, work: Scratch = (None, None)
    ) -> tuple[Any, AnyArray]:
        """Return unlabeled terms; `t` and `t_old`, under the frozen metric, may be overwritten."""
        if self.terms.q is None:
            return self.arithmetic.negative_entropy(t, work)
        q = 0.0 if t_old is None else self.arithmetic.e_step(t_old, self.terms.mu, t_old)
        return self.arithmetic.cross_entropy(t, q, work)

    def total(
        self, parts: Sequence[Sums], lists: Iterable[tuple[Any, AnyArray]] = ()
    ) -> tuple[Any, AnyArray]:
        """Return value and gradient of parts of the tiles, and of lists."""
        value, gradient = 0.0, self._no_gradient()
        for more, part in lists:
            value, gradient = value + more, gradient + part
        if parts:
            more, degree, product = self.add(parts)
            value, gradient = (
                value + more,
                gradient + self._compute_gradient(degree[:, None], product),
            )
        return value, gradient

    def add(self, parts: Sequence[Sums]) -> Sums:
        """Add up parts of a pass, in their order."""
        degree, product = (self._add([part[which] for part in parts]) for which in (1, 2))
        return sum(part[0] for part in parts), degree, product

    def _add(self, parts: Sequence[AnyArray]) -> AnyArray:
        """Add arrays in their order; shorter ones are padded with rows of zeros."""
        longest = max((part.shape for part in parts), key=lambda shape: shape[0])
        found = self.arithmetic.zeros(*longest)
        for part in parts:
            found[: len(part)] += part
        return found

    def _no_gradient(self) -> AnyArray:
        shape = () if self.wrt == "threshold" else (self.Y.shape[1], self.X.shape[1])
        return self.arithmetic.zeros(*shape)

    def _compute_gradient(self, degree: AnyArray, product: AnyArray) -> AnyArray:
        """Return the gradient from degrees and product: ``Lap(W) = diag(W 1) - W``."""
        if self.wrt == "threshold":
            return -0.5 * degree.sum()
        gradient = self._no_gradient()
        for rows in cut_range(len(degree), count_product_rows(self.X.shape[1])):
            X, Y = self.arithmetic.widen(self.X[rows]), self.Y[rows]
            if self.wrt == "factor":
                gradient += 2.0 * (degree[rows] * Y - product[rows]).T @ X
            else:
                gradient += X.T @ (degree[rows] * Y)
        return gradient if self.wrt == "factor" else gradient - product - product.T

    def sum_list(self, listed: Listed) -> tuple[Any, AnyArray]:
        """Return value and gradient of a list of pairs."""
        pairs, value, gradient = listed.every().pairs, 0.0, self._no_gradient()
        by_threshold = self.wrt == "threshold"
        # (The derivative by the threshold needs no points: Y has no columns.)
        arrays = [self.Y if by_threshold else self.X, self.Z]
        if self.frozen is not None:
            arrays.append(self.frozen.Z)
        n_pairs = len(self.X if pairs is None else pairs)
        size = max(1, self.arithmetic.gathered_numbers // self.X.shape[1])
        for chunk in cut_range(n_pairs, size):
            if pairs is None:
                dX, *dZ = (array[chunk] for array in arrays)
            else:
                i, j = self.arithmetic.indices(pairs[chunk].T)
                dX, *dZ = (array[i] - array[j] for array in arrays)
            t = [self.xp.einsum("kr,kr->k", d, d)[None] - self.terms.eta for d in dZ]
            part, weight = self.sum_terms(listed, chunk, t)
            value += part
            if by_threshold:
                gradient -= weight.sum(dtype=self.wide)
            elif self.wrt == "factor":
                gradient += 2.0 * (weight * dZ[0].T) @ dX
            else:
                gradient += (weight * dX.T) @ dX
        return value, gradient

    def sum_terms(
        self, listed: Listed, chunk: slice, margins: Sequence[AnyArray]
    ) -> tuple[Any, AnyArray]:
        """Return value and weights of some pairs of a list.

        Parameters
        ----------
        listed : Listed
            The list.
        chunk : slice
            Which of its pairs.
        margins : list of one or two arrays of the same shape
            ``t`` of these pairs, and ``t`` under the frozen metric if there is one. Overwritten.
        """
        t, *t_old = margins
        value, weight = 0.0, 0.0
        if listed.similar is not None:
            q, weights = (
                None if a is None else self.arithmetic.array(a[chunk]).reshape(t.shape)
                for a in (listed.similar, listed.weights)
            )
            # 1.0 * t is a copy: the unlabeled term needs t, too.
            value, weight = self.arithmetic.cross_entropy(1.0 * t, q, weights=weights)
        if listed.unlabeled:
            more, part = self._sum_unlabeled(t, *t_old or [None])
            value += listed.unlabeled * more
            part *= listed.unlabeled
            weight += part
        return value, weight


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


def cut_range(n: int, size: int) -> Iterator[slice]:
    """Cut ``range(n)`` into slices of a given size."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def count_product_rows(width: int) -> int:
    """Return how many rows of this width to convert and multiply at a time."""
    return max(_PRODUCT_NUMBERS // max(width, 1), 1)
