"""The schedules of an app become jobs, once, however often and by however many it starts (I3)."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from random import Random
from typing import Any

import pytest

import rota
from rota.core.errors import Conflict, InvalidInput, NotFound
from rota.core.log_events import JobsDeclared, JobUndeclared
from rota.engine.submission import job_changes
from rota.processes.schedule_registration import find_unserved_queues, register_schedules
from rota.runtime.clock import SystemClock
from rota.runtime.service import ServiceContext
from rota.runtime.watchdog import Watchdog
from rota.store import audit, job_views
from rota.store.driver import Connection
from rota.store.job_views import JobRow
from rota.store.pool import DatabaseAccess, read_database_time

TENANT = 1


class Registry:
    """Workers that start: `register` is what each of them does."""

    def __init__(self, conn: Connection, database: str, watchdog: Watchdog) -> None:
        self.conn = conn
        self.events: list[Any] = []
        self._access = DatabaseAccess(url=database)
        self._ground = ServiceContext(
            clock=SystemClock(), emit=self.events.append, rng=Random(), watchdog=watchdog
        )

    async def register(self, app: rota.App) -> None:
        await register_schedules(app, self._access, self._ground)

    async def job(self, name: str) -> JobRow:
        found = await job_views.get_job_by_name(self.conn, tenant_id=TENANT, name=name)
        assert found is not None
        return found

    def told(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
async def registry(conn: Connection, database: str) -> AsyncIterator[Registry]:
    with Watchdog() as watchdog:
        yield Registry(conn, database, watchdog)


def report(region: str = "eu") -> None: ...


def billing(app: str = "billing", **given: Any) -> rota.App:
    """An app with one job, `nightly`."""
    made = rota.App(app)
    made.job(**{"name": "nightly", "cron": "0 2 * * *", **given})(report)
    return made


async def test_a_declared_job_is_made_with_all_that_was_said(registry: Registry) -> None:
    await registry.register(
        billing(
            timezone="Europe/Berlin",
            retries=7,
            priority="high",
            labels={"team": "x"},
            limits=[{"key": "region:{args.region}", "max": 2}],
            overlap="queue_one",
            when_queue_paused="accumulate",
            args={"region": "us"},
        )
    )

    job = await registry.job("nightly")
    assert (job.kind, job.queue, job.priority) == ("billing.report", "default", 1)
    assert (job.overlap.value, job.payload) == ("queue_one", '{"region": "us"}')
    assert job.when_queue_paused.value == "accumulate"
    assert '"max": 7' in str(job.policy)
    assert '"team": "x"' in job.labels
    assert registry.told(JobsDeclared) == [
        JobsDeclared(app="billing", made=1, changed=0, unchanged=0)
    ]


async def test_a_worker_that_starts_again_changes_nothing(registry: Registry) -> None:
    await registry.register(billing(cron=None, every="1h"))
    before = await registry.job("nightly")

    await registry.register(billing(cron=None, every="1h"))

    assert await registry.job("nightly") == before
    assert registry.told(JobsDeclared)[1].unchanged == 1


async def test_workers_that_start_at_once_make_one_job_of_version_one(registry: Registry) -> None:
    await asyncio.gather(*(registry.register(billing()) for _ in range(4)))

    assert (await registry.job("nightly")).version == 1
    assert sum(event.made for event in registry.told(JobsDeclared)) == 1


async def test_workers_that_bring_the_same_change_at_once_make_it_once(registry: Registry) -> None:
    await registry.register(billing())

    await asyncio.gather(*(registry.register(billing(retries=9)) for _ in range(4)))

    assert (await registry.job("nightly")).version == 2
    assert sum(event.changed for event in registry.told(JobsDeclared)) == 1


async def test_another_cron_moves_the_job(registry: Registry) -> None:
    await registry.register(billing())
    before = await registry.job("nightly")

    await registry.register(billing(cron="30 4 * * *"))

    after = await registry.job("nightly")
    assert after.id == before.id
    assert after.next_tick_at is not None
    assert (after.next_tick_at.hour, after.next_tick_at.minute) == (4, 30)


async def test_another_option_leaves_the_next_tick_alone(registry: Registry) -> None:
    await registry.register(billing(cron=None, every="1h"))
    before = await registry.job("nightly")

    await registry.register(billing(cron=None, every="1h", timeout="5m"))

    after = await registry.job("nightly")
    assert (after.next_tick_at, after.version) == (before.next_tick_at, before.version + 1)
    assert '"timeout": "PT5M"' in str(after.policy)


async def test_what_is_left_out_later_is_the_usual_again(registry: Registry) -> None:
    await registry.register(billing(priority="high", retries=7, args={"region": "us"}))

    await registry.register(billing())

    job = await registry.job("nightly")
    assert (job.priority, job.payload) == (5, "{}")
    assert '"max": 3' in str(job.policy)


async def test_a_paused_job_stays_paused(registry: Registry) -> None:
    await registry.register(billing())
    job = await registry.job("nightly")
    now = await read_database_time(registry.conn)
    await job_changes.pause_job(registry.conn, job.id, by="somebody", now=now)

    await registry.register(billing(cron="30 4 * * *"))

    assert (await registry.job("nightly")).state.value == "paused"


async def test_a_job_that_is_declared_no_more_goes_on_and_is_told(registry: Registry) -> None:
    await registry.register(billing())

    await registry.register(rota.App("billing"))

    assert (await registry.job("nightly")).next_tick_at is not None
    assert registry.told(JobUndeclared) == [
        JobUndeclared(app="billing", name="nightly", remedy="rota jobs delete 'nightly'")
    ]


async def test_a_name_that_somebody_else_has_is_refused(registry: Registry) -> None:
    await registry.register(billing("shop"))

    with pytest.raises(Conflict, match="already exists and app 'shop' declares it"):
        await registry.register(billing("billing"))


def two_jobs(second: Callable[[rota.App], object]) -> rota.App:
    app = billing(name="a first one")
    second(app)
    return app


async def test_one_that_is_refused_leaves_nothing_half_done(registry: Registry) -> None:
    await registry.register(billing("shop", name="taken"))
    app = two_jobs(lambda app: app.job(name="taken", kind="b", every="1h")(report))

    with pytest.raises(Conflict, match="taken"):
        await registry.register(app)

    assert (
        await job_views.get_job_by_name(registry.conn, tenant_id=TENANT, name="a first one") is None
    )


async def test_what_only_the_server_can_judge_is_refused_with_the_name_of_the_job(
    registry: Registry,
) -> None:
    with pytest.raises(InvalidInput, match=r"job 'nightly'.*calendars"):
        await registry.register(
            billing(cron=None, schedule={"cron": "0 2 * * *", "calendars": ["nowhere"]})
        )


async def test_a_time_that_has_passed_is_nothing_to_register(registry: Registry) -> None:
    await registry.register(billing(cron=None, at="2020-01-01T09:00:00Z"))

    assert registry.told(JobsDeclared) == [
        JobsDeclared(app="billing", made=0, changed=0, unchanged=0)
    ]


def test_queues_that_a_worker_does_not_look_at_are_named() -> None:
    app = rota.App("billing", queue="slow")
    app.job()(report)
    app.job(kind="b", queue="default")(report)

    assert find_unserved_queues(app, ["default"]) == ["slow"]
    assert find_unserved_queues(None, ["default"]) == []


async def test_a_tenant_that_does_not_exist_is_refused(registry: Registry) -> None:
    app = rota.App("billing", tenant="nowhere")

    with pytest.raises(NotFound, match="tenant 'nowhere' not found"):
        await registry.register(app)


def etl(*names: str) -> rota.App:
    """An app with a graph of these steps, one after the other."""
    made = rota.App("etl")
    work = made.job(name="work")(report)

    def nightly(region: str = "eu") -> None:
        steps = [work.step(region).options(name=name) for name in names]
        for first, second in pairwise(steps):
            first >> second

    made.graph(cron="0 2 * * *", args={"region": "us"})(nightly)
    return made


async def test_a_declared_graph_is_made_once_and_follows_its_steps(registry: Registry) -> None:
    await registry.register(etl("a", "b"))
    await registry.register(etl("a", "b"))
    first = await registry.job("etl.nightly")

    await registry.register(etl("a", "b", "c"))

    after = await registry.job("etl.nightly")
    assert (first.kind, first.version, first.payload) == ("graph", 1, '{"region": "us"}')
    assert [step["name"] for step in json.loads(first.graph or "")["steps"]] == ["a", "b"]
    assert (after.version, after.next_tick_at) == (2, first.next_tick_at)
    assert json.loads(after.graph or "")["steps"][2]["needs"] == ["b"]


async def test_a_graph_that_is_wrong_is_told_and_nothing_is_registered(
    registry: Registry,
) -> None:
    broken = etl("a", "b")
    work = next(iter(broken))
    broken.graph(cron="0 3 * * *")(lambda: work.step().when("steps.nope.result"))

    with pytest.raises(InvalidInput, match="nope"):
        await registry.register(broken)

    assert (
        await job_views.get_job_by_name(registry.conn, tenant_id=TENANT, name="etl.nightly") is None
    )


async def noted(registry: Registry) -> list[tuple[str, Any, Any]]:
    """What the audit log has: the action, and what was and became different."""
    found = await audit.list_entries(registry.conn, tenant_id=TENANT)
    assert {each.origin for each in found} <= {"code"}
    assert {each.actor for each in found} <= {f"app billing on {socket.gethostname()}"}
    return [
        (each.action, json.loads(each.before or "{}"), json.loads(each.after or "{}"))
        for each in reversed(found)
    ]


async def test_what_a_worker_declares_is_in_the_audit_log_with_what_differs(
    registry: Registry,
) -> None:
    await registry.register(billing())
    await registry.register(billing())
    await registry.register(billing(cron="0 3 * * *", retries=9))

    create, update = await noted(registry)

    assert create == ("job.create", {}, {"name": "nightly", "app": "billing", "version": 1})
    action, before, after = update
    assert (action, after["changed"], after["version"]) == (
        "job.update",
        ["schedule", "retries"],
        2,
    )
    assert (before["schedule"]["cron"], after["schedule"]["cron"]) == ("0 2 * * *", "0 3 * * *")
    assert after["retries"]["max"] == 9


async def test_a_registration_that_is_refused_leaves_no_entry(registry: Registry) -> None:
    app = billing()
    unknown = {"cron": "0 2 * * *", "calendars": ["none of this name"]}
    app.job(name="zz", kind="other", schedule=unknown)(report)

    with pytest.raises(InvalidInput):
        await registry.register(app)

    assert await noted(registry) == []


async def test_expectations_of_a_declared_job_are_stored_and_follow_the_code(
    registry: Registry,
) -> None:
    alert = rota.Alert(to="a channel that no scheduler has reported yet", severity="page")
    await registry.register(billing(expect=rota.Expect(finish_by="06:00"), alert=alert))
    first = await registry.job("nightly")
    await registry.register(billing(expect=rota.Expect(finish_by="06:00"), alert=alert))
    same = await registry.job("nightly")
    await registry.register(billing(expect=rota.Expect(finish_by="07:00"), alert=alert))
    changed = await registry.job("nightly")

    assert json.loads(first.expect or "{}") == {"finish_by": "06:00"}
    assert json.loads(first.alert or "{}")["severity"] == "page"
    assert same.version == first.version
    assert json.loads(changed.expect or "{}") == {"finish_by": "07:00"}


async def test_an_expectation_that_the_schedule_cannot_meet_stops_the_worker(
    registry: Registry,
) -> None:
    with pytest.raises(InvalidInput, match="is 24 h"):
        await registry.register(billing(expect=rota.Expect(succeed_every="2h")))
