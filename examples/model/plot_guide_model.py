r"""
What a pair contributes
=======================

A pair at squared distance :math:`d^2` is alike with probability

.. math:: p = \frac{1}{1 + e^{d^2 - \eta}},

and each kind of pair adds its own term to what SERAPH maximizes: :math:`\ln p` for a pair labeled
alike, :math:`\ln(1 - p)` for a pair labeled different, and minus :math:`\mu` times the entropy
:math:`H(p)` for an unlabeled pair. The right picture shows the derivatives of the three terms, the
forces on the distance. The first pulls, most on pairs that are far apart. The second pushes, most
on pairs that are close. The third moves a pair away from the threshold :math:`\eta`, to whichever
side it is on, and leaves pairs alone that are already far from it.

The picture shows one pair of each kind, with ``eta=1`` and ``mu=1``. In a fit, unlabeled pairs far
outnumber labeled ones, and ``mu="auto"`` gives both kinds the same total weight.
"""

import matplotlib.pyplot as plt
import numpy as np

d2 = np.linspace(0, 6, 400)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained")

for eta, style in ((1.0, "-"), (3.0, "--")):
    left.plot(d2, 1 / (1 + np.exp(d2 - eta)), style, color="C0", label=f"eta = {eta:g}")
left.axhline(0.5, color="0.7", linewidth=1)
left.set(xlabel="squared distance", ylabel="probability of being alike", ylim=(0, 1))
left.set_title("Probability of a pair")
left.legend()

# The forces, for eta = 1 and one pair of each kind.
t = d2 - 1.0
p = 1 / (1 + np.exp(t))
for force, color, text, place in (
    (p, "C3", "labeled different: pushed apart", (1.1, 0.52)),
    (p * (1 - p) * t, "C0", "unlabeled: pushed to one side", (2.6, 0.25)),
    (p - 1, "C2", "labeled alike: pulled together", (2.2, -0.65)),
):
    right.plot(d2, force, color=color)
    right.annotate(text, place, color=color)
right.axhline(0.0, color="0.7", linewidth=1)
right.axvline(1.0, color="0.7", linewidth=1, linestyle=":")
right.set(xlabel="squared distance", ylabel="force on the squared distance")
right.set_title("Force of a pair on its distance")
plt.show()
