"""Builds a report in three jobs, each of which submits the next: extract, add up, publish."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import rota

app = rota.App("report", retries=3, timeout="10m")

DATABASE = os.environ.get("SHOP_DATABASE", "shop.sqlite")
OUTPUT = Path(os.environ.get("REPORT_FOLDER", "reports"))


@app.job(cron="0 2 * * *", timezone="Europe/Berlin")
def extract(ctx: rota.SyncContext, day: str | None = None) -> int:
    """Read the orders of a day and submit them to `add_up`."""
    day = day or f"{ctx.scheduled_at:%Y-%m-%d}"
    with closing(sqlite3.connect(DATABASE)) as database:
        rows = database.execute(
            "select item, cents from orders where day = ? order by item", (day,)
        ).fetchall()
    # The key is the same on every attempt, so the next job runs once even if this one is retried.
    add_up.options(idempotency_key=f"{ctx.idempotency_key}:add_up").submit(day, rows)
    return len(rows)


@app.job()
def add_up(ctx: rota.SyncContext, day: str, rows: list[tuple[str, int]]) -> dict[str, int]:
    """Add up the amounts by item."""
    totals: dict[str, int] = {}
    for item, cents in rows:
        totals[item] = totals.get(item, 0) + cents
    publish.options(idempotency_key=f"{ctx.idempotency_key}:publish").submit(day, totals)
    return totals


@app.job()
def publish(day: str, totals: dict[str, int]) -> str:
    """Write the report atomically."""
    OUTPUT.mkdir(exist_ok=True)
    target = OUTPUT / f"{day}.json"
    draft = target.with_suffix(".part")
    draft.write_text(json.dumps({"day": day, "totals": totals}, indent=2))
    draft.replace(target)
    return str(target)
