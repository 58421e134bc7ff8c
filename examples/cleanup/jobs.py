"""Deletes old rows at night, a few at a time, so that nobody waits for a lock."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import rota

app = rota.App("cleanup")

DATABASE = os.environ.get("SHOP_DATABASE", "shop.sqlite")
BATCH = 500


@app.job(cron="30 3 * * *", timezone="Europe/Berlin", overlap="skip", timeout="2h")
def delete_old_sessions(ctx: rota.SyncContext, days: int = 90) -> int:
    """Delete what nobody used for so many days; return how many rows that were."""
    before = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    # A later attempt goes on counting where an earlier one was stopped.
    deleted = ctx.resume() or 0
    with closing(sqlite3.connect(DATABASE)) as database:
        (left,) = database.execute(
            "select count(*) from sessions where used_at < ?", (before,)
        ).fetchone()
        total = deleted + left
        while left > 0:
            with database:
                found = database.execute(
                    "delete from sessions where rowid in"
                    " (select rowid from sessions where used_at < ? limit ?)",
                    (before, BATCH),
                )
            deleted, left = deleted + found.rowcount, left - found.rowcount
            ctx.checkpoint(deleted)
            ctx.progress(deleted / total, f"{deleted} of {total} rows")
    ctx.log.info("%s sessions from before %s are gone", deleted, before)
    return deleted
