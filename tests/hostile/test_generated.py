"""Ten thousand hostile cases: no NaN, no hang, no foreign exception, no false promise.

``make test`` runs the first few, ``make test-all`` all. A block is a test of its own, so
that two processes share the work and ``pytest --lf`` repeats what failed. One case alone:
``python -m tests.hostile NUMBER``.
"""

import inspect
import random

import pytest

import seraph
from seraph import classic, compat, datasets, metrics, persist, plot
from seraph._apps.cli._tables import KINDS as KINDS_OF_TABLES
from seraph._utils._validation import shown
from tests.hostile.cases import KINDS, run
from tests.hostile.commands import commands, table_files
from tests.hostile.fits import ESTIMATORS
from tests.hostile.others import CALLED, NOTHING_TO_TRY, STAND_INS
from tests.hostile.values import JUNK, some_parameters, values_of

FEW, ALL, BLOCK = 120, 10_000, 100


def kind_of(number):
    return random.Random(number).choices(list(KINDS), list(KINDS.values()))[0]


# The first few, and the first of each kind.
FIRST = {next(number for number in range(ALL) if kind_of(number) is kind) for kind in KINDS}
QUICK = sorted(FIRST | set(range(FEW)))


def run_block(numbers):
    failures = {}
    for number in numbers:
        try:
            run(number)
        except Exception as error:
            failures[number] = f"{type(error).__name__}: {error}"
    assert not failures, "\n".join(f"case {n}: {text}" for n, text in failures.items())


@pytest.mark.parametrize("first", range(4))
def test_a_few_cases(first):
    run_block(QUICK[first::4])


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FEW, ALL, BLOCK))
def test_all_cases(first):
    run_block(range(first, min(first + BLOCK, ALL)))


def test_a_case_is_the_same_on_every_run():
    assert [run(number) for number in range(4)] == [run(number) for number in range(4)]


def test_a_new_parameter_is_tried_at_once():
    class New:
        """Something new.

        Parameters
        ----------
        way : {"left", "right"}, default="left"
            Which way.
        share : float, default=0.5
            How much.
        """

        def __init__(self, *, way="left", share=0.5, quick=False):
            pass

    parameters = inspect.signature(New).parameters
    assert values_of(New, parameters["way"]) == ("left", "right", "left")
    assert 1e12 in values_of(New, parameters["share"])
    assert values_of(New, parameters["quick"]) == (True, False)


def test_every_parameter_of_every_estimator_gets_more_than_its_default():
    rng = random.Random(0)
    for Estimator in ESTIMATORS:
        tried = {name: set() for name in inspect.signature(Estimator).parameters}
        for _ in range(600):
            for name, value in some_parameters(rng, Estimator, junk=0.1).items():
                tried[name].add(shown(value))
            if all(len(values) > 1 for values in tried.values()):
                break
        for name, values in tried.items():
            assert len(values) > 1, f"{Estimator.__name__}({name})"
    assert len(JUNK) > 20


def test_every_public_name_is_tried():
    packages = (seraph, classic, metrics, datasets, plot, persist, compat.metric_learn)
    estimators = {Estimator.__name__ for Estimator in ESTIMATORS}
    for package in packages:
        for name in set(package.__all__) - NOTHING_TO_TRY - CALLED - estimators:
            value = getattr(package, name)
            is_found = (
                hasattr(value, "from_estimator")  # by a_picture
                or (package is datasets and inspect.isfunction(value))
                or (package is compat.metric_learn and name in STAND_INS)
            )
            assert is_found, f"{package.__name__}.{name}: try it in tests/hostile"


def test_every_command_and_every_format_is_tried():
    assert set(commands()) >= {"fit", "ask", "compare", "predict"}
    assert {f".{kind}" for kind in table_files()} >= set(KINDS_OF_TABLES)
