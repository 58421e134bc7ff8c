"""Polls an HTTP API for new orders, without missing one and within its rate limit."""

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
    """Fetch all new pages. The orders of a page are submitted before the cursor is stored: after a
    crash they are submitted again, and their unique keys prevent duplicates.
    """
    after, fetched = ctx.resume() or 0, 0
    while page := get(f"{source}?after={after}"):
        for order in page:
            book.options(unique={"key": f"order {order['id']}", "while": "live"}).submit(
                order["id"], order["cents"]
            )
        after, fetched = page[-1]["id"], fetched + len(page)
        ctx.checkpoint(after)
        ctx.log.info("orders up to %s", after)
    return fetched


@app.job()
async def book(order: int, cents: int) -> str:
    """Process one order."""
    return f"order {order}: {cents / 100:.2f}"


def get(url: str) -> list[dict[str, Any]]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            page: list[dict[str, Any]] = json.load(answer)
            return page
    except urllib.error.HTTPError as error:
        if error.code != TOO_MANY:
            raise
        # The API says when to retry; an earlier retry would fail again.
        wait = timedelta(seconds=int(error.headers.get("Retry-After", "30")))
        raise rota.Retry("too many requests", after=wait) from error
