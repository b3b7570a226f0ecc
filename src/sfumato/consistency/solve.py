"""Weighted least squares under any constraints.

Equations alone are solved through their normal equations. With inequalities the
quadratic programme goes to Clarabel, an interior-point solver (Apache-2.0, wheels for
all systems): unlike first-order solvers such as OSQP it reaches 1e-8 without tuning,
and unlike an active-set method it does not slow down where thousands of cells are held
at zero, as they are in sparse tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.consistency.system import Floats, System
from sfumato.errors import ArgumentError, MissingExtraError
from sfumato.words import N_

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["CLOSE", "Equations", "minimise", "need_solver"]

CLOSE = 1e-6  # of the largest number: a constraint met within it holds
_DENSE = 4000  # equations whose Gram matrix is formed
_CHUNK = 1 << 14


def need_solver() -> None:
    """Refuse where the extra is not installed, before anything is computed.

    Raises:
        MissingExtraError: scipy or clarabel is missing.
    """
    try:
        import clarabel  # noqa: F401
        import scipy  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            N_("these constraints need a solver that is not installed"),
            hint=N_("pip install 'sfumato[consistency]'"),
        ) from None


class Equations:
    """``A x = b`` and the Gauss-Markov estimate under it.

    The estimate is ``y - V Aᵀ (A V Aᵀ)⁺ (A y - b)`` for noisy figures y with variances
    V; its error has covariance ``V - V Aᵀ (A V Aᵀ)⁺ A V``.
    """

    def __init__(self, matrix: csr_array[Any], right: Floats, spread: Floats) -> None:
        """Factor the Gram matrix; equations may repeat each other."""
        self._matrix, self._right, self._spread = matrix, right, spread
        gram = (matrix * spread) @ matrix.T
        values, vectors = np.linalg.eigh(gram.toarray())
        kept = values > max(values.max(initial=0.0), 0.0) * len(values) * 1e-13
        self._half = vectors[:, kept] / np.sqrt(values[kept])

    @staticmethod
    def fits(count: int) -> bool:
        """Tell whether that many equations are few enough for this way."""
        return count <= _DENSE

    def adjust(self, values: Floats) -> Floats:
        """Return the least-squares values."""
        gap = self._matrix @ values - self._right
        solved = self._half @ (self._half.T @ gap)
        adjusted: Floats = values - self._spread * (self._matrix.T @ solved)
        return adjusted

    def gap(self, values: Floats) -> float:
        """Return the largest violation of an equation."""
        return float(np.max(np.abs(self._matrix @ values - self._right), initial=0.0))

    def variances(self) -> Floats:
        """Return the variance of the error of each adjusted figure."""
        across = self._matrix.T.tocsr()
        lost = np.empty(across.shape[0])
        for start in range(0, len(lost), _CHUNK):
            part = across[start : start + _CHUNK] @ self._half
            lost[start : start + _CHUNK] = (part**2).sum(axis=1)
        return np.maximum(self._spread - self._spread**2 * lost, 0.0)


def minimise(values: Floats, spread: Floats, system: System) -> Floats | None:
    """Return the x of least ``Σ (x - values)²/spread`` under the system.

    Figures of variance 0 stay as they are. None when no x satisfies the constraints.

    Raises:
        ArgumentError: The solver did not converge.
    """
    import clarabel
    from scipy import sparse

    # In units of each standard deviation the objective is ½|z|².
    sigma = np.sqrt(spread)
    free = np.where(spread > 0)[0]
    equal = sparse.csr_array(system.equal.matrix(system.size))
    most = sparse.csr_array(system.most.matrix(system.size))
    low, high = np.isfinite(system.low), np.isfinite(system.high)
    unit = sparse.eye_array(system.size, format="csr")
    inequalities = sparse.vstack([most, unit[high], -unit[low]], format="csr")
    bounds = np.concatenate([system.most.right, system.high[high], -system.low[low]])
    full = sparse.vstack([equal, inequalities], format="csr")
    right = np.concatenate([system.equal.right, bounds]) - full @ values
    scaled = sparse.csc_array(full * sigma)[:, free]
    # Bring every row to unit length: constraints of a total and of a cell weigh alike.
    norms = np.sqrt(np.asarray((scaled.power(2)).sum(axis=1)).ravel())
    fixed = norms == 0
    slack = CLOSE * max(1.0, float(np.max(np.abs(values), initial=0.0)))
    count = equal.shape[0]
    if (np.abs(right[:count][fixed[:count]]) > slack).any():
        return None
    if (right[count:][fixed[count:]] < -slack).any():
        return None
    keep = ~fixed
    scale = sparse.diags_array(1 / norms[keep])
    cones = [
        clarabel.ZeroConeT(int(keep[:count].sum())),
        clarabel.NonnegativeConeT(int(keep[count:].sum())),
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.eye_array(len(free), format="csc")),
        np.zeros(len(free)),
        sparse.csc_matrix(scale @ scaled.tocsr()[keep]),
        right[keep] / norms[keep],
        cones,
        settings,
    )
    solution = solver.solve()
    status = str(solution.status)
    if status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
        return None
    if status not in ("Solved", "AlmostSolved"):
        raise ArgumentError(
            N_("the solver did not find consistent figures ({status})"),
            hint=N_("scale figures and variances to a like size, or drop constraints"),
            status=status,
        )
    found = values.astype(np.float64)
    found[free] += sigma[free] * np.asarray(solution.x)
    return np.clip(found, system.low, system.high)
