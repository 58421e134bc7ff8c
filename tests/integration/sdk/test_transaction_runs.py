"""What was handed in with a transaction is carried out by a real worker, once it is committed."""

from typing import Any
from uuid import UUID

import asyncpg
import psycopg
from tests.support.shop import open_shop

from rota.core.executor import AttemptContext
from rota.core.states import RunState
from rota.sdk.transaction import TransactionJob, in_transaction


def run_of(made: TransactionJob) -> UUID:
    return UUID((made.run_id or "").removeprefix("run_"))


async def test_a_run_begins_after_the_commit_and_not_before(database: str) -> None:
    got: list[Any] = []
    async with open_shop(database) as shop:

        @shop.handlers.handler("send_receipt")
        async def send_receipt(_context: AttemptContext, payload: Any) -> str:
            got.append(payload)
            return "sent"

        async with shop.worker():
            with psycopg.connect(database) as ours:
                lost = in_transaction(ours).create_job(kind="send_receipt", payload={"order": 1})
                ours.rollback()
                made = in_transaction(ours).create_job(kind="send_receipt", payload={"order": 2})
                ours.commit()
            run = await shop.ends(run_of(made))

    assert run.state is RunState.SUCCEEDED
    assert got == [{"order": 2}]
    assert lost.run_id != made.run_id


async def test_a_handler_hands_on_the_next_job_in_its_own_transaction(database: str) -> None:
    """Exactly once: the effect, the end of the run and the next job are one commit (E2)."""
    handed: list[TransactionJob] = []
    async with open_shop(database) as shop:
        await shop.conn.execute("create table paid (id integer primary key)")

        @shop.handlers.handler("charge")
        async def charge(context: AttemptContext, payload: Any) -> None:
            async with context.transaction() as conn:
                await conn.execute("insert into paid (id) values ($1)", payload["order"])
                handed.append(
                    await in_transaction(conn).create_job(kind="receipt", payload=payload)
                )

        @shop.handlers.handler("receipt")
        async def receipt(_context: AttemptContext, payload: Any) -> Any:
            return payload

        async with shop.worker():
            ours = await asyncpg.connect(database)
            async with ours.transaction():
                first = await in_transaction(ours).create_job(kind="charge", payload={"order": 7})
            await ours.close()
            ended = await shop.ends(run_of(first))
            (next_,) = handed
            followed = await shop.ends(run_of(next_))

    assert (ended.state, followed.state) == (RunState.SUCCEEDED, RunState.SUCCEEDED)
    assert followed.result == '{"order": 7}'
