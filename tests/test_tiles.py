"""Rows, cut into parts."""

import pytest

from seraph._utils._tiles import row_slices


@pytest.mark.parametrize("n", [0, 1, 7, 64, 65])
@pytest.mark.parametrize("size", [0, 1, 3, 64, 100])
def test_slices_hold_each_row_once_and_no_more_than_asked_for(n, size):
    slices = row_slices(n, size)
    assert [row for part in slices for row in range(n)[part]] == list(range(n))
    lengths = [part.stop - part.start for part in slices]
    assert max(lengths, default=0) <= max(1, size)
    assert max(lengths, default=0) - min(lengths, default=0) <= 1
    assert len(slices) == -(-n // max(1, size))
