"""Sends every customer a weekly digest, on Monday morning, Berlin time."""

import os
import smtplib
import sqlite3
from contextlib import closing
from email.message import EmailMessage

import rota

app = rota.App("digest", retries={"max": 8, "kind": "list", "delays": ["1m", "5m", "30m", "2h"]})

DATABASE = os.environ.get("SHOP_DATABASE", "shop.sqlite")
SMTP_HOST, SMTP_PORT = os.environ.get("SMTP", "127.0.0.1:1025").rsplit(":", 1)


@app.job(cron="0 8 * * 1", timezone="Europe/Berlin")
def send_digests(ctx: rota.SyncContext) -> int:
    """Submit one run per customer, so that one bad address does not delay the others."""
    with closing(sqlite3.connect(DATABASE)) as database:
        addresses = [row[0] for row in database.execute("select distinct customer from orders")]
    week = f"{ctx.scheduled_at:%G-W%V}"
    for address in addresses:
        # If this run is retried, no customer gets the digest of a week twice.
        key = {"key": f"{week} {address}", "within": "7d"}
        send_digest.options(unique=key, queue="default").submit(address, week)
    return len(addresses)


@app.job(limits=[{"key": "smtp", "max": 4}])
def send_digest(ctx: rota.SyncContext, customer: str, week: str) -> None:
    """Send one digest; at most four at a time over all workers."""
    with closing(sqlite3.connect(DATABASE)) as database:
        orders = database.execute(
            "select item, cents from orders where customer = ? order by item", (customer,)
        ).fetchall()
    message = EmailMessage()
    message["From"] = "shop@example.org"
    message["To"] = customer
    message["Subject"] = f"Your orders in {week}"
    # All attempts use the same id, so that a mail server can drop duplicates.
    message["Message-ID"] = f"<{ctx.idempotency_key}@example.org>"
    message.set_content("\n".join(f"{item}: {cents / 100:.2f}" for item, cents in orders))
    with smtplib.SMTP(SMTP_HOST, int(SMTP_PORT), timeout=30) as server:
        server.send_message(message)
    ctx.log.info("sent %s orders to %s", len(orders), customer)
