"""Graphs with maps for tests: begun, looked at, and steered."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import msgspec

from rota.core.ids import build_id
from rota.core.states import RunState
from rota.core.submissions import JobSpec
from rota.engine.graphs import control
from rota.engine.submission import run_cancellation
from rota.engine.submission.job_submission import submit_jobs
from rota.store import graph_views
from rota.store.graph_maps import MapRow
from rota.store.live_runs import StoredRun
from tests.support.shop import CLOCK, Shop, until


async def begin(shop: Shop, *steps: dict[str, Any], **payload: Any) -> UUID:
    """A run of a graph with these steps, and this input."""
    spec = JobSpec(
        name=f"graph {shop.chance.random()}",
        kind="graph",
        tenant="default",
        schedule={"immediate": True},
        payload=payload,
        graph={"steps": list(steps)},
    )
    made = await submit_jobs(
        shop.conn,
        [spec],
        now=CLOCK.now(),
        new_id=lambda: build_id(CLOCK.now(), shop.chance.randbytes(10)),
    )
    assert made[0].run_id is not None
    return made[0].run_id


async def the_map(shop: Shop, run_id: UUID, step: int = 0) -> MapRow:
    return (await graph_views.read_maps(shop.conn, tenant_id=1, run_id=run_id))[step]


async def map_when(shop: Shop, run_id: UUID, **wanted: Any) -> MapRow:
    """The first map of a graph run, once its counters are these."""

    async def look() -> MapRow | None:
        found = (await graph_views.read_maps(shop.conn, tenant_id=1, run_id=run_id)).get(0)
        if found is None:
            return None
        seen = {name: getattr(found, name) for name in wanted}
        return found if seen == wanted else None

    return await until(look, patience=60.0)


async def alive(shop: Shop, run_id: UUID) -> int:
    """How many members are in the hot table."""
    found = await shop.conn.fetchval(
        "select count(*) from rota.live_runs where graph_run_id = $1 and member is not null", run_id
    )
    return int(found)


async def ended(shop: Shop, run_id: UUID) -> dict[str, int]:
    """How many members are in history, by state."""
    rows = await shop.conn.fetch(
        "select state::text, count(*) from rota.runs where graph_run_id = $1"
        " and member is not null group by 1",
        run_id,
    )
    return {row[0]: row[1] for row in rows}


async def comes(condition: Callable[[], bool]) -> None:
    """Wait until it is so."""

    async def look() -> bool:
        return condition()

    await until(look)


async def cancel(shop: Shop, run_id: UUID) -> None:
    await run_cancellation.cancel_run(
        shop.conn, tenant_id=1, run_id=run_id, by="a test", now=CLOCK.now()
    )


async def retry(shop: Shop, run_id: UUID) -> None:
    await control.retry_failed_steps(
        shop.conn, tenant_id=1, run_id=run_id, by="a test", now=CLOCK.now()
    )


async def ends_as(shop: Shop, run_id: UUID, state: RunState) -> StoredRun:
    """Wait for its end; thousands of members take their time on a busy machine."""

    async def over() -> StoredRun | None:
        run = await shop.look(run_id)
        return run if run.finished_at else None

    run = await until(over, patience=60.0)
    assert run.state is state, run.reason
    return run


def result(run: StoredRun) -> Any:
    return None if run.result is None else msgspec.json.decode(run.result)
