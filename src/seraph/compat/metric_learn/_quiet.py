"""Keep quiet about what metric-learn does not mention either."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet(category: type[Warning], *, unless: bool) -> Iterator[None]:
    """Ignore warnings of one category in a block, unless the user wants to hear of it."""
    with warnings.catch_warnings():
        if not unless:
            warnings.simplefilter("ignore", category)
        yield
