"""Caches what a claimed run does not carry itself: its policy, tenant name and job data.

Each is looked up once and cached: policies and tenant names never change, and job data is keyed by
job version. A claim of a thousand runs costs at most one query for each kind of data.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, NamedTuple
from uuid import UUID

import msgspec

from rota.contract.policy import read_policy_or_unreadable
from rota.core.policy import Policy
from rota.store import interning, jobs
from rota.store.driver import ConnectionSource
from rota.store.jobs import JobPayload
from rota.store.live_runs import ClaimedRun

# Payloads are at most 256 KB each; larger ones than `CACHED_PAYLOAD_MAX` are read again every time.
CACHED_JOBS_MAX: Final = 50_000
CACHED_PAYLOAD_MAX: Final = 2_000

JobVersion = tuple[UUID, int]


class CachedJobSpec(NamedTuple):
    """The cached data of one job version: its payload, used by runs that carry none, and whether
    its runs must not overlap. A payload that `is_large` is not cached.
    """

    payload: str | None
    forbids_overlap: bool
    is_large: bool


# A job that was deleted since: its runs continue with what they carry.
DELETED_JOB: Final = CachedJobSpec(None, forbids_overlap=False, is_large=False)
# A job version that is not cached yet.
UNCACHED_JOB: Final = CachedJobSpec(None, forbids_overlap=False, is_large=False)


class JobSpecCache:
    def __init__(self, source: ConnectionSource) -> None:
        self._source = source
        self.policies: dict[int, Policy] = {}
        # Tenant names, which never change; "" for a deleted tenant.
        self.tenants: dict[int, str] = {}
        self._known: OrderedDict[JobVersion, CachedJobSpec] = OrderedDict()

    def get_policy(self, policy_id: int) -> Policy:
        return self.policies[policy_id]

    async def load_specs(self, runs: Sequence[ClaimedRun]) -> list[CachedJobSpec]:
        """Load missing policies and tenant names; return the job data of each run."""
        unknown = {run.policy_id for run in runs} - self.policies.keys()
        nameless = {run.tenant_id for run in runs} - self.tenants.keys()
        if nameless:
            await self._name_tenants(nameless)
        known, lacking, specs = self._known, set[JobVersion](), list[CachedJobSpec]()
        for run in runs:
            if run.job_id == run.id:
                # A submission carries all its data itself.
                specs.append(DELETED_JOB)
                continue
            job = known.get((run.job_id, run.job_version), UNCACHED_JOB)
            if job is UNCACHED_JOB or (job.is_large and run.payload is None):
                lacking.add((run.job_id, run.job_version))
            specs.append(job)
        if unknown or lacking:
            found = await self._look_up(unknown, lacking)
            specs = [
                job if job is DELETED_JOB else found.get(version) or known[version]
                for version, job in zip(
                    ((run.job_id, run.job_version) for run in runs), specs, strict=True
                )
            ]
        return specs

    async def _look_up(
        self, unknown: set[int], lacking: set[JobVersion]
    ) -> dict[JobVersion, CachedJobSpec]:
        found: dict[JobVersion, CachedJobSpec] = {}
        async with self._source.acquire() as conn:
            if unknown:
                bodies = await interning.read_policies(conn, sorted(unknown))
                for policy_id, body in bodies.items():
                    self.policies[policy_id] = read_policy_or_unreadable(msgspec.json.decode(body))
            if lacking:
                found = dict.fromkeys(lacking, DELETED_JOB)
                for row in await jobs.read_payloads(conn, sorted(lacking)):
                    found[row.id, row.version] = build_spec(row)
        self._keep(found)
        return found

    async def _name_tenants(self, ids: set[int]) -> None:
        async with self._source.acquire() as conn:
            found = await interning.read_tenant_names(conn, sorted(ids))
        self.tenants |= {tenant_id: found.get(tenant_id, "") for tenant_id in ids}

    def _keep(self, found: dict[JobVersion, CachedJobSpec]) -> None:
        for version, job in found.items():
            self._known[version] = job._replace(payload=None) if job.is_large else job
        while len(self._known) > CACHED_JOBS_MAX:
            self._known.popitem(last=False)


def build_spec(row: JobPayload) -> CachedJobSpec:
    is_large = row.payload is not None and len(row.payload) > CACHED_PAYLOAD_MAX
    return CachedJobSpec(row.payload, row.forbids_overlap, is_large)
