"""Makes the planner scan indexes in their order, for lists.

A list reads a few rows from the end of an index that may have a hundred million entries. The
planner weighs that against sorting, and against scanning the index of all ids and filtering by
tenant. It often chooses wrong, because it plans for a tenant of average size, while the request may
be for the largest tenant or for one without runs. These settings make it sort or scan a table only
as a last resort, cost rows instead of pages, and keep the plan. Under row-level security nothing
else helps, because there the tenant is a constant that no sort order mentions.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import join_transaction

# How many rows a scan may read for one page. That takes 5 to 25 ms.
SCAN_ROWS_MAX: Final = 5_000
_SETTINGS: Final = {
    "enable_sort": "off",
    "enable_seqscan": "off",
    "random_page_cost": "0",
    "seq_page_cost": "0",
    "plan_cache_mode": "force_generic_plan",
}


class PlannerSetting(NamedTuple):
    name: str
    before: str
    after: str


SET_PLANNER_SETTINGS = statement("ordered_scan/set_planner_settings", PlannerSetting)


@asynccontextmanager
async def ordered_scan(conn: Connection) -> AsyncIterator[None]:
    """Scan in index order inside the block; other statements of the transaction are unaffected."""
    async with join_transaction(conn):
        before = await _adjust(conn, _SETTINGS)
        yield
        # Not after an error: the transaction and its settings have ended then.
        await _adjust(conn, before)


async def _adjust(conn: Connection, settings: Mapping[str, str]) -> dict[str, str]:
    rows = await SET_PLANNER_SETTINGS.all(
        conn, names=list(settings), values=list(settings.values())
    )
    return {row.name: row.before for row in rows}
