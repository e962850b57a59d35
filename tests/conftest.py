"""Property tests are bounded by their number of examples, not by a clock: the machine may be busy."""

from hypothesis import HealthCheck, settings

settings.register_profile("toolbreaker", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("toolbreaker")
