"""Every model times every way out and back: the same answers, or a refusal with a reason.

A cell is a public estimator or all models of a page, and a way. ``make test`` runs a tenth of the
cells, ``make test-all`` all of them. A new estimator, a new page and a new way join by themselves.
"""

import re

import pytest

from tests.matrix.cases import PAGES, ROOT, case_of, cases_on, estimators
from tests.matrix.ways import REFUSALS, WAYS

# Pages that run in seconds, one with text and missing numbers.
QUICK_PAGES = ("docs/classify.md", "docs/saving.md")

pytestmark = pytest.mark.filterwarnings("ignore")


def cells():
    """Yield the name of a model or a page, and of a way; a tenth of them is quick."""
    for row, name in enumerate([*estimators(), *PAGES]):
        for column, way in enumerate(WAYS):
            quick = name in QUICK_PAGES if name in PAGES else (row + 7 * column) % 10 == 0
            yield pytest.param(name, way, marks=() if quick else pytest.mark.slow)


@pytest.mark.parametrize(("name", "way"), list(cells()))
def test_answers_are_the_same_or_the_refusal_has_a_reason(name, way):
    for case in cases_on(name) if name in PAGES else [case_of(name)]:
        try:
            WAYS[way](case)
        except Exception as error:
            expected = [words for words, ways, _ in REFUSALS if way in ways]
            if not any(re.search(words, str(error)) for words in expected):
                error.add_note(f"{way}: {case.model}")
                raise


def test_a_tenth_of_the_cells_is_quick():
    marks = [bool(cell.marks) for cell in cells()]
    assert 0.05 < 1.0 - sum(marks) / len(marks) < 0.15


def test_the_page_of_promises_lists_every_refusal_and_no_other():
    table = (ROOT / "docs" / "promises.md").read_text().split("## Ways out and back")[1]
    rows = re.findall(r"^\| (`.*) \| (.*) \|$", table, re.MULTILINE)
    assert rows == [
        (", ".join(f"`{way}`" for way in ways), reason) for _, ways, reason in REFUSALS
    ]
