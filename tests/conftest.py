"""What every test shares: the same random examples in each run.

A test that fails now and then teaches people to run it again. ``make test`` therefore draws
hypothesis's examples from fixed seeds; ``HYPOTHESIS_PROFILE=explore`` searches new ones, as
``make test-slow`` does.
"""

import os

from hypothesis import HealthCheck, settings

PATIENT = {  # a busy machine is no failure
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
settings.register_profile("steady", derandomize=True, database=None, **PATIENT)
settings.register_profile("explore", derandomize=False, **PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
