"""Finds tenants that come near a default quota, so that only they are counted. Room: flow/record.

Counting a million jobs at each submission would cost every tenant for the sake of one. So a tenant
below `NEAR` of a default is not counted at all, and one above it is counted like a tenant with a
quota of its own. What a tenant adds between two measurements is not held against a default.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from rota.contract.quotas import read_stored_quotas
from rota.core.quotas import DEFAULT_QUOTAS, Quotas
from rota.store import gates, tenants
from rota.store.driver import Connection, Source
from rota.store.tenants import Measurable

# The share of a default from which on a tenant is counted at each submission.
NEAR: Final = 0.8
MEASURE_INTERVAL: Final = timedelta(seconds=60)
MEASURE_BATCH_MAX: Final = 20
REST_S: Final = 10.0

Count = Callable[..., Awaitable[int]]
COUNTS: Final[Mapping[str, Count]] = {
    "max_jobs": tenants.count_jobs,
    "max_queued": tenants.count_queued,
    "max_limit_keys": gates.count_keys,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaMonitor:
    source: Source
    defaults: Mapping[str, int] = field(default_factory=lambda: DEFAULT_QUOTAS)
    interval: timedelta = MEASURE_INTERVAL

    async def tick(self) -> float:
        async with self.source.acquire() as conn:
            due = await tenants.take_measurable(conn, age=self.interval, limit=MEASURE_BATCH_MAX)
            for tenant in due:
                await tenants.hold_back(conn, tenant.id, await self._near(conn, tenant))
        return 0.0 if len(due) >= MEASURE_BATCH_MAX else REST_S

    async def _near(self, conn: Connection, tenant: Measurable) -> dict[str, int]:
        """Return the defaults that apply to a tenant and of which it uses much."""
        given: Quotas = read_stored_quotas(json.loads(tenant.quotas))
        near: dict[str, int] = {}
        for name, count in COUNTS.items():
            if getattr(given, name) is not None or name in given.unlimited:
                continue
            limit = self.defaults[name]
            enough = max(1, int(limit * NEAR))
            if await count(conn, tenant_id=tenant.id, most=enough) >= enough:
                near[name] = limit
        return near
