"""Load definitions of nouns as the vectors that a language model gave them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils._typing import Array
from ._files import read_arrays


@dataclass(frozen=True, eq=False)
class Definitions:
    """Definitions from WordNet, and the vector of each.

    Parameters
    ----------
    X : ndarray of float32 of shape (1000, 384)
        Vectors of unit length, so that Euclidean distance and cosine order the pairs alike.
    y : ndarray of int of shape (1000,)
        Kind of noun, from 0 to 9.
    target_names : tuple of str
        Names of the kinds.
    texts : tuple of str
        The definitions, such as "bear cub: a young bear".

    Examples
    --------
    >>> from seraph.datasets import load_definitions
    >>> load_definitions()
    Definitions(1000 texts, 384 features, 10 classes)
    """

    X: Array
    y: Array
    target_names: tuple[str, ...]
    texts: tuple[str, ...]

    def __repr__(self) -> str:
        return (
            f"Definitions({len(self.X)} texts, {self.X.shape[1]} features, "
            f"{len(self.target_names)} classes)"
        )


def load_definitions() -> Definitions:
    """Load 1,000 definitions of nouns as vectors of a language model, offline.

    WordNet 3.1 sorts nouns into kinds. These are 100 definitions of each of ten kinds, from
    animals to substances. The model is all-MiniLM-L6-v2, which was not trained to tell the kinds
    apart: a frozen embedding, as many people have today. Neither the model nor a network
    connection is needed to load them.

    Returns
    -------
    Definitions
        Vectors, kinds and texts, ordered by kind.

    Raises
    ------
    ValueError
        If the data file is damaged.

    Notes
    -----
    The package ships each vector in 8 bits per number; its cosine with the original is above
    0.9999. The model's license is Apache 2.0; WordNet's permits any use that keeps its notice,
    which is in ``LICENSE-wordnet.txt`` beside the vectors.

    References
    ----------
    C. Fellbaum (ed.). WordNet: an electronic lexical database. MIT Press 1998.

    Examples
    --------
    >>> from seraph.datasets import load_definitions
    >>> definitions = load_definitions()
    >>> definitions.target_names[:4]
    ('animal', 'artifact', 'body', 'communication')
    >>> definitions.texts[2]
    'bear cub: a young bear'
    """
    arrays = read_arrays("definitions.npz")
    codes = arrays["codes"].astype(np.float32)
    return Definitions(
        X=codes / np.linalg.norm(codes, axis=1, keepdims=True),
        y=arrays["y"].astype(np.int64),
        target_names=tuple(map(str, arrays["target_names"])),
        texts=tuple(arrays["texts"].tobytes().decode().split("\n")),
    )
