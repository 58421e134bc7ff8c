"""What scrapers and autoscalers ask the API: targets, cluster metrics, demand (O5, O10)."""

from datetime import timedelta

import pytest
from tests.support.scraping import labels_of, scrape, value_of
from tests.support.serving import Answer, Caller, Served
from tests.support.shop import until

from rota.api.resources.observability import build_targets
from rota.core.ids import build_id
from rota.runtime.clock import SystemClock
from rota.store import sessions
from rota.store.cluster_views import ProcessRow
from rota.store.sessions import NewSession, SessionRole

NOW = SystemClock().now()
OPENMETRICS = "application/openmetrics-text; version=1.0.0,text/plain;q=0.5"


async def open_session(api: Served, role: SessionRole, name: str, url: str | None) -> None:
    session = NewSession(
        id=build_id(SystemClock().now(), name.encode().ljust(10, b"\0")[:10]),
        role=role,
        name=name,
        observe_url=url,
        version="1.2.3",
    )
    await sessions.open_session(api.conn, session, ttl=timedelta(minutes=5))


async def test_targets_are_the_live_processes_in_the_form_of_prometheus(api: Served) -> None:
    await open_session(api, SessionRole.WORKER, "b:1", "http://b:7071")
    await open_session(api, SessionRole.SCHEDULER, "b:2", None)
    await open_session(api, SessionRole.WORKER, "b:3", "http://[::1]:7072")

    async def with_api() -> Answer | None:
        answer = await api.platform.get("/v1/targets")
        return answer if len(answer.json) == 4 else None

    answer = await until(with_api)

    assert answer.headers["content-type"] == "application/json"
    assert api.observe_url is not None
    own = api.observe_url.removeprefix("http://")
    groups = {group["targets"][0]: group["labels"] for group in answer.json[:-1]}
    assert groups["b:7071"] == {"role": "worker", "version": "1.2.3", "process": "b:1"}
    assert set(groups) == {"b:7071", "[::1]:7072", own}
    assert groups[own]["role"] == "api"
    assert answer.json[-1] == {
        "targets": [own],
        "labels": {
            "role": "cluster",
            "instance": "cluster",
            "__metrics_path__": "/metrics/cluster",
        },
    }


def test_a_process_with_several_roles_is_one_target_and_the_cluster_is_scraped_once() -> None:
    url = "http://a:7071"
    everything = ProcessRow("a:1", url, None, ["api", "scheduler", "worker"], NOW)
    second = ProcessRow("c:1", "http://c:7071", "2", ["api"], NOW)

    first, _, *cluster = build_targets([everything, second])

    assert first.labels == {"role": "up", "version": "unknown", "process": "a:1"}
    assert [group.targets for group in cluster] == [["a:7071"]]


async def test_an_api_process_is_no_target_after_it_stopped(api: Served) -> None:
    async def sessions_of_api() -> int:
        statement = "select count(*) from rota.sessions where role = 'api' and expires_at > now()"
        return int(await api.conn.fetchval(statement))

    assert await until(sessions_of_api)
    api.stop.request()

    async def is_gone() -> bool:
        return await sessions_of_api() == 0

    assert await until(is_gone)


@pytest.mark.parametrize("role", ["viewer", "operator", "admin"])
async def test_only_the_platform_sees_targets_and_addresses(api: Served, role: str) -> None:
    await open_session(api, SessionRole.SCHEDULER, "s:1", "http://s:7071")
    caller = await api.caller(role)

    statuses = [(await caller.get(path)).status for path in ("/v1/targets", "/metrics/cluster")]
    (hidden,) = (await caller.get("/v1/schedulers")).json["data"]
    (shown,) = (await api.platform.get("/v1/schedulers")).json["data"]

    assert statuses == [403, 403]
    assert (hidden["observe_url"], hidden["version"]) == (None, "1.2.3")
    assert shown["observe_url"] == "http://s:7071"


async def test_the_page_of_the_cluster_is_on_the_api_and_on_the_listener(api: Served) -> None:
    with_key = await api.platform.get("/metrics/cluster")
    both = await api.platform.get("/metrics")
    listener = await api.stranger_at(f"{api.observe_url}").get("/metrics/cluster")
    process = await api.stranger_at(f"{api.observe_url}").get("/metrics")

    assert value_of(with_key.text, "rota_database_up") == 1
    assert value_of(listener.text, "rota_shards_unowned") == 128
    assert labels_of(process.text, "rota_build_info", "role") == ["api"]
    names = {name for name, _ in scrape(both.text)}
    assert {"rota_shards_unowned", "rota_build_info", "process_cpu_seconds_total"} <= names
    assert "rota_shards_unowned" not in {name for name, _ in scrape(process.text)}
    durations = "rota_request_duration_seconds_count"
    assert value_of(process.text, durations, operation="get_cluster_metrics", code="200") == 1


async def test_scrapers_that_ask_for_openmetrics_get_it(api: Served) -> None:
    pages = [
        await api.platform.get("/metrics", Accept=OPENMETRICS),
        await api.platform.get("/metrics/cluster", Accept=OPENMETRICS),
        await api.stranger_at(f"{api.observe_url}").get("/metrics", Accept=OPENMETRICS),
        await (await api.caller("viewer")).get("/metrics", Accept=OPENMETRICS),
    ]

    for page in pages:
        assert page.headers["content-type"].startswith("application/openmetrics-text")
        assert page.text.endswith("# EOF\n")
    plain = await api.platform.get("/metrics")
    assert plain.headers["content-type"].startswith("text/plain; version=0.0.4")


async def test_the_demand_of_a_queue_is_what_waits_runs_and_comes(api: Served) -> None:
    admin = await api.caller("admin")
    for after_s in (None, 30, 90):
        await submit(admin, "mail", after_s)
    await admin.post("/v1/queues", {"name": "idle"})

    mail = await admin.get("/v1/queues/mail/demand")
    idle = await admin.get("/v1/queues/idle/demand")
    everyone = await api.platform.get("/v1/queues/mail/demand")

    assert mail.json == {"queue": "mail", "demand": 2, "ready": 1, "running": 0, "upcoming": 1}
    assert idle.json["demand"] == 0
    assert everyone.json == mail.json


async def submit(caller: Caller, queue: str, after_s: int | None) -> None:
    body: dict[str, object] = {"kind": "shell", "payload": {"command": ["true"]}, "queue": queue}
    if after_s is not None:
        due = SystemClock().now() + timedelta(seconds=after_s)
        body |= {"schedule_type": "FUTURE", "schedule_time": due.isoformat()}
    answer = await caller.post("/v1/jobs", body)
    assert answer.status in {201, 202}, answer.text


async def test_the_demand_of_an_unknown_queue_is_an_error_that_names_similar_ones(
    api: Served,
) -> None:
    """A demand of 0 would remove the workers of a queue whose name has a typo."""
    admin = await api.caller("admin")
    await admin.post("/v1/queues", {"name": "reports"})

    near = await admin.get("/v1/queues/report/demand")
    far = await admin.get("/v1/queues/zzz/demand")
    other = await (await api.caller("admin", tenant_id=await api.tenant("globex"))).get(
        "/v1/queues/reports/demand"
    )

    assert (near.status, far.status, other.status) == (404, 404, 404)
    assert "did you mean reports?" in near.json["detail"]
    assert "GET /v1/queues" in far.json["detail"]
    assert "did you mean" not in other.json["detail"]
