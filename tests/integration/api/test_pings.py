"""Ping URLs: work outside of Rota reports to them, in the form of healthchecks.io."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.support.serving import Served

from rota.engine.alerting.ping_checker import PingChecker
from rota.store.pool import DedicatedConnection


async def create_ping(api: Served, **given: Any) -> tuple[str, str]:
    """Return the id and the path of the URL of a new ping."""
    draft = {"name": "backup", "every": "1d", "grace": "30m"} | given
    made = await api.platform.post("/v1/pings", draft)
    assert made.status == 201, made.text
    return made.json["ping_id"], made.json["ping_url"]


async def list_runs(api: Served) -> list[dict[str, Any]]:
    return list((await api.platform.get("/v1/runs?limit=20")).json["data"])


async def check(api: Served) -> None:
    """Run one pass of the checker, as a scheduler does every second."""
    line = DedicatedConnection(api.access)
    try:
        await PingChecker(source=line).tick()
    finally:
        line.close()


async def list_incidents(api: Served, state: str = "open") -> list[dict[str, Any]]:
    answer = await api.platform.get(f"/v1/incidents?state={state}")
    assert answer.status == 200, answer.text
    return list(answer.json["data"])


async def test_a_success_becomes_a_finished_external_run(api: Served) -> None:
    ping_id, url = await create_ping(api)

    answer = await api.stranger().get(url)

    assert (answer.status, answer.text) == (200, "OK")
    shown = (await api.platform.get(f"/v1/pings/{ping_id}")).json
    assert shown["state"] == "up"
    assert shown["succeeded_at"] is not None
    (run,) = await list_runs(api)
    assert (run["job_name"], run["status"]) == ("backup", "succeeded")


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
async def test_every_method_of_healthchecks_counts(api: Served, method: str) -> None:
    _ping_id, url = await create_ping(api)
    assert (await api.stranger().call(method, url)).status == 200
    assert len(await list_runs(api)) == 1


async def test_a_start_and_an_end_with_the_same_rid_are_one_run(api: Served) -> None:
    _ping_id, url = await create_ping(api)
    first, second = uuid4(), uuid4()

    for rid in (first, second):
        assert (await api.stranger().get(f"{url}/start?rid={rid}")).status == 200
    assert {run["status"] for run in await list_runs(api)} == {"running"}
    assert (await api.stranger().get(f"{url}?rid={first}")).status == 200

    assert sorted(run["status"] for run in await list_runs(api)) == ["running", "succeeded"]


async def test_the_body_becomes_the_log_of_the_run(api: Served) -> None:
    _ping_id, url = await create_ping(api)
    async with api.session.post(
        f"{api.url}{url}/3", data=b"disk is full\n" + b"x" * 150_000
    ) as answer:
        assert answer.status == 200
    (run,) = await list_runs(api)
    assert run["status"] == "dead"
    log = (await api.platform.get(f"/v1/runs/{run['run_id']}/logs")).text
    assert "disk is full" in log
    assert 99_000 < log.count("x") <= 100_000


async def test_an_exit_code_other_than_0_is_a_failure_and_found_at_once(api: Served) -> None:
    ping_id, url = await create_ping(api)
    await api.stranger().get(f"{url}/7")

    await check(api)

    (incident,) = await list_incidents(api)
    assert incident["title"].startswith("Ping backup failed at ")
    assert incident["subject"]["kind"] == "ping"
    assert incident["subject"]["id"] == UUID(ping_id.removeprefix("png_")).hex
    assert (await api.platform.get(f"/v1/pings/{ping_id}")).json["state"] == "down"
    (run,) = await list_runs(api)
    assert run["reason"]["message"] == "reported exit code 7"


async def test_a_success_after_a_failure_ends_it_and_a_healthy_ping_is_not_looked_at(
    api: Served,
) -> None:
    _ping_id, url = await create_ping(api)
    await api.stranger().get(f"{url}/fail")
    await check(api)
    await api.stranger().get(url)

    await check(api)

    assert await list_incidents(api) == []
    assert len(await list_incidents(api, "resolved")) == 1
    await api.stranger().get(url)
    due = await api.conn.fetchval("select count(*) from rota.pings where check_at <= rota.now()")
    assert due == 0


async def test_a_missing_success_is_found_when_it_is_overdue(api: Served) -> None:
    ping_id, _url = await create_ping(api)
    await check(api)
    assert await list_incidents(api) == []
    await api.conn.execute("update rota.pings set overdue_at = rota.now(), check_at = rota.now()")

    await check(api)

    (incident,) = await list_incidents(api)
    assert "has never succeeded; a success was due by" in incident["title"]
    assert (await api.platform.get(f"/v1/pings/{ping_id}")).json["state"] == "down"


async def test_work_that_begins_and_does_not_end_within_its_grace_is_found(api: Served) -> None:
    _ping_id, url = await create_ping(api)
    await api.stranger().get(f"{url}/start")
    await api.conn.execute(
        "update rota.pings set began_at = began_at - interval '1 h', check_at = rota.now()"
    )

    await check(api)

    (incident,) = await list_incidents(api)
    assert "did not end within 30 minutes" in incident["title"]


async def test_an_unknown_url_and_an_unknown_signal_are_refused_and_store_nothing(
    api: Served,
) -> None:
    _ping_id, url = await create_ping(api)
    assert (await api.stranger().get(f"/ping/{uuid4()}")).status == 404
    answer = await api.stranger().get(f"{url}/256")
    assert answer.status == 422
    assert "exit code from 0 to 255" in answer.text
    assert await list_runs(api) == []


async def test_a_rotated_url_stops_working(api: Served) -> None:
    ping_id, url = await create_ping(api)
    made = await api.platform.post(f"/v1/pings/{ping_id}/rotate")
    assert (await api.stranger().get(url)).status == 404
    assert (await api.stranger().get(made.json["ping_url"])).status == 200
    assert (await api.platform.delete(f"/v1/pings/{ping_id}")).status == 204
    assert (await api.stranger().get(made.json["ping_url"])).status == 404


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"every": None}, "give either every or cron"),
        ({"cron": "0 3 * * *"}, "give either every or cron"),
        ({"every": "1s"}, "every"),
        ({"every": None, "cron": "61 * * * *"}, "minute must be 0–59"),
        ({"grace": "5s"}, "grace"),
    ],
)
async def test_an_impossible_ping_is_refused(api: Served, wrong: dict[str, Any], text: str) -> None:
    draft = {"name": "backup", "every": "1d", "grace": "30m"} | wrong
    answer = await api.platform.post("/v1/pings", draft)
    assert answer.status == 422, answer.text
    assert text in answer.text


async def test_a_cron_ping_is_overdue_after_its_next_time_and_the_grace(api: Served) -> None:
    ping_id, url = await create_ping(
        api, every=None, cron="0 3 * * *", timezone="Europe/Berlin", grace="10m"
    )
    await api.stranger().get(url)
    overdue_at = (await api.platform.get(f"/v1/pings/{ping_id}")).json["overdue_at"]
    assert overdue_at[14:16] == "10"


async def test_names_are_unique_within_a_tenant(api: Served) -> None:
    await create_ping(api)
    again = await api.platform.post("/v1/pings", {"name": "backup", "every": "1d"})
    assert again.status == 409
