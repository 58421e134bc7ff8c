"""Deletes old rows at night in small batches, so that no lock is held for long."""

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
    """Delete sessions that were not used for this many days; return the number of rows."""
    before = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    # A retry resumes the count of the previous attempt.
    deleted = ctx.resume() or 0
    with closing(sqlite3.connect(DATABASE)) as database:
        (left,) = database.execute(
            "select count(*) from sessions where used_at < ?", (before,)
        ).fetchone()
        total = deleted + left
        while left > 0:
            with database:
                batch = database.execute(
                    "delete from sessions where rowid in"
                    " (select rowid from sessions where used_at < ? limit ?)",
                    (before, BATCH),
                )
            deleted, left = deleted + batch.rowcount, left - batch.rowcount
            ctx.checkpoint(deleted)
            ctx.progress(deleted / total, f"{deleted} of {total} rows")
    ctx.log.info("deleted %s sessions last used before %s", deleted, before)
    return deleted
