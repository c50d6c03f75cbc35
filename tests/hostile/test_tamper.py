"""A model file that was changed at one place is refused in words, or holds a model."""

import random
from collections import Counter

import pytest

from tests.hostile.tamper import (
    RESHAPINGS,
    a_tampered_model,
    all_tamperings,
    models,
    outcome,
    sound_file,
    tampered_file,
)

BLOCKS = 60


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_sound_model_of_every_kind_works():
    for kind in models():
        assert outcome(kind, sound_file(kind)) == "works", kind


def test_some_tampered_models():
    for seed in range(25):
        a_tampered_model(random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_tampered_models(block):
    failures, seen, tamperings = {}, Counter(), all_tamperings()
    random.Random(0).shuffle(tamperings)
    for kind, path, how in tamperings[block::BLOCKS]:
        content = tampered_file(kind, path, how)
        if content is None:
            continue
        try:
            end = outcome(kind, content)
        except Exception as error:
            failures[kind, path, how] = f"{type(error).__name__}: {error}"[:200]
            continue
        seen[end] += 1
        if how in RESHAPINGS and end == "answers otherwise":
            failures[kind, path, how] = end
    assert not failures, "\n".join(f"{place}: {text}" for place, text in failures.items())
    assert seen["refused"]
    assert seen["works"]
