"""Asks an HTTP interface for new orders, without missing one and without asking too often."""

import json
import os
import urllib.error
import urllib.request
from datetime import timedelta
from typing import Any

import rota

app = rota.App("polling")

ORDERS = os.environ.get("ORDERS_URL", "http://127.0.0.1:8000/orders")
TOO_MANY = 429


@app.job(every="1m", overlap="skip", retries=5, timeout="50s", args={"source": ORDERS})
def fetch_orders(ctx: rota.SyncContext, source: str) -> int:
    """Take over page after page. A page is handed on before its end is kept as the place to go on
    from: after a crash it is handed on again, and its key makes that one and the same job.
    """
    after, taken = ctx.resume() or 0, 0
    while page := get(f"{source}?after={after}"):
        for order in page:
            book.options(unique={"key": f"order {order['id']}", "while": "live"}).submit(
                order["id"], order["cents"]
            )
        after, taken = page[-1]["id"], taken + len(page)
        ctx.checkpoint(after)
        ctx.log.info("orders up to %s", after)
    return taken


@app.job()
async def book(order: int, cents: int) -> str:
    """What is done with each order."""
    return f"order {order}: {cents / 100:.2f}"


def get(url: str) -> list[dict[str, Any]]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            page: list[dict[str, Any]] = json.load(answer)
            return page
    except urllib.error.HTTPError as error:
        if error.code != TOO_MANY:
            raise
        # The other side says when to come again; a retry before that would be in vain.
        wait = timedelta(seconds=int(error.headers.get("Retry-After", "30")))
        raise rota.Retry("asked too often", after=wait) from error
