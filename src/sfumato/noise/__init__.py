"""Exact noise: integers and rounded reals; it has never heard of epsilon.

Scales, variances and rates are rationals, and are public. Given uniform random bits,
every law here is exact: no floating-point rounding decides an output. The random bits
come from `sfumato.noise.stream` alone.

==========================  ======================================================
`discrete_laplace`          integers, P(x) ~ ``exp(-|x| / scale)``
`discrete_gaussian`         integers, P(x) ~ ``exp(-x**2 / (2 * variance))``
`rounded_laplace`           real values + Laplace noise, rounded to a public grid
`rounded_gaussian`          real values + normal noise, rounded to a public grid
`box_noise`                 one vector, jointly: P(z) ~ ``exp(-max |z_i| / bounds_i ...)``
`spherical_noise`           one vector, jointly: density ~ ``exp(-||z||_2 / scale)``, rounded
`whole_laplace`             continuous Laplace noise, rounded to integers of any size
`whole_gaussian`            likewise, normal
`permute_and_flip`          the index of a good score; the default way to choose
`exponential`               the index of a score, P(i) ~ ``exp(rate * score[i])``
`above_threshold`           the first noisy value above a noisy threshold
`bernoulli_exp`             a coin, P(heads) = ``exp(-rate)``
`uniform_below`             a uniform index
==========================  ======================================================
"""

from sfumato.noise.choose import above_threshold, exponential, permute_and_flip
from sfumato.noise.integers import (
    MAX_VECTOR_SCALE,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    uniform_below,
)
from sfumato.noise.joint import box_noise
from sfumato.noise.rounded import rounded_gaussian, rounded_laplace
from sfumato.noise.sphere import spherical_noise
from sfumato.noise.stream import FixedStream, Stream, default, replaced
from sfumato.noise.whole import whole_gaussian, whole_laplace

__all__ = [
    "MAX_VECTOR_SCALE",
    "FixedStream",
    "Stream",
    "above_threshold",
    "bernoulli_exp",
    "box_noise",
    "default",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "permute_and_flip",
    "replaced",
    "rounded_gaussian",
    "rounded_laplace",
    "spherical_noise",
    "uniform_below",
    "whole_gaussian",
    "whole_laplace",
]
