"""A tenant creates, pauses and limits its own queues, and sees nothing of others (T1, T2)."""

import os
from dataclasses import dataclass
from datetime import timedelta

import pytest
from tests.support.scraping import labels_of, scrape
from tests.support.serving import CLOCK, Caller, Served

from rota.core.ids import build_id
from rota.core.submissions import encode_canonical
from rota.core.tenancy import ServedTenants
from rota.store import interning, sessions
from rota.store.sessions import NewSession, SessionRole

HOUR = timedelta(hours=1)


@dataclass
class Neighbours:
    """Admins of two tenants."""

    api: Served
    acme: Caller
    globex: Caller
    acme_id: int


@pytest.fixture
async def two(api: Served) -> Neighbours:
    acme_id, globex_id = await api.tenant("acme"), await api.tenant("globex")
    return Neighbours(
        api,
        await api.caller("admin", tenant_id=acme_id),
        await api.caller("admin", tenant_id=globex_id),
        acme_id,
    )


async def queue_names(caller: Caller, query: str = "") -> list[str]:
    answer = await caller.get(f"/v1/queues{query}")
    assert answer.status == 200, answer.text
    return [each["name"] for each in answer.json["data"]]


async def open_worker(api: Served, name: str, served: ServedTenants, *queues: str) -> None:
    ids = await interning.intern_queues(api.conn, queues)
    session = NewSession(
        id=build_id(CLOCK.now(), os.urandom(10)),
        role=SessionRole.WORKER,
        name=name,
        queues=tuple(ids.values()),
        slots=1,
        serves=encode_canonical(served.to_plain(ids)),
    )
    await sessions.open_session(api.conn, session, ttl=HOUR)


async def test_an_admin_creates_queues_that_no_other_tenant_sees(two: Neighbours) -> None:
    made = await two.acme.post("/v1/queues", {"name": "acme-only"})
    again = await two.acme.post("/v1/queues", {"name": "acme-only"})
    await two.globex.post("/v1/jobs", {"name": "x", "kind": "echo", "queue": "globex-only"})

    assert (made.status, again.status) == (201, 200)
    assert await queue_names(two.acme) == ["acme-only"]
    assert await queue_names(two.globex) == ["globex-only"]
    assert {"acme-only", "globex-only"} <= {*await queue_names(two.api.platform)}
    assert await queue_names(two.api.platform, "?all_tenants=false") == []


async def test_creating_a_queue_is_for_admins_and_needs_a_plain_name(two: Neighbours) -> None:
    operator = await two.api.caller("operator", tenant_id=two.acme_id)

    assert (await operator.post("/v1/queues", {"name": "mine"})).status == 403
    assert (await two.acme.post("/v1/queues", {"name": "Mine!"})).status == 422
    assert (await two.acme.post("/v1/queues", {"name": "mine\n"})).status == 422


async def test_a_pause_and_a_limit_are_of_one_tenant_alone(two: Neighbours) -> None:
    for caller in (two.acme, two.globex):
        await caller.post("/v1/queues", {"name": "gpu"})

    paused = await two.acme.post("/v1/queues/gpu/pause")
    limited = await two.acme.put("/v1/queues/gpu/limits", {"max": 3})
    (mine,) = (await two.acme.get("/v1/queues")).json["data"]
    (theirs,) = (await two.globex.get("/v1/queues")).json["data"]
    resumed = await two.acme.post("/v1/queues/gpu/resume")

    assert paused.json == {"name": "gpu", "is_paused": True, "is_for_all": False}
    assert limited.status == 204
    assert (mine["is_paused"], mine["is_paused_for_all"], mine["max"]) == (True, False, 3)
    assert (theirs["is_paused"], theirs["max"]) == (False, None)
    assert resumed.json["is_paused"] is False


async def test_a_platform_key_holds_a_queue_back_for_all_or_for_its_own_tenant(
    two: Neighbours,
) -> None:
    platform = two.api.platform
    await two.acme.post("/v1/queues", {"name": "gpu"})
    await platform.post("/v1/queues", {"name": "gpu"})

    own = await platform.post("/v1/queues/gpu/pause?all_tenants=false")
    (before,) = (await two.acme.get("/v1/queues")).json["data"]
    everyone = await platform.post("/v1/queues/gpu/pause")
    (after,) = (await two.acme.get("/v1/queues")).json["data"]
    lifted = await two.acme.post("/v1/queues/gpu/resume")
    (still,) = (await two.acme.get("/v1/queues")).json["data"]

    assert (own.json["is_for_all"], everyone.json["is_for_all"]) == (False, True)
    assert (before["is_paused"], after["is_paused_for_all"]) == (False, True)
    assert (lifted.status, still["is_paused"]) == (200, True)


async def test_no_tenant_acts_on_another_ones_queue_or_on_all(two: Neighbours) -> None:
    await two.acme.post("/v1/queues", {"name": "acme-only"})

    there_is_none = await two.globex.post("/v1/queues/nobodys/pause")
    foreign = await two.globex.post("/v1/queues/acme-only/pause")
    limits = await two.globex.put("/v1/queues/acme-only/limits", {"max": 1})
    everyone = await two.acme.post("/v1/queues/acme-only/pause?all_tenants=true")
    listed = await two.acme.get("/v1/queues?all_tenants=true")
    neither = await two.acme.get("/v1/queues?all_tenants=null")

    assert (foreign.status, limits.status, there_is_none.status) == (404, 404, 404)
    assert foreign.json["detail"] == there_is_none.json["detail"].replace("nobodys", "acme-only")
    assert (everyone.status, listed.status, neither.status) == (403, 403, 422)


async def test_a_tenant_sees_the_workers_that_take_its_runs(two: Neighbours) -> None:
    api = two.api
    await open_worker(api, "of acme", ServedTenants(tenants=("acme",)), "default", "acme-only")
    mixed = ServedTenants(tenants=("acme",), by_queue={"gpu": ("globex", "acme")})
    await open_worker(api, "mixed", mixed, "default", "gpu")
    await open_worker(api, "of all", ServedTenants(tenants=("*",)), "default")
    begun = await two.acme.post("/v1/runs/external", {"job": "nightly", "host": "secret-host"})
    assert begun.status in {200, 201}, begun.text

    seen = {each["name"]: each for each in (await two.globex.get("/v1/workers")).json["data"]}
    own = {each["name"] for each in (await two.acme.get("/v1/workers")).json["data"]}
    everyone = {each["name"]: each for each in (await api.platform.get("/v1/workers")).json["data"]}

    assert {name: each["queues"] for name, each in seen.items()} == {
        "mixed": ["gpu"],
        "of all": ["default"],
    }
    assert [seen["mixed"]["tenants"], seen["of all"]["tenants"]] == [["globex"], ["*"]]
    assert {"of acme", "exec secret-host"} <= own
    assert everyone["mixed"]["tenants"] == ["acme", "globex"]
    assert "exec secret-host" in everyone


async def test_metrics_of_a_tenant_name_nothing_of_others(two: Neighbours) -> None:
    for caller, queue in ((two.acme, "acme-only"), (two.globex, "globex-only")):
        job = {"name": "x", "kind": "echo", "queue": queue}
        assert (await caller.post("/v1/jobs", job)).status == 201

    own = (await two.globex.get("/metrics")).text
    everything = (await two.api.platform.get("/metrics")).text

    assert labels_of(own, "rota_runs_waiting", "queue") == ["globex-only"]
    assert "acme" not in own
    assert {name for name, _ in scrape(own)}.isdisjoint(
        {"rota_workers", "rota_shards_owned", "rota_attempts_failed_total"}
    )
    assert {"acme-only", "globex-only"} <= {*labels_of(everything, "rota_runs_waiting", "queue")}
    assert "rota_workers" in {name for name, _ in scrape(everything)}


async def test_statistics_of_a_tenant_name_its_own_queues(two: Neighbours) -> None:
    job = {"name": "x", "kind": "echo", "queue": "acme-only"}
    await two.acme.post("/v1/jobs", job)

    mine = (await two.acme.get("/v1/statistics")).json["queues"]
    theirs = (await two.globex.get("/v1/statistics")).json["queues"]

    assert [each["queue"] for each in mine] == ["acme-only"]
    assert theirs == []
