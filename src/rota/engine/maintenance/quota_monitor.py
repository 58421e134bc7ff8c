"""Finds tenants that approach a default quota, so that only their usage is counted.

Counting a million jobs at each submission would slow down every tenant for the sake of one. So a
tenant below `NEAR_QUOTA_SHARE` of a default is not counted, and one above it is counted like a
tenant with an explicit quota. Usage that a tenant adds between two measurements is not checked
against a default.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.contract.quotas import read_stored_quotas
from rota.core.quotas import DEFAULT_QUOTAS, Quotas
from rota.store import gates, tenants
from rota.store.driver import Connection, ConnectionSource
from rota.store.tenants import MeasurableTenant

# Share of a default quota above which a tenant's usage is counted at each submission.
NEAR_QUOTA_SHARE: Final = 0.8
MEASURE_INTERVAL: Final = timedelta(seconds=60)
MEASURE_BATCH_MAX: Final = 20
REST_S: Final = 10.0

CountUsage = Callable[..., Awaitable[int]]
USAGE_COUNTERS: Final[Mapping[str, CountUsage]] = {
    "max_jobs": tenants.count_jobs,
    "max_queued": tenants.count_queued,
    "max_limit_keys": gates.count_keys,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaMonitor:
    source: ConnectionSource
    defaults: Mapping[str, int] = field(default_factory=lambda: DEFAULT_QUOTAS)
    interval: timedelta = MEASURE_INTERVAL

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            due = await tenants.take_measurable(conn, age=self.interval, limit=MEASURE_BATCH_MAX)
            for tenant in due:
                await tenants.apply_default_quotas(
                    conn, tenant.id, await self._find_near_quotas(conn, tenant)
                )
        return 0.0 if len(due) >= MEASURE_BATCH_MAX else REST_S

    async def _find_near_quotas(self, conn: Connection, tenant: MeasurableTenant) -> dict[str, int]:
        """Return the default quotas that apply to a tenant and that it has nearly used up."""
        quotas: Quotas = read_stored_quotas(json.loads(tenant.quotas))
        near: dict[str, int] = {}
        for name, count in USAGE_COUNTERS.items():
            if getattr(quotas, name) is not None or name in quotas.unlimited:
                continue
            limit = self.defaults[name]
            threshold = max(1, int(limit * NEAR_QUOTA_SHARE))
            if await count(conn, tenant_id=tenant.id, limit=threshold) >= threshold:
                near[name] = limit
        return near
