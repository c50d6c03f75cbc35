"""A bad parameter gets a message with its name, what is allowed and what came."""

from fractions import Fraction

import numpy as np
import pytest

from seraph._utils._validation import (
    check_choice,
    check_flag,
    check_n_jobs,
    check_number,
    check_seed,
)


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (-1, {"low": 0}, "mu must be a finite number of at least 0; got -1"),
        (np.nan, {"low": 0}, "got nan"),
        (np.inf, {"low": 0}, "got inf"),
        ("some", {"low": 0}, "got 'some'"),
        (None, {"low": 0}, "got None"),
        (True, {"low": 0}, "got True"),
        (1j, {"low": 0}, "got 1j"),
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


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        (0, {"low": 0}),
        (np.float32(0.5), {"low": 0}),
        (Fraction(1, 2), {"low": 0}),
        (np.int8(1), {"low": 1, "integer": True}),
        ("auto", {"low": 0, "instead": "auto"}),
        (None, {"low": 1, "instead": None}),
    ],
    ids=repr,
)
def test_a_number_of_any_type_is_taken(value, limits):
    check_number("mu", value, **limits)


def test_a_choice_is_one_of_those_listed():
    check_choice("solver", "spg", ("auto", "spg"))
    for other in ("newton", None, 3, []):
        with pytest.raises(
            ValueError, match=r"^solver must be one of 'auto', 'spg'; got "
        ) as error:
            check_choice("solver", other, ("auto", "spg"))
        assert repr(other) in str(error.value)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (lambda value: check_flag("diagonal", value), [True, np.False_], ["yes", 1, None]),
        (check_n_jobs, [None, 1, -1, np.int64(2)], [0, 1.5, "all", True]),
        (check_seed, [None, 0, np.random.RandomState(0)], ["seed", -1, 1.5, [None]]),
    ],
    ids=["flag", "n_jobs", "seed"],
)
def test_flags_threads_and_seeds(check, good, bad):
    for value in good:
        check(value)
    for value in bad:
        with pytest.raises(ValueError, match=r" must be .*got "):
            check(value)


def test_a_whole_number_too_large_for_a_float_is_refused():
    with pytest.raises(ValueError, match="max_iter must be a finite whole number"):
        check_number("max_iter", 10**400, low=1, integer=True)
