"""Which cases of a family ``make test`` runs; ``make test-all`` runs all of them."""

import pytest


def few(cases, quick):
    """Return parameters of a test, marked as slow unless `quick` is true of them."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        if not quick(case)
        else case
        for case in cases
    ]
