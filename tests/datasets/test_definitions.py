"""The definitions: what the shipped vectors are, and that they mean something."""

from importlib.resources import files

import numpy as np
import pytest

from seraph.datasets import load_definitions
from seraph.metrics import precision_at_1


@pytest.fixture(scope="module")
def definitions():
    return load_definitions()


def test_there_are_100_definitions_of_each_kind(definitions):
    assert definitions.X.shape == (1000, 384)
    assert len(definitions.texts) == len(set(definitions.texts)) == 1000
    assert np.bincount(definitions.y).tolist() == [100] * len(definitions.target_names)
    assert all(": " in text and len(text) <= 120 for text in definitions.texts)
    assert repr(definitions) == "Definitions(1000 texts, 384 features, 10 classes)"


def test_the_vectors_have_unit_length(definitions):
    assert definitions.X.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(definitions.X, axis=1), 1, rtol=1e-6)
    assert len(np.unique(definitions.X, axis=0)) == 1000


def test_the_nearest_definition_is_usually_of_the_same_kind(definitions):
    assert precision_at_1(definitions.X, definitions.y) > 0.7


def test_similar_texts_are_near(definitions):
    def near(word):
        row = [text.partition(":")[0] for text in definitions.texts].index(word)
        order = np.argsort(-definitions.X @ definitions.X[row])
        return [definitions.texts[k] for k in order[1:4]]

    assert any("feeling" in text or "desire" in text for text in near("caprice"))
    assert any("tree" in text or "plant" in text for text in near("sapling"))


def test_the_notice_of_wordnet_is_shipped():
    notice = (files("seraph.datasets") / "LICENSE-wordnet.txt").read_text()
    assert "WordNet 3.1 Copyright 2011 by Princeton University" in notice
    assert "Permission to use, copy, modify and distribute" in notice
