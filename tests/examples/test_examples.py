"""The examples do what their pages say, against real servers on this machine (issue list: I3)."""

import json
import socket
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import psycopg
import pytest
from aiosmtpd.controller import Controller
from tests.examples.conftest import EXAMPLES, Play

import rota


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def fill(file: Path, table: str, rows: list[tuple[Any, ...]]) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(f"create table {table}")
        places = ", ".join("?" for _ in rows[0])
        database.executemany(f"insert into {table.split(maxsplit=1)[0]} values ({places})", rows)


def test_cleanup_deletes_what_is_old_and_tells_how_much(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop.sqlite"
    rows = [(n, "2020-01-01" if n % 3 else "2999-01-01") for n in range(2100)]
    fill(shop, "sessions (id, used_at)", rows)
    monkeypatch.setenv("SHOP_DATABASE", str(shop))

    with play("cleanup") as (server, jobs):
        deleted = jobs.delete_old_sessions.submit(days=30).result(timeout=60)
        with server.client() as client:
            (job,) = client.list_jobs(q="cleanup.delete_old_sessions", status="active").items

    with closing(sqlite3.connect(shop)) as database:
        (left,) = database.execute("select count(*) from sessions").fetchone()
    assert (deleted, left) == (1400, 700)
    assert job.cron_expression == "30 3 * * *"


class Orders(BaseHTTPRequestHandler):
    """Ten orders, four on a page; the second page is refused once."""

    refused = 0

    def do_GET(self) -> None:
        after = int(self.path.partition("after=")[2])
        if after == 4 and not Orders.refused:
            Orders.refused += 1
            self.send_response(429)
            self.send_header("Retry-After", "1")
            self.end_headers()
            return
        page = [{"id": n, "cents": n * 100} for n in range(after + 1, min(after + 4, 10) + 1)]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(page).encode())

    def log_message(self, *_: object) -> None: ...


def test_polling_takes_every_order_once_although_it_is_turned_away(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(Orders) as url:
        monkeypatch.setenv("ORDERS_URL", f"{url}/orders")
        with play("polling") as (server, jobs), server.client() as client:
            submitted = jobs.fetch_orders.submit(source=f"{url}/orders")
            submitted.result(timeout=60)
            run = client.get_run(submitted.run_id)
            booked = [client.list_jobs(kind="polling.book", type="one_time", limit=100).items]

    assert Orders.refused == 1
    assert run.attempt_number == 2
    assert sorted(job.payload["order"] for page in booked for job in page) == [*range(1, 11)]


def test_the_digest_reaches_every_customer_once(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "shop.sqlite"
    fill(
        shop,
        "orders (customer, item, cents)",
        [
            ("ann@example.org", "tea", 450),
            ("bob@example.org", "cup", 900),
            ("ann@example.org", "pot", 2000),
        ],
    )
    monkeypatch.setenv("SHOP_DATABASE", str(shop))
    box = Box()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        monkeypatch.setenv("SMTP", f"127.0.0.1:{port}")
        with play("email_digest") as (server, jobs), server.client() as client:
            assert jobs.send_digests.submit().result(timeout=60) == 2
            jobs.send_digests.submit().result(timeout=60)
            assert len(client.list_jobs(kind="digest.send_digest", type="one_time").items) == 2
            box.wait_for(2)
    finally:
        controller.stop()

    assert Counter(box.received) == {"ann@example.org": 1, "bob@example.org": 1}
    assert "tea: 4.50" in box.texts["ann@example.org"]


class Box:
    """What the mail server was given."""

    def __init__(self) -> None:
        self.received: list[str] = []
        self.texts: dict[str, str] = {}
        self._came = threading.Condition()

    async def handle_DATA(self, _server: object, _session: object, envelope: Any) -> str:  # noqa: N802
        with self._came:
            self.received += envelope.rcpt_tos
            self.texts[envelope.rcpt_tos[0]] = envelope.content.decode()
            self._came.notify_all()
        return "250 OK"

    def wait_for(self, number: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: len(self.received) >= number, timeout=60)


def test_the_report_goes_through_its_three_steps(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop, reports = tmp_path / "shop.sqlite", tmp_path / "reports"
    fill(
        shop,
        "orders (day, item, cents)",
        [("2026-11-01", "tea", 450), ("2026-11-01", "tea", 450), ("2026-11-02", "cup", 900)],
    )
    monkeypatch.setenv("SHOP_DATABASE", str(shop))
    monkeypatch.setenv("REPORT_FOLDER", str(reports))

    with play("nightly_report") as (server, jobs), server.client() as client:
        assert jobs.extract.submit(day="2026-11-01").result(timeout=60) == 2
        steps = [ended(client, f"report.{step}") for step in ("add_up", "publish")]

    assert [step.result for step in steps] == [{"tea": 900}, str(reports / "2026-11-01.json")]
    assert json.loads((reports / "2026-11-01.json").read_text())["totals"] == {"tea": 900}


def ended(client: rota.Client, kind: str) -> Any:
    """The only run of a kind, once it has ended."""
    (job,) = client.list_jobs(kind=kind, type="one_time").items
    latest = client.get_job_status(job.job_id).latest_run
    assert latest is not None
    for _line in client.follow_logs(latest.run_id):
        pass  # it ends with the run
    return client.get_run(latest.run_id)


class Provider(BaseHTTPRequestHandler):
    """Takes every charge and loses the first two answers; does not like Carl's card."""

    receipts: ClassVar[dict[str, str]] = {}
    asked: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Idempotency-Key"]
        Provider.asked[key] += 1
        if body["customer"] == "carl":
            self.send_response(402)
            self.end_headers()
            return
        receipt = Provider.receipts.setdefault(key, f"receipt {len(Provider.receipts) + 1}")
        self.send_response(503 if Provider.asked[key] < 3 else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"receipt": receipt}).encode())

    def log_message(self, *_: object) -> None: ...


def test_a_payment_is_made_and_booked_once_although_answers_are_lost(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    with listening(Provider) as url:
        monkeypatch.setenv("PROVIDER_URL", f"{url}/charges")
        with play("payment_retry") as (server, jobs):
            with psycopg.connect(server.database_url) as database:
                database.execute((EXAMPLES / "payment_retry" / "schema.sql").read_text())
            receipt = jobs.charge.submit("ann", 4200).result(timeout=60)
            with pytest.raises(rota.RunFailed) as declined:
                jobs.charge.submit("carl", 100).result(timeout=60)
            with psycopg.connect(server.database_url) as database:
                booked = database.execute("select customer, cents, receipt from books.charges")
                rows = booked.fetchall()

    assert rows == [("ann", 4200, receipt)]
    assert len(Provider.receipts) == 1
    assert sorted(Provider.asked.values()) == [1, 3]
    assert "the card of carl was declined" in str(declined.value)


def test_the_report_waits_for_all_shops_and_the_alarm_rings_if_there_is_none(
    play: Play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shops = {f"shop-{n:02}": n * 100 for n in range(10)}
    sales = tmp_path / "sales"
    (sales / "monday").mkdir(parents=True)
    for shop, cents in shops.items():
        (sales / "monday" / f"{shop}.csv").write_text(f"cents\n{cents}\n50\n")
    (sales / "monday" / "shop-03.csv").write_text("cents\nbroken\n")
    monkeypatch.setenv("SALES_FOLDER", str(sales))

    with play("sales_graph") as (_, jobs):
        good = jobs.close_of_business.submit("monday").result(timeout=60)
        with pytest.raises(rota.RunFailed):
            jobs.close_of_business.submit("tuesday").result(timeout=60)

    assert good == {"write_report": 9}
    report = (sales / "monday.txt").read_text().splitlines()
    assert report[0] == "shop-00: 0.50"
    assert report[-2:] == ["shop-09: 9.50", "missing: 1"]
    assert (sales / "alarms.txt").read_text() == "no report of tuesday\n"
