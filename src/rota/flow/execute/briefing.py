"""What a claimed run does not carry itself: its policy, and its job's payload. Room: flow/execute.

Both are looked up once and kept: policies never change, and a payload is known by the version of
its job. A claim of a thousand runs costs at most one question for each.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import msgspec

from rota.core.policy import Policy, from_plain
from rota.store import jobs, names
from rota.store.driver import Source
from rota.store.live_runs import Claimed

# Payloads are at most 256 KB each; what is larger than this is asked for again.
MOST_PAYLOADS: Final = 50_000
LARGEST_KEPT: Final = 2_000

Version = tuple[UUID, int]


class Briefing:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._policies: dict[int, Policy] = {}
        self._payloads: OrderedDict[Version, str | None] = OrderedDict()

    def policy(self, policy_id: int) -> Policy:
        return self._policies[policy_id]

    async def brief(self, runs: Sequence[Claimed]) -> list[str | None]:
        """Make sure that all policies are known; return the payload of each run."""
        unknown = {run.policy_id for run in runs} - self._policies.keys()
        lacking = {
            (run.job_id, run.job_version)
            for run in runs
            if run.payload is None and (run.job_id, run.job_version) not in self._payloads
        }
        found: dict[Version, str | None] = {}
        if unknown or lacking:
            found = await self._look_up(unknown, lacking)
        return [self._payload(run, found) for run in runs]

    def _payload(self, run: Claimed, found: dict[Version, str | None]) -> str | None:
        if run.payload is not None:
            return run.payload
        version = (run.job_id, run.job_version)
        return found[version] if version in found else self._payloads.get(version)

    async def _look_up(self, unknown: set[int], lacking: set[Version]) -> dict[Version, str | None]:
        found: dict[Version, str | None] = {}
        async with self._source.acquire() as conn:
            if unknown:
                bodies = await names.policies(conn, sorted(unknown))
                for policy_id, body in bodies.items():
                    self._policies[policy_id] = from_plain(msgspec.json.decode(body))
            if lacking:
                ids = [job_id for job_id, _ in lacking]
                current = {row.id: row for row in await jobs.payloads(conn, ids)}
                for job_id, version in lacking:
                    # Only the job's last payload is stored; an edit has written the old one into
                    # the runs that were there already.
                    row = current.get(job_id)
                    found[job_id, version] = None if row is None else row.payload
        self._keep(found)
        return found

    def _keep(self, found: dict[Version, str | None]) -> None:
        for version, payload in found.items():
            if payload is None or len(payload) <= LARGEST_KEPT:
                self._payloads[version] = payload
        while len(self._payloads) > MOST_PAYLOADS:
            self._payloads.popitem(last=False)
