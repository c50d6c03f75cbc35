"""How much of a family ``make test`` runs; ``make test-all`` runs all of it."""

import pytest
from hypothesis import settings


def few(cases, quick):
    """Return parameters of a test, marked as slow unless `quick` is true of them."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        if not quick(case)
        else case
        for case in cases
    ]


def examples(part, least=1):
    """Run one in `part` of the examples that the profile asks for."""
    return settings(max_examples=max(least, settings.default.max_examples // part))
