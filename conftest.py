"""For every test, those in docstrings and on pages too."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _one_seed() -> None:
    """``random_state=None`` draws the same numbers in every run."""
    np.random.seed(0)  # noqa: NPY002 -- what random_state=None draws from
