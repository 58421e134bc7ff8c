"""A worker's own clock decides nothing that is stored or compared with the database's (A5)."""

from datetime import timedelta
from typing import Any

import pytest
from tests.support.shop import Shop, until
from tests.support.wrong_clock import WrongClock

from rota.core.executor import AttemptContext, Retry
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState

HOUR = timedelta(hours=1)
AT_ONCE = RetryPolicy(
    max_retries=2, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
)
OFFSETS = pytest.mark.parametrize("offset", [HOUR, -HOUR], ids=["+1 h", "-1 h"])


@OFFSETS
async def test_a_deadline_that_has_not_come_leaves_time_to_retry(
    shop: Shop, offset: timedelta
) -> None:
    tries = iter(range(2))

    @shop.handlers.handler("second try")
    async def second_try(_context: AttemptContext, _payload: Any) -> None:
        if next(tries) == 0:
            raise Retry("not yet")

    shop.clock = WrongClock(offset)
    now = await shop.conn.fetchval("select rota.now()")
    run_id = await shop.submit(
        "second try", policy=Policy(retries=AT_ONCE), deadline_at=now + HOUR / 2
    )
    async with shop.worker():
        run = await shop.ends(run_id)

    assert (run.state, run.attempt) == (RunState.SUCCEEDED, 2)


@OFFSETS
async def test_what_a_handler_prints_is_stored_with_the_databases_time(
    shop: Shop, offset: timedelta
) -> None:
    @shop.handlers.handler("speak")
    async def speak(_context: AttemptContext, _payload: Any) -> None:
        print("hello")  # noqa: T201

    async def line() -> Any:
        return await shop.conn.fetchval("select logged_at from rota.run_logs limit 1")

    shop.clock = WrongClock(offset)
    before = await shop.conn.fetchval("select rota.now()")
    run_id = await shop.submit("speak")
    async with shop.worker():
        await shop.ends(run_id)
        at = await until(line)
    after = await shop.conn.fetchval("select rota.now()")

    # The estimate may lag behind by as long as an answer took.
    assert before - timedelta(seconds=1) <= at <= after
