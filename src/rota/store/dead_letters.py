"""Groups dead letters of one kind by error.

The database function `rota.failure_fingerprint` decides which failures are alike. The list of dead
letters (run_views.py) and bulk changes (revival.py) filter by the same function, kind and time, so
a group is exactly what is listed, counted and changed.
"""

import json
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.bulk_operations import COUNTED_RUNS_MAX, BulkRunFilter
from rota.store import interning
from rota.store.driver import Connection
from rota.store.ordered_scan import ordered_scan
from rota.store.statement import statement

# The newest dead letters that are grouped for one list of groups.
GROUPED_MAX: Final = 5000
# The newest dead letters that are examined for one group: as many as one action may change.
GROUP_LOOK_MAX: Final = COUNTED_RUNS_MAX
HOURS_SHOWN: Final = 24


class DeadGroup(NamedTuple):
    """Dead letters of one kind with the same error; `message` and `sample_id` are of the newest.

    `hours` is JSON: how many ended how many hours ago. `versions` are versions of the definitions.
    `jobs` is JSON: the five jobs with the most failures; submissions are one entry without an id.
    `is_partial`: there were more dead letters than were examined.
    """

    kind: str
    type: str
    message: str
    frame: str | None
    fingerprint: str
    number: int
    first_at: datetime
    last_at: datetime
    hours: str | None
    versions: list[int]
    jobs: str
    job_count: int
    sample_id: UUID
    is_partial: bool

    def counts_per_hour(self) -> list[int]:
        """Return how many ended in each of the last 24 hours, the oldest hour first."""
        ended: dict[str, int] = json.loads(self.hours or "{}")
        return [ended.get(str(ago), 0) for ago in range(HOURS_SHOWN - 1, -1, -1)]


DEAD_GROUPS = statement("run_views/dead_groups", DeadGroup)


async def list_groups(
    conn: Connection, run_filter: BulkRunFilter, *, tenant_id: int, limit: int = 50
) -> list[DeadGroup]:
    """Group the newest dead letters that ended in the filter's period, the latest group first."""
    return await _read_groups(conn, run_filter, tenant_id=tenant_id, most=limit, look=GROUPED_MAX)


async def get_group(
    conn: Connection, run_filter: BulkRunFilter, *, tenant_id: int
) -> DeadGroup | None:
    """Return the group of this kind and fingerprint; None if it is empty."""
    found = await _read_groups(conn, run_filter, tenant_id=tenant_id, most=1, look=GROUP_LOOK_MAX)
    return found[0] if found else None


async def _read_groups(
    conn: Connection, which: BulkRunFilter, *, tenant_id: int, most: int, look: int
) -> list[DeadGroup]:
    kind_id = None
    if which.kind is not None:
        kind_id = (await interning.find_kinds(conn, [which.kind])).get(which.kind)
        if kind_id is None:
            return []
    async with ordered_scan(conn):
        return await DEAD_GROUPS.all(
            conn,
            tenant_id=tenant_id,
            since=which.since,
            until=which.until,
            job_id=which.job_id,
            kind_id=kind_id,
            fingerprint=which.fingerprint,
            most=most,
            look=look,
        )
