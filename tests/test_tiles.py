"""Rows and pairs of rows, cut into parts."""

import numpy as np
import pytest

from seraph._utils._tiles import row_slices, upper_tiles


@pytest.mark.parametrize("n", [0, 1, 7, 64, 65])
@pytest.mark.parametrize("size", [0, 1, 3, 64, 100])
def test_slices_hold_each_row_once_and_no_more_than_asked_for(n, size):
    slices = row_slices(n, size)
    assert [row for part in slices for row in range(n)[part]] == list(range(n))
    lengths = [part.stop - part.start for part in slices]
    assert max(lengths, default=0) <= max(1, size)
    assert max(lengths, default=0) - min(lengths, default=0) <= 1
    assert len(slices) == -(-n // max(1, size))


@pytest.mark.parametrize("n", [0, 1, 7, 20])
@pytest.mark.parametrize("side", [1, 3, 20, 100])
def test_tiles_hold_each_pair_once_or_twice_on_the_diagonal(n, side):
    count = np.zeros((n, n), dtype=int)
    for rows, columns in upper_tiles(n, side):
        assert (rows is columns) == (rows == columns)
        count[rows, columns] += 1
        if rows is not columns:
            count[columns, rows] += 1
    assert (count == 1).all()
