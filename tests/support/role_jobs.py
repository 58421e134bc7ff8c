"""Jobs that touch everything a worker may touch, for workers with a login of their own."""

import asyncio
import os
from pathlib import Path
from typing import Any

import rota

# A file whose absence makes a member fail.
GATE = "ROLE_JOBS_GATE"
app = rota.App("roles")


def is_open() -> bool:
    return Path(os.environ[GATE]).exists()


@app.job(every="1s")
def tick(ctx: rota.SyncContext) -> None:
    ctx.log.info("tick")


@app.job(retries={"max": 3, "base": "100ms"})
async def flaky(ctx: rota.Context) -> int:
    await ctx.checkpoint({"attempt": ctx.attempt})
    ctx.progress(0.5, "half")
    if ctx.attempt == 1:
        raise ValueError("once")
    return ctx.attempt


@app.job()
def tell(ctx: rota.SyncContext, token: str) -> int:
    ctx.log.info("the token is %s", token)
    return len(token)


@app.job(guarantee="exactly_once")
async def pay(ctx: rota.Context, amount: int) -> None:
    async with ctx.transaction({"paid": amount}) as conn:
        await conn.execute("insert into public.payments (amount) values ($1)", amount)
        await rota.in_transaction(conn).submit(tell, "handed on")


@app.job()
def first(number: int) -> list[int]:
    return list(range(number))


@app.job()
def each(number: int) -> int:
    if number == 1 and not is_open():
        raise rota.Fail("the gate is shut")
    return number


@app.job()
def last() -> str:
    return "all"


NIGHTLY: dict[str, Any] = {
    "steps": [
        {"name": "first", "kind": "roles.first", "payload": {"number": 3}},
        {
            "name": "each",
            "kind": "roles.each",
            "needs": ["first"],
            "map": {"over": "steps.first.result"},
            "payload": {"number": {"$": "item"}},
        },
        {"name": "last", "kind": "roles.last", "needs": ["each"], "payload": {}},
    ]
}


@app.job(on=rota.event("order.paid"))
def thank(event: dict[str, Any]) -> Any:
    return event["data"]


@app.job()
async def hang(ctx: rota.Context) -> int:
    """Ends only in its second attempt: the first one's worker is killed."""
    if ctx.attempt == 1:
        ctx.progress(0.1, "hangs")
        await asyncio.Event().wait()
    return ctx.attempt
