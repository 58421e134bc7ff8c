"""Makes the planner walk indexes in their order, for lists. Room: store.

A list takes a few rows from the end of an index that may have a hundred million entries. The
planner weighs that against sorting, and against walking the index of all ids and leaving out what
is not the tenant's, and errs: it plans for a tenant of average size, where the largest or one
without any run is asked for. So it is told to sort and scan only if there is no other way, to count
rows and not pages, and to keep the plan. Behind the wall between tenants nothing else helps, since
there the tenant is a constant that no order mentions.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from rota.store.driver import Connection
from rota.store.statement import statement
from rota.store.transaction import joined

# How many rows a walk looks at for one page. Looking at so many takes 5 to 25 ms.
LOOK: Final = 5_000
_SETTINGS: Final = {
    "enable_sort": "off",
    "enable_seqscan": "off",
    "random_page_cost": "0",
    "seq_page_cost": "0",
    "plan_cache_mode": "force_generic_plan",
}


class Setting(NamedTuple):
    name: str
    before: str
    after: str


ADJUST = statement("walking/adjust", Setting)


@asynccontextmanager
async def walking(conn: Connection) -> AsyncIterator[None]:
    """The block's statements are walks; those of the transaction around it are not touched."""
    async with joined(conn):
        before = await _adjust(conn, _SETTINGS)
        yield
        # Not after an error: the transaction is over then, and the settings with it.
        await _adjust(conn, before)


async def _adjust(conn: Connection, settings: Mapping[str, str]) -> dict[str, str]:
    rows = await ADJUST.all(conn, names=list(settings), values=list(settings.values()))
    return {row.name: row.before for row in rows}
