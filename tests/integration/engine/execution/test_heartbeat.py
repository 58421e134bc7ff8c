"""A late ending of an older attempt does not stop the vouching for the newer one (E3, E12, I10)."""

import asyncio
from typing import Any
from uuid import UUID

from tests.support.shop import Shop, open_shop, until

from rota.core.executor import AttemptContext
from rota.core.states import RunState
from rota.store import live_runs


async def test_an_older_attempt_that_ends_late_leaves_the_newer_one_vouched_for(
    database: str,
) -> None:
    async with open_shop(database) as shop:
        begun: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}

        @shop.handlers.handler("wait")
        async def wait(context: AttemptContext, _payload: Any) -> None:
            begun[context.attempt] = (asyncio.get_running_loop(), asyncio.Event())
            await begun[context.attempt][1].wait()

        def let_end(attempt: int) -> None:
            loop, event = begun[attempt]
            loop.call_soon_threadsafe(event.set)

        async def is_second_begun() -> bool:
            return 2 in begun

        async with shop.worker():
            run_id = await shop.submit("wait")
            await shop.reaches(run_id, RunState.RUNNING)
            await live_runs.cancel_runs_now(shop.conn, ids=[run_id])
            await live_runs.requeue_runs(shop.conn, ids=[run_id])
            await until(is_second_begun)

            let_end(1)
            verdict = await until(lambda: judged(shop, run_id))
            let_end(2)

        assert verdict == "held"


async def judged(shop: Shop, run_id: UUID) -> str | None:
    """Lost if it was taken back; held if its worker has beaten for long enough after its start."""
    if (2, "lost") in await shop.attempts(run_id):
        return "lost"
    beaten = await shop.conn.fetchval(
        "select s.beat_at > r.started_at + interval '7 s' from rota.live_runs as r"
        " join rota.sessions as s on s.id = r.session_id where r.id = $1 and r.attempt = 2",
        run_id,
    )
    return "held" if beaten else None
