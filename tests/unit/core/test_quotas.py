"""Quotas of a tenant: turned into what its gate lets through (T1)."""

from datetime import timedelta

from rota.core.limits import GateLimits, RateLimit
from rota.core.quotas import Quotas

SECOND = timedelta(seconds=1)


def test_quotas_on_running_are_limits_of_a_gate() -> None:
    both = Quotas(max_running=7, runs_per_s=3)

    assert both.gate_limits == GateLimits(
        max_running=7, rate=RateLimit(count=3, per=SECOND, burst=3)
    )
    assert Quotas(max_running=7).gate_limits == GateLimits(max_running=7)
    assert Quotas(max_jobs=7, max_queued=9).gate_limits is None
