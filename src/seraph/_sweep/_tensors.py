"""The `Arithmetic` of a tile on tensors: the functions of `_formulas`."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def wide(t: Tensor) -> torch.dtype:
    """Return the dtype of sums: float64, except on "mps", which does not have it."""
    return torch.float32 if t.device.type == "mps" else torch.float64


def cross_entropy(
    t: Tensor, q: Tensor | float, _scratch: Sequence[Tensor] | None = None
) -> tuple[Tensor, Tensor]:
    """Sum and weights of (11), as `_formulas.cross_entropy`; `t` is kept."""
    value = (t.clamp(max=0.0) - q * t - torch.log1p(torch.exp(-t.abs()))).sum(dtype=wide(t))
    return value, torch.sigmoid(-t).sub_(q)


def negative_entropy(t: Tensor, _scratch: Sequence[Tensor] | None = None) -> tuple[Tensor, Tensor]:
    """Sum and weights of the term of (7), as `_formulas.negative_entropy`; `t` is kept."""
    size = t.abs()
    e = torch.exp(-size)
    share = e / (1.0 + e)
    value = -(torch.log1p(e) + size * share).sum(dtype=wide(t))
    return value, share.mul_(t).div_(e.add_(1.0))


def e_step(t: Tensor, mu: float, out: Tensor) -> Tensor:
    """Solution (10) of the E-step, as `_formulas.e_step`."""
    return torch.sigmoid(torch.mul(t, -(1.0 + mu), out=out), out=out)
