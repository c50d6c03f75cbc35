"""What is wrong is refused in words, and what came in is left as it was.

That anything else gives a sound metric or such an error is for tests/hostile.
"""

import numpy as np
import pytest
from hypothesis import given

from seraph import SERAPH, Marks
from tests.helpers.strategies import (
    DISORDERS,
    FLAWS,
    WRONG_LABELS,
    WRONG_SIGNS,
    cases,
    examples,
    parameters,
    sound_cases,
    spoiled,
)
from tests.helpers.trial import attempt

WRONG = [
    (part, flaw)
    for part, flaws in [
        ("points", FLAWS),
        ("labels", WRONG_LABELS),
        ("pairs", DISORDERS),
        ("signs", WRONG_SIGNS),
    ]
    for flaw in flaws
]


@pytest.mark.parametrize(("part", "flaw"), WRONG)
@examples(50)
@given(case=sound_cases())
def test_what_is_wrong_is_refused_in_words(case, part, flaw):
    case = spoiled(case, part, flaw)
    assert isinstance(attempt(lambda: SERAPH().fit(**case.arguments)), ValueError | TypeError)


@examples(4)
@given(case=cases(), parameters=parameters())
def test_what_came_in_is_left_as_it_was(case, parameters):
    arguments, parts = case.arguments, {"rows": 0} if case.marked is None else case.marked.parts
    marks = arguments.pop("marks", None)
    before = written_out({**parts, **arguments})
    attempt(lambda: Marks(**parts))
    attempt(lambda: SERAPH(**parameters).fit(**arguments, marks=marks))
    assert written_out({**parts, **arguments}) == before
    assert marks == case.arguments.get("marks")


def written_out(arguments):
    return {name: repr(np.asarray(value).tolist()) for name, value in arguments.items()}
