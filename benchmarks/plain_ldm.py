"""LDM in its plainest form: loops over the points, steps by the proven bound."""

import time

import numpy as np


def plain_ldm(X, y, lam=0.0, max_iter=100, seconds=np.inf):
    """Return the metric ``sum_k gamma_k v_k v_k'``, its objective and the number of steps."""
    deadline = time.perf_counter() + seconds
    n = len(X)
    variances, axes = np.linalg.eigh(np.cov(X.T, bias=True))
    axes = axes[:, variances > 1e-12 * variances[-1]]
    Z = X @ axes
    gamma = np.full(Z.shape[1], 1.0 / (2.0 * np.sum(X.var(axis=0))))
    similar = [[j for j in range(n) if j != i and y[j] == y[i]] for i in range(n)]
    dissimilar = [[j for j in range(n) if y[j] != y[i]] for i in range(n)]
    points = [i for i in range(n) if similar[i] and dissimilar[i]]
    width = 1.0 / max(
        max(np.sum((Z[i] - Z[j]) ** 2) for j in similar[i])
        + max(np.sum((Z[i] - Z[j]) ** 2) for j in dissimilar[i])
        for i in points
    )
    for iteration in range(max_iter + 1):
        value, near, far = 0.0, np.zeros_like(gamma), np.zeros_like(gamma)
        for i in points:
            # The largest exponent is taken out, so that no mass underflows.
            squared = [gamma @ (Z[i] - Z[j]) ** 2 for j in range(n)]
            shift = min(squared[j] for j in range(n) if j != i)
            kernel = [np.exp(shift - d2) for d2 in squared]
            mass_s = sum(kernel[j] for j in similar[i])
            mass_d = sum(kernel[j] for j in dissimilar[i])
            hard = mass_d / (mass_s + mass_d)
            value += np.log(mass_s / (mass_s + mass_d))
            for j in similar[i]:
                near += hard * kernel[j] / mass_s * (Z[i] - Z[j]) ** 2
            for j in dissimilar[i]:
                far += hard * kernel[j] / max(mass_d, 1e-300) * (Z[i] - Z[j]) ** 2
        value -= lam * gamma.sum()
        if iteration == max_iter or time.perf_counter() > deadline:
            break
        growth = 2.0 * far / (lam + np.sqrt(lam**2 + 4.0 * near * far))
        gamma = np.maximum(0.0, gamma + width * np.log(growth))
    return (axes * gamma) @ axes.T, value, iteration
