"""Tasks: what workers tell about their kinds, and what the runs of each came to."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.serving import Served
from tests.support.shop import open_shop
from tests.support.task_history import insert_task_runs, name_task

import rota
from rota.engine.observability import task_statistics
from rota.runtime.clock import SystemClock

HOUR = timedelta(hours=1)


def shop_app() -> rota.App:
    app = rota.App("shop", queue="billing", timeout="2m")

    @app.job(retries=4, priority="high", timeout=timedelta(seconds=90))
    def charge(customer: str, amount: float = 9.5) -> None:
        """Charge a customer's card
        and send the receipt.

        The card is charged once.
        """

    @app.job(guarantee="at_most_once")
    async def ping() -> None: ...

    return app


async def test_a_task_shows_what_its_handler_declares_also_after_its_worker_is_gone(
    api: Served, database: str
) -> None:
    async with open_shop(database) as shop:
        shop.handlers = shop_app().handlers
        async with shop.worker():
            listed = (await api.platform.get("/v1/tasks")).json["data"]
            charge = (await api.platform.get("/v1/tasks/shop.charge")).json
            ping = (await api.platform.get("/v1/tasks/shop.ping")).json
    gone = (await api.platform.get("/v1/tasks/shop.charge")).json
    unserved = (await api.platform.get("/v1/tasks?served=false")).json["data"]

    told = {each["kind"]: (each["description"], each["workers"]) for each in listed}
    assert told == {
        "shop.charge": ("Charge a customer's card and send the receipt.", 1),
        "shop.ping": (None, 1),
    }
    assert charge["default_policy"] == {
        "queue": "billing",
        "timeout": "PT1M30S",
        "retries": 4,
        "priority": "high",
    }
    assert ping["default_policy"]["guarantee"] == "at_most_once"
    assert charge["payload_schema"]["required"] == ["customer"]
    assert [worker["queues"] for worker in charge["workers"]] == [["default"]]
    assert gone["description"] == charge["description"]
    assert gone["workers"] == []
    assert [each["kind"] for each in unserved] == ["shop.charge", "shop.ping"]


async def test_a_docstring_that_was_removed_is_forgotten(api: Served, database: str) -> None:
    def described(_context: Any, _payload: Any) -> None:
        """Do it."""

    found = []
    for function in (described, lambda _context, _payload: None):
        async with open_shop(database) as shop:
            shop.handlers.handler("plain")(function)
            async with shop.worker():
                found.append((await api.platform.get("/v1/tasks/plain")).json["description"])

    assert found == ["Do it.", None]


async def test_a_kind_that_only_submissions_name_is_a_task_without_workers(api: Served) -> None:
    await api.platform.post("/v1/jobs", {"kind": "nobody.serves", "payload": {"n": 1}})

    (listed,) = (await api.platform.get("/v1/tasks")).json["data"]
    shown = (await api.platform.get("/v1/tasks/nobody.serves")).json

    assert (listed["kind"], listed["workers"], listed["waiting"]) == ("nobody.serves", 0, 1)
    assert (shown["workers"], shown["waiting"], shown["description"]) == ([], 1, None)


async def test_tasks_come_by_name_in_pages_and_by_a_part_of_kind_or_description(
    api: Served,
) -> None:
    for kind in ("b.mail", "a.mail", "C.post", "ä/mail"):
        await name_task(api.conn, kind)
    await api.conn.execute("update rota.kinds set made_by = 1")
    await api.conn.execute(
        "update rota.kinds set description = 'Sends MAIL by hand.' where name = 'C.post'"
    )

    pages, query = [], "limit=2"
    while True:
        page = (await api.platform.get(f"/v1/tasks?{query}")).json
        pages.append([each["kind"] for each in page["data"]])
        if page["next_cursor"] is None:
            break
        query = f"limit=2&cursor={page['next_cursor']}"
    found = (await api.platform.get("/v1/tasks?q=sends+mail")).json["data"]
    other = await api.platform.get(f"/v1/tasks?q=b&cursor={await first_cursor(api)}")

    assert pages == [["C.post", "a.mail"], ["b.mail", "ä/mail"]]
    assert [each["kind"] for each in found] == ["C.post"]
    assert (await api.platform.get("/v1/tasks/ä/mail")).json["kind"] == "ä/mail"
    assert (other.status, other.json["code"]) == (400, "malformed_request")


async def first_cursor(api: Served) -> str:
    return str((await api.platform.get("/v1/tasks?limit=1")).json["next_cursor"])


async def test_a_task_of_another_tenant_is_not_there(api: Served) -> None:
    other = await api.tenant("other")
    now = SystemClock().now()
    await insert_task_runs(api.conn, "theirs", now=now, ended=20, waiting=3, tenant_id=other)
    await insert_task_runs(api.conn, "shared", now=now, ended=10, scheduled=2, tenant_id=other)
    await insert_task_runs(api.conn, "shared", now=now, ended=4, tenant_id=1, apart="11 s")
    viewer = await api.caller("viewer", tenant_id=other)

    mine = (await api.platform.get("/v1/tasks")).json["data"]
    hidden = await api.platform.get("/v1/tasks/theirs")
    ours = (await api.platform.get("/v1/tasks/shared")).json
    theirs = (await viewer.get("/v1/tasks/shared")).json

    assert [each["kind"] for each in mine] == ["shared"]
    assert (hidden.status, hidden.json["code"]) == (404, "not_found")
    assert (ours["ended"], ours["scheduled"]) == (4, 0)
    assert (theirs["ended"], theirs["scheduled"]) == (10, 2)


async def test_a_worker_that_does_not_serve_the_tenant_is_not_shown(
    api: Served, database: str
) -> None:
    other = await api.caller("viewer", tenant_id=await api.tenant("other"))
    async with open_shop(database) as shop:
        shop.handlers = shop_app().handlers
        async with shop.worker():
            await api.conn.execute(
                """update rota.sessions set serves = '{"tenants": ["default"], "queues": {}}'"""
            )
            theirs = (await other.get("/v1/tasks")).json["data"]
            hidden = await other.get("/v1/tasks/shop.charge")

    assert theirs == []
    assert hidden.status == 404


WAIT = "extract(epoch from greatest(started_at - greatest(due_at, created_at), interval '0'))"
TOOK = "extract(epoch from finished_at - started_at)"
MEASURED = f"""
select
    count(*) as ended,
    count(*) filter (where state = 'dead') as failed,
    percentile_cont(array[0.5, 0.99]) within group (order by {TOOK}) as durations,
    percentile_cont(array[0.5, 0.99]) within group (order by {WAIT}) as waits
from rota.runs
where kind_id = (select id from rota.kinds where name = 'bulk') and finished_at >= $1::timestamptz
"""
BUCKETS = """
select
    date_bin($2::interval, finished_at, '2000-01-01T00:00Z') as start,
    count(*) as ended,
    count(*) filter (where state = 'dead') as failed
from rota.runs
where kind_id = (select id from rota.kinds where name = 'bulk') and finished_at >= $1::timestamptz
group by 1
"""


async def first_row(api: Served, sql: str, *values: Any) -> Any:
    return (await api.conn.fetch(sql, *values))[0]


WINDOWS = {
    "1h": ("1 min", 60),
    "24h": ("1 hour", 24),
    "7d": ("1 hour", 168),
    "30d": ("1 day", 30),
}


async def test_the_figures_of_each_window_are_what_sql_says(api: Served) -> None:
    await filled_history(api)

    for window, (width, number) in WINDOWS.items():
        shown = (await api.platform.get(f"/v1/tasks/bulk?window={window}")).json
        since = datetime.fromisoformat(shown["since"])
        wanted = await first_row(api, MEASURED, since)
        sql = BUCKETS.replace("$2::interval", f"interval '{width}'")
        buckets: Any = await api.conn.fetch(sql, since)

        assert wanted["ended"] > 10
        assert (shown["ended"], shown["failed"]) == (wanted["ended"], wanted["failed"])
        assert shown["failure_rate"] == pytest.approx(wanted["failed"] / wanted["ended"])
        minutes = (datetime.fromisoformat(shown["now"]) - since) / timedelta(minutes=1)
        assert shown["runs_per_minute"] == pytest.approx(wanted["ended"] / minutes, rel=0.01)
        # A bin is a twentieth wide; a percentile between two runs may lie in either bin.
        durations = [shown["duration_p50_s"], shown["duration_p99_s"]]
        assert durations == pytest.approx([float(each) for each in wanted["durations"]], rel=0.12)
        waits = [shown["wait_p50_s"], shown["wait_p99_s"]]
        assert waits == pytest.approx([float(each) for each in wanted["waits"]], rel=0.12)
        assert len(shown["series"]) == number
        assert not shown["is_estimate"]
        found = {
            datetime.fromisoformat(each["start"]): (each["ended"], each["failed"])
            for each in shown["series"]
            if each["ended"]
        }
        assert found == {row["start"]: (row["ended"], row["failed"]) for row in buckets}


async def filled_history(api: Served) -> datetime:
    """Runs of an hour, of a day, of a month and of another kind; some that waited for hours."""
    now = SystemClock().now()
    await insert_task_runs(api.conn, "bulk", now=now, ended=300, apart="11 s")
    await insert_task_runs(api.conn, "bulk", now=now - 2 * HOUR, ended=200, apart="29 min")
    await insert_task_runs(api.conn, "other", now=now, ended=100, apart="7 s")
    await api.conn.execute(
        "update rota.runs set finished_at = finished_at + interval '3 hours'"
        " where kind_id = (select id from rota.kinds where name = 'bulk') and priority = 5"
        " and finished_at < now() - interval '5 hours' and extract(second from due_at)::int % 2 = 0"
    )
    return now


async def test_what_was_sampled_is_marked_and_close_to_the_truth(
    api: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SystemClock().now()
    await insert_task_runs(api.conn, "bulk", now=now, ended=8000, apart="9500 ms")
    await insert_task_runs(api.conn, "other", now=now, ended=8000, apart="9300 ms")
    monkeypatch.setattr(task_statistics, "EXACT_RUNS_MAX", 6000)
    monkeypatch.setattr(task_statistics, "SAMPLED_RUNS_MAX", 6000)

    shown = (await api.platform.get("/v1/tasks/bulk")).json
    exact = await first_row(api, MEASURED, datetime.fromisoformat(shown["since"]))

    assert shown["is_estimate"]
    assert shown["ended"] == pytest.approx(exact["ended"], rel=0.1)
    assert shown["duration_p50_s"] == pytest.approx(float(exact["durations"][0]), rel=0.15)


async def test_the_list_and_the_task_agree_on_now_and_on_the_last_hour(api: Served) -> None:
    now = SystemClock().now()
    await insert_task_runs(
        api.conn, "bulk", now=now, ended=300, waiting=12, scheduled=7, apart="11 s"
    )
    for number in range(3):
        job = {"name": f"nightly {number}", "kind": "bulk", "cron_expression": "0 2 * * *"}
        assert (await api.platform.post("/v1/jobs", job)).status == 201

    (listed,) = (await api.platform.get("/v1/tasks")).json["data"]
    shown = (await api.platform.get("/v1/tasks/bulk?window=1h")).json
    ended = await api.conn.fetchval(
        "select count(*) from rota.runs where finished_at >= now() - interval '1 hour'"
    )
    last = await first_row(
        api,
        "select (array_agg(id order by id desc) filter (where state = 'dead'))[1] as id,"
        " max(finished_at) as at from rota.runs",
    )

    for each in (listed, shown):
        assert (each["waiting"], each["running"], each["scheduled"]) == (12, 0, 7)
        assert not each["is_partial"]
    assert listed["runs_per_minute"] == pytest.approx(ended / 60, rel=0.02)
    assert datetime.fromisoformat(listed["last_run_at"]) == last["at"]
    failure = shown["last_failure"]
    assert failure["run_id"] == f"run_{last['id'].hex}"
    assert failure["error_type"] == "Refused"
    assert failure["message"] == "card 7 was refused"
    assert sorted(job["name"] for job in shown["jobs"]) == [f"nightly {n}" for n in range(3)]


async def test_a_graph_is_no_task_and_a_window_is_one_of_four(api: Served, database: str) -> None:
    async with open_shop(database) as shop, shop.worker():
        listed = (await api.platform.get("/v1/tasks")).json["data"]
        graph = await api.platform.get("/v1/tasks/graph")
    wrong = await api.platform.get("/v1/tasks/graph?window=2h")

    assert "graph" not in [each["kind"] for each in listed]
    assert graph.status == 404
    assert (wrong.status, wrong.json["code"]) == (422, "invalid_input")
