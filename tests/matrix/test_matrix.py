"""Every model times every way out and back: the same answers, or a refusal with a reason.

A cell is a public estimator and a way. ``make test`` runs a tenth of the cells, ``make test-all``
all cells. A new estimator and a new way join by themselves.
"""

import re

import pytest

from tests.matrix.cases import case_of, estimators
from tests.matrix.ways import REFUSALS, WAYS

pytestmark = pytest.mark.filterwarnings("ignore")


def cells():
    """Yield the name of a model and of a way; some are quick."""
    for row, name in enumerate(estimators()):
        for column, way in enumerate(WAYS):
            quick = (row + 7 * column) % 10 == 0
            yield pytest.param(name, way, marks=() if quick else pytest.mark.slow)


@pytest.mark.parametrize(("name", "way"), list(cells()))
def test_answers_are_the_same_or_the_refusal_has_a_reason(name, way):
    case = case_of(name)
    try:
        WAYS[way](case)
    except Exception as error:
        expected = [words for words, ways in REFUSALS.items() if way in ways]
        if not any(re.search(words, str(error)) for words in expected):
            error.add_note(f"{way}: {case.model}")
            raise
