"""What every request passes through: keys, roles, bounds, idempotency, problems (T2, E16)."""

import asyncio
import io
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.support.serving import Served, serving
from tests.support.shop import until

from rota.core.errors import InvalidSetting
from rota.store import audit
from rota.store.embedded import Embedded

FUTURE = "2030-01-01T00:00:00Z"
YEARLY = "0 0 1 1 *"


async def test_the_first_start_makes_a_key_that_only_its_owner_can_read(
    api: Served, tmp_path: Path
) -> None:
    who = (await api.platform.get("/v1/whoami")).json

    assert (who["role"], who["tenant"]) == ("platform", "default")
    assert stat.S_IMODE((tmp_path / "admin.key").stat().st_mode) == 0o600


async def test_a_second_start_makes_no_other_key(database: str, tmp_path: Path) -> None:
    async with serving(database, tmp_path):
        first = (tmp_path / "admin.key").read_text()
    async with serving(database, tmp_path) as again:
        assert (await again.platform.get("/v1/whoami")).status == 200

    assert (tmp_path / "admin.key").read_text() == first


@pytest.mark.parametrize("key", [None, "", "nonsense", "rota_aaaaaaaa_b_c"])
async def test_without_a_valid_key_there_is_a_problem_and_nothing_else(
    api: Served, key: str | None
) -> None:
    answer = await api.stranger(key).get("/v1/jobs")

    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["code"] == "unauthenticated"
    assert answer.json["type"] == "/problems/unauthenticated"
    assert answer.json["request_id"] == answer.headers["x-request-id"]


async def test_a_revoked_key_is_refused_within_five_seconds(api: Served) -> None:
    viewer = await api.caller("viewer")
    assert (await viewer.get("/v1/jobs")).status == 200
    listed = (await api.platform.get("/v1/keys")).json["data"]
    mine = next(key["key_id"] for key in listed if key["name"] == "a viewer")

    revoked = await api.platform.delete(f"/v1/keys/{mine}")

    async def is_refused() -> bool:
        return (await viewer.get("/v1/jobs")).status == 401

    assert revoked.status == 200
    assert await until(is_refused, patience=5)


async def test_a_key_shows_when_it_was_last_used(api: Served) -> None:
    before = (await api.caller("viewer"), await api.caller("operator"))
    await before[0].get("/v1/whoami")

    listed = (await api.platform.get("/v1/keys")).json["data"]

    used = {key["role"]: key["used_at"] is not None for key in listed}
    assert used == {"viewer": True, "operator": False}


async def test_an_expired_key_is_refused(api: Served) -> None:
    short = await api.caller("viewer", lifetime=timedelta(minutes=1))
    await api.conn.execute("update rota.api_keys set expires_at = now() where name = 'a viewer'")

    assert (await short.get("/v1/jobs")).status == 401


async def test_a_viewer_reads_and_an_operator_changes(api: Served) -> None:
    viewer, operator = await api.caller("viewer"), await api.caller("operator")

    refused = await viewer.post("/v1/jobs", {"name": "mine", "schedule_time": FUTURE})
    made = await operator.post("/v1/jobs", {"name": "mine", "schedule_time": FUTURE})
    seen = await viewer.get(f"/v1/jobs/{made.json['job_id']}")
    tenants = await operator.get("/v1/tenants")

    assert (refused.status, refused.json["code"]) == (403, "not_allowed")
    assert (made.status, seen.status, tenants.status) == (201, 200, 403)


async def test_what_belongs_to_another_tenant_does_not_exist(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "ours", "payload": {"secret": 1}})
    job_id, run_id = made.json["job_id"], made.json["run_id"]
    other = await api.caller("admin", tenant_id=await api.tenant("other"))

    answers = [
        await other.get(f"/v1/jobs/{job_id}"),
        await other.put(f"/v1/jobs/{job_id}", {"payload": None}),
        await other.delete(f"/v1/jobs/{job_id}"),
        await other.post(f"/v1/jobs/{job_id}/pause"),
        await other.post(f"/v1/jobs/{job_id}/runNow"),
        await other.get(f"/v1/runs/{run_id}"),
        await other.get(f"/v1/runs/{run_id}/logs"),
        await other.post(f"/v1/runs/{run_id}/cancel"),
    ]
    lists = [await other.get("/v1/jobs"), await other.get("/v1/runs")]

    assert {answer.status for answer in answers} == {404}
    assert [answer.json["data"] for answer in lists] == [[], []]


async def test_the_same_idempotency_key_gets_the_same_answer(api: Served) -> None:
    body = {"name": "once", "schedule_time": FUTURE}

    first = await api.platform.post("/v1/jobs", body, Idempotency_Key="k-1")
    again = await api.platform.post("/v1/jobs", body, Idempotency_Key="k-1")
    other = await api.platform.post("/v1/jobs", body | {"name": "two"}, Idempotency_Key="k-1")

    assert (first.status, again.status) == (201, 201)
    assert again.json == first.json
    assert again.headers["idempotency-replayed"] == "true"
    assert (other.status, other.json["code"]) == (422, "idempotency_key_reused")


async def test_a_request_that_was_refused_may_be_sent_again_with_its_key(api: Served) -> None:
    wrong = await api.platform.post(
        "/v1/jobs", {"name": "x", "cron_expression": "61 * * * *"}, Idempotency_Key="k-2"
    )
    right = await api.platform.post(
        "/v1/jobs", {"name": "x", "cron_expression": "1 * * * *"}, Idempotency_Key="k-2"
    )

    assert (wrong.status, right.status) == (422, 201)


async def test_twenty_requests_with_one_key_at_once_make_one_job(api: Served) -> None:
    body = {"name": "once", "schedule_time": FUTURE}

    answers = await asyncio.gather(
        *(api.platform.post("/v1/jobs", body, Idempotency_Key="k-3") for _ in range(20))
    )

    assert {answer.status for answer in answers} <= {201, 409}
    assert len({answer.json["job_id"] for answer in answers if answer.status == 201}) == 1
    assert await api.conn.fetchval("select count(*) from rota.scheduled_runs") == 1


async def test_one_bad_request_among_others_with_keys_is_refused_alone(api: Served) -> None:
    """Submissions and definitions come together; only the name of a definition can be taken."""
    await api.platform.post("/v1/jobs", {"name": "job 7", "cron_expression": "0 3 * * *"})

    async def send(n: int) -> Any:
        when = {"cron_expression": "0 3 * * *"} if n % 2 else {"schedule_time": FUTURE}
        body = {"name": f"job {n}"} | when
        return await api.platform.post("/v1/jobs", body, Idempotency_Key=f"k-{n}")

    first = await asyncio.gather(*(send(n) for n in range(60)))
    again = await asyncio.gather(*(send(n) for n in range(60)))

    assert [answer.status for answer in first] == [409 if n == 7 else 201 for n in range(60)]
    assert [answer.status for answer in again] == [answer.status for answer in first]
    assert [each.json["job_id"] for each in again if each.status == 201] == [
        each.json["job_id"] for each in first if each.status == 201
    ]
    assert await api.conn.fetchval("select count(*) from rota.jobs") == 30
    assert await api.conn.fetchval("select count(*) from rota.scheduled_runs") == 30


async def test_requests_with_keys_that_come_together_are_written_together(api: Served) -> None:
    async def send(n: int) -> Any:
        body = {"name": f"job {n}", "cron_expression": YEARLY}
        return await api.platform.post("/v1/jobs", body, Idempotency_Key=f"k-{n}")

    await asyncio.gather(*(send(n) for n in range(60)))

    query = "select count(distinct xmin::text) from rota.scheduled_runs"
    commits = await api.conn.fetchval(query)
    assert commits < 60


async def test_a_change_with_an_old_etag_is_refused(api: Served) -> None:
    made = await api.platform.post("/v1/jobs", {"name": "x", "cron_expression": YEARLY})
    path = f"/v1/jobs/{made.json['job_id']}"
    etag = (await api.platform.get(path)).headers["etag"]

    first = await api.platform.put(path, {"priority": 1}, If_Match=etag)
    second = await api.platform.put(path, {"priority": 2}, If_Match=etag)

    assert (first.status, second.status) == (200, 412)
    assert second.json["code"] == "version_changed"
    assert (await api.platform.get(path)).json["priority"] == 1


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"name": "x", "cron_expression": "61 * * * *"}, "/schedule/cron", "invalid_schedule"),
        ({"name": "x", "retrys": 3}, "/retrys", "invalid_input"),
        ({"name": "x", "max_retries": "three"}, "/max_retries", "invalid_input"),
        ({"name": "x" * 201}, "/name", "invalid_input"),
        ({}, "/name", "invalid_input"),
        ({"name": "x", "schedule_type": "CRON"}, "/schedule_type", "invalid_input"),
        ({"name": "x", "schedule": {"cron": "@daily"}, "timezone": "UTC"}, "/timezone", None),
        ({"name": "x", "kind": "a", "job_type": "b"}, "/job_type", "invalid_input"),
        ({"name": "x", "payload": {"a": "\x00"}}, "/payload", "invalid_input"),
        ({"name": "x", "limits": [{"key": "k"}]}, "/limits/0/max", "invalid_input"),
    ],
)
async def test_what_is_wrong_is_said_with_its_place(
    api: Served, body: dict[str, Any], pointer: str, code: str | None
) -> None:
    answer = await api.platform.post("/v1/jobs", body)

    assert answer.status == 422, answer.text
    (wrong,) = answer.json["errors"]
    assert wrong["pointer"] == pointer
    assert answer.json["code"] == code or code is None
    assert await api.conn.fetchval("select count(*) from rota.jobs") == 0


async def test_a_parameter_that_is_null_is_refused(api: Served) -> None:
    answer = await api.platform.get("/v1/notifications?state=null")

    assert answer.status == 422
    assert answer.json["detail"] == "the parameter state is null; omit it or give a value"
    named = await api.platform.get("/v1/notifications?channel=null")
    assert named.status == 200, "a channel may have this name"


async def test_an_unknown_parameter_is_refused(api: Served) -> None:
    answer = await api.platform.get("/v1/jobs?stauts=active")

    assert (answer.status, answer.json["errors"][0]["pointer"]) == (422, "/stauts")


async def test_a_cursor_of_another_list_is_refused(api: Served) -> None:
    for number in range(3):
        await api.platform.post("/v1/jobs", {"name": f"job {number}", "cron_expression": YEARLY})
    page = (await api.platform.get("/v1/jobs?limit=2")).json

    following = await api.platform.get(f"/v1/jobs?limit=2&cursor={page['next_cursor']}")
    foreign = await api.platform.get(f"/v1/jobs?q=x&cursor={page['next_cursor']}")
    broken = await api.platform.get("/v1/jobs?cursor=abc")

    assert [job["name"] for job in page["data"]] == ["job 2", "job 1"]
    assert [job["name"] for job in following.json["data"]] == ["job 0"]
    assert (foreign.status, broken.status) == (400, 400)


async def test_what_is_no_json_or_too_large_is_refused(api: Served) -> None:
    async def send(data: bytes, media: str = "application/json") -> int:
        headers = {"Authorization": f"Bearer {api.platform.key}", "content-type": media}
        async with api.session.post(
            f"{api.url}/v1/jobs", data=io.BytesIO(data), headers=headers
        ) as answer:
            return answer.status

    assert await send(b"{") == 400
    assert await send(b"\xff\xfe") == 400
    assert await send(b"") == 400
    assert await send(b"[" * 100_000) in {400, 422}
    assert await send(b"name=x", "text/plain") == 415
    assert await send(b'{"name": "' + b"x" * 1_600_000 + b'"}') == 413


async def test_unknown_paths_and_methods_are_problems_too(api: Served) -> None:
    nothing = await api.platform.get("/v1/nothing")
    wrong = await api.platform.delete("/v1/jobs")

    assert (nothing.status, nothing.json["code"]) == (404, "not_found")
    assert (wrong.status, wrong.json["code"]) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, HEAD, POST"


async def test_every_answer_carries_the_headers_of_safety(api: Served) -> None:
    for answer in (await api.stranger().get("/healthz"), await api.stranger().get("/v1/jobs")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in {name.lower() for name in answer.headers}


async def test_who_calls_too_often_is_asked_to_wait(database: str, tmp_path: Path) -> None:
    async with serving(database, tmp_path, requests_per_second=1, burst=3) as api:
        answers = [await api.platform.get("/v1/whoami") for _ in range(5)]

    assert [answer.status for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["retry-after"] == "1"


async def test_changes_are_in_the_audit_log_with_who_and_from_where(api: Served) -> None:
    operator = await api.caller("operator", user_id="ana")
    made = await operator.post("/v1/jobs", {"name": "x", "cron_expression": "0 3 * * *"})
    await operator.post(f"/v1/jobs/{made.json['job_id']}/pause", {"reason": "tired"})

    log = (await api.platform.get("/v1/audit")).json["data"]

    assert [(entry["action"], entry["actor"]) for entry in log] == [
        ("job.pause", "ana"),
        ("job.create", "ana"),
    ]
    assert log[0]["thing_id"] == made.json["job_id"]
    assert log[0]["source"] == "127.0.0.1"
    assert log[0]["request_id"].startswith("req_")


async def test_a_refused_change_leaves_nothing_in_the_audit_log(api: Served) -> None:
    await api.platform.post("/v1/jobs", {"name": "x", "cron_expression": "nonsense"})

    assert await audit.list_entries(api.conn, tenant_id=1) == []


async def test_beyond_this_machine_it_listens_only_with_tls_or_if_told_so(
    database: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSetting, match="unencrypted"):
        async with serving(database, tmp_path, host="0.0.0.0"):
            pass
    async with serving(database, tmp_path, host="0.0.0.0", insecure_http=True):
        pass


async def test_without_its_database_it_answers_503_and_comes_back(
    api: Served, server: Embedded, database: str
) -> None:
    name = database.rpartition("/")[2].partition("?")[0]
    made = await api.platform.post("/v1/jobs", {"name": "x", "schedule_time": FUTURE})
    assert made.status == 201
    outside = await asyncpg.connect(server.url)

    async def is_away() -> bool:
        answer = await api.platform.get("/v1/jobs")
        return answer.status == 503 and answer.headers["retry-after"] == "2"

    async def is_not_ready() -> bool:
        answer = await api.stranger().get("/readyz")
        return answer.status == 503 and answer.headers["retry-after"] == "2"

    async def is_back() -> bool:
        return (await api.platform.get("/v1/jobs")).status == 200

    # Nobody may connect, and whoever is connected is cut off.
    await outside.execute(f'alter database "{name}" allow_connections false')
    await outside.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", name
    )
    away = await until(is_away)
    alive = await api.stranger().get("/healthz")
    not_ready = await until(is_not_ready)
    await outside.execute(f'alter database "{name}" allow_connections true')
    back = await until(is_back)
    await outside.close()

    assert (away, alive.status, not_ready, back) == (True, 200, True, True)
