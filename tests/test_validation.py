"""A bad parameter gets a message with its name, what is allowed and what came."""

import numpy as np
import pytest

from seraph._utils._validation import check_choice, check_number


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (-1, {"low": 0}, "mu must be a finite number of at least 0; got -1"),
        (True, {"low": 0}, "got True"),
        (np.ones(2), {"low": 0}, "got array"),
        (0.5, {"low": 1}, "at least 1; got 0.5"),
        (2.0, {"low": 1, "integer": True}, "whole number of at least 1; got 2.0"),
        (0, {"low": 1, "instead": None}, "at least 1, or None; got 0"),
        ("Auto", {"low": 0, "instead": "auto"}, "at least 0, or 'auto'; got 'Auto'"),
        (None, {"low": 0, "instead": "auto"}, "or 'auto'; got None"),
    ],
    ids=repr,
)
def test_a_number_that_is_not_allowed_is_refused(value, limits, message):
    with pytest.raises(ValueError, match=rf"^mu must be .*{message.removeprefix('mu must be ')}"):
        check_number("mu", value, **limits)


def test_a_choice_is_one_of_those_listed():
    check_choice("solver", "spg", ("auto", "spg"))
    for other in ("newton", None, 3, []):
        with pytest.raises(
            ValueError, match=r"^solver must be one of 'auto', 'spg'; got "
        ) as error:
            check_choice("solver", other, ("auto", "spg"))
        assert repr(other) in str(error.value)
