"""Charges a customer exactly once, even if the provider or the worker fails."""

import asyncio
import json
import os
import urllib.error
import urllib.request

import rota

app = rota.App("payments")

PROVIDER = os.environ.get("PROVIDER_URL", "http://127.0.0.1:8000/charges")
DECLINED = 402


@app.job(
    retries={"max": 10, "kind": "exponential", "base": "1s", "cap": "1m"},
    guarantee="exactly_once",
    limits=[{"key": "customer {args.customer}", "max": 1}],
    timeout="30s",
)
async def charge(ctx: rota.Context, customer: str, cents: int) -> str:
    """Charge the customer and record the charge in the books.

    The provider gets the same key on every attempt, so a charge whose response was lost is not made
    twice. The books are in Rota's database: the row and the end of the run are one transaction.
    """
    receipt = await asyncio.to_thread(ask, ctx.idempotency_key, customer, cents)
    async with ctx.transaction(result=receipt) as database:
        await database.execute(
            "insert into books.charges (run_id, customer, cents, receipt) values ($1, $2, $3, $4)",
            ctx.run_id,
            customer,
            cents,
            receipt,
        )
    return receipt


def ask(key: str, customer: str, cents: int) -> str:
    request = urllib.request.Request(
        PROVIDER,
        data=json.dumps({"customer": customer, "cents": cents}).encode(),
        headers={"Content-Type": "application/json", "Idempotency-Key": key},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return str(json.load(answer)["receipt"])
    except urllib.error.HTTPError as error:
        if error.code == DECLINED:
            # A retry would not help: the run becomes a dead letter.
            raise rota.Fail(f"the card of {customer} was declined") from error
        raise
