"""Findings become incidents: opened once, merged, held back, flapping, ended."""

import asyncio
from datetime import timedelta

import asyncpg
import pytest
from tests.support.alerting import AlertDesk, build_finding, met, violated
from tests.support.world import World

from rota.core.alerts.finding import PLATFORM_TENANT_ID, Severity, SubjectKind, Verdict
from rota.core.states import JobState
from rota.engine.alerting.incident_keeper import apply_findings, end_incidents


@pytest.fixture
def desk(world: World) -> AlertDesk:
    return AlertDesk(world)


async def test_a_violation_opens_one_incident_and_more_evidence_counts(
    world: World, desk: AlertDesk
) -> None:
    await desk.find(violated(world))
    await desk.find(violated(world), violated(world))

    (incident,) = await desk.read_incidents()
    assert (incident["state"], incident["count"]) == ("open", 3)
    assert await desk.read_thread(incident["id"]) == ["opened"]


async def test_a_met_expectation_without_a_violation_writes_nothing(
    world: World, desk: AlertDesk
) -> None:
    await desk.find(met(world))

    assert await world.count("alert_states") == 0
    assert await world.count("incidents") == 0


async def test_an_incident_ends_after_enough_successes_in_a_row(
    world: World, desk: AlertDesk
) -> None:
    await desk.find(violated(world, clear_successes=2))
    await desk.find(met(world, clear_successes=2))
    await desk.find(violated(world, clear_successes=2))
    await desk.find(met(world, clear_successes=2))
    (incident,) = await desk.read_incidents()
    assert incident["state"] == "open"

    await world.advance(minutes=90)
    await desk.find(met(world, clear_successes=2))

    (incident,) = await desk.read_incidents()
    assert (incident["state"], incident["resolution"]) == ("resolved", "report succeeded")
    text = await world.conn.fetchval(
        "select text from rota.incident_events where type = 'resolved'"
    )
    assert text == "report succeeded (open for 1 hour 30 minutes, 2 bad runs)"


async def test_a_violation_that_does_not_last_opens_nothing(world: World, desk: AlertDesk) -> None:
    hold = timedelta(minutes=2)
    await desk.find(violated(world, hold_for=hold))
    await world.advance(minutes=1)
    await desk.find(met(world, hold_for=hold))
    await desk.pass_time(minutes=5, step=timedelta(minutes=1))

    assert await world.count("incidents") == 0


async def test_a_violation_that_lasts_opens_an_incident_without_a_second_report(
    world: World, desk: AlertDesk
) -> None:
    await desk.find(violated(world, hold_for=timedelta(minutes=2), repeats=3))
    await world.advance(minutes=1)
    await desk.find(violated(world, hold_for=timedelta(minutes=2), repeats=4))
    await desk.keeper.tick()
    assert await world.count("incidents") == 0

    await world.advance(minutes=1)
    await desk.keeper.tick()
    await desk.keeper.tick()

    (incident,) = await desk.read_incidents()
    assert (incident["count"], incident["opened_at"]) == (7, world.now)


async def test_an_unknown_verdict_neither_opens_nor_ends(world: World, desk: AlertDesk) -> None:
    await desk.find(build_finding(world, Verdict.UNKNOWN))
    assert await world.count("incidents") == 0

    await desk.find(violated(world))
    await desk.find(build_finding(world, Verdict.UNKNOWN))

    (incident,) = await desk.read_incidents()
    assert incident["state"] == "open"


async def test_a_run_that_fails_and_is_late_is_one_incident_with_the_worse_title(
    world: World, desk: AlertDesk
) -> None:
    await desk.find(violated(world, run="night", title="report failed"))
    late = {
        "rule": "late",
        "condition": "finish_by",
        "run": "night",
        "severity": Severity.PAGE,
        "title": "report is not done by 06:00",
    }
    await desk.find(violated(world, **late))

    (incident,) = await desk.read_incidents()
    assert incident["title"] == "report is not done by 06:00"
    assert (incident["severity"], incident["condition"]) == ("page", "finish_by")
    assert incident["count"] == 1
    assert await desk.read_thread(incident["id"]) == ["opened", "updated"]

    await desk.find(met(world))
    assert (await desk.read_incidents())[0]["state"] == "open"
    await desk.find(met(world, **{**late, "run": None}))
    assert (await desk.read_incidents())[0]["state"] == "resolved"


async def test_both_causes_in_one_batch_are_one_incident(world: World, desk: AlertDesk) -> None:
    await desk.find(
        violated(world, run="night"),
        violated(world, rule="late", condition="finish_by", run="night"),
    )

    (incident,) = await desk.read_incidents()
    assert incident["condition"] == "finish_by"


async def test_other_runs_and_subjects_do_not_merge(world: World, desk: AlertDesk) -> None:
    await desk.find(
        violated(world, run="night"),
        violated(world, rule="late", condition="finish_by", run="other night"),
        violated(world, rule="late", condition="finish_by", run="night", job="other"),
    )

    assert len(await desk.read_incidents()) == 3


async def test_a_new_violation_opens_another_incident_with_another_id(
    world: World, desk: AlertDesk
) -> None:
    for _ in range(2):
        await desk.find(violated(world))
        await world.advance(hours=2)
        await desk.find(met(world))

    first, second = await desk.read_incidents()
    assert first["id"] != second["id"]
    assert {first["state"], second["state"]} == {"resolved"}


async def test_a_rising_severity_ends_the_acknowledgement(world: World, desk: AlertDesk) -> None:
    await desk.find(violated(world, run="night"))
    await world.conn.execute("update rota.incidents set state = 'acknowledged'")

    await desk.find(violated(world, run="night"))
    assert (await desk.read_incidents())[0]["state"] == "acknowledged"
    await desk.find(
        violated(world, rule="late", condition="finish_by", run="night", severity=Severity.PAGE)
    )

    assert (await desk.read_incidents())[0]["state"] == "open"


async def test_a_subject_that_changes_often_flaps_until_it_is_steady(
    world: World, desk: AlertDesk
) -> None:
    for _ in range(2):
        await desk.find(violated(world))
        await world.advance(minutes=2)
        await desk.find(met(world))
        await world.advance(minutes=2)

    first, flapping = await desk.read_incidents()
    assert first["state"] == "resolved"
    assert (flapping["state"], flapping["is_flapping"]) == ("open", True)

    for _ in range(5):
        await desk.find(violated(world))
        await world.advance(minutes=2)
        await desk.find(met(world))
        await world.advance(minutes=2)
    assert len(await desk.read_incidents()) == 2

    await world.advance(minutes=31)
    await desk.keeper.tick()

    _, steady = await desk.read_incidents()
    assert (steady["state"], steady["is_flapping"]) == ("resolved", False)
    assert await desk.read_thread(steady["id"]) == ["opened", "flapping", "resolved"]


async def test_incidents_of_a_paused_job_end_and_say_why(world: World, desk: AlertDesk) -> None:
    job_id = await world.job()
    await desk.find(violated(world, job_id=job_id))
    await world.conn.execute(
        "update rota.jobs set state = $2, version = version + 1 where id = $1",
        job_id,
        JobState.PAUSED.value,
    )
    await world.conn.execute(
        "insert into rota.audit (tenant_id, actor, action, thing, thing_id) "
        "values (1, 'ada', 'job.pause', 'job', $1)",
        f"job_{job_id.hex}",
    )

    await desk.keeper.tick()

    (incident,) = await desk.read_incidents()
    assert incident["resolution"] == "job paused by ada"
    assert await world.conn.fetchval("select state from rota.alert_states") == "idle"


async def test_lateness_is_explained_by_an_incident_of_the_installation(
    world: World, desk: AlertDesk
) -> None:
    await desk.add_channel()
    await desk.find(
        violated(
            world,
            rule="relay",
            condition="relay_behind",
            tenant_id=PLATFORM_TENANT_ID,
            kind=SubjectKind.PLATFORM,
            subject_id="relay",
            job="relay",
        ),
        violated(world, condition="finish_by", rule="late"),
        violated(world, job="failing"),
    )
    await desk.work()

    told = {title for _, title in desk.channels["chat"].told}
    assert told == {"relay: relay_behind", "failing: failure_streak"}
    late = next(row for row in await desk.read_incidents() if row["condition"] == "finish_by")
    assert late["inhibited_by"] == "relay_behind"

    await world.advance(minutes=2)
    await desk.find(
        met(
            world,
            rule="relay",
            condition="relay_behind",
            tenant_id=PLATFORM_TENANT_ID,
            kind=SubjectKind.PLATFORM,
            subject_id="relay",
            job="relay",
        )
    )
    await desk.work()
    await desk.work()

    assert ("opened", "report: finish_by") in desk.channels["chat"].told


async def test_a_failed_graph_explains_its_failed_steps(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel()
    job_id = await world.job()
    await desk.find(
        violated(
            world,
            rule="steps",
            kind=SubjectKind.STEP,
            subject_id=f"{job_id.hex}/load",
            subject_name="graph / load",
            job_id=job_id,
        )
    )
    await desk.work()
    assert chat.told == []

    await world.advance(seconds=1)
    await desk.find(violated(world, rule="graphs", job="graph", job_id=job_id))
    await desk.pass_time(seconds=10, step=timedelta(seconds=1))

    assert chat.told == [("opened", "graph: failure_streak")]


async def test_a_paused_queue_explains_lateness_in_it(world: World, desk: AlertDesk) -> None:
    chat = await desk.add_channel()
    await world.conn.execute("update rota.queues set paused_at = rota.now()")
    await desk.find(violated(world, condition="start_within", queue="default"))
    await desk.work()
    assert chat.told == []

    await world.conn.execute("update rota.queues set paused_at = null")
    await desk.work()

    assert chat.told == [("opened", "report: start_within")]


async def test_a_person_ends_an_incident_and_a_new_violation_opens_another(
    world: World, desk: AlertDesk
) -> None:
    await desk.find(violated(world))
    (incident,) = await desk.read_incidents()
    async with world.conn.transaction():
        ended = await end_incidents(
            world.conn, [incident["id"]], now=world.now, resolution="resolved by ada", by="ada"
        )
    assert [row.id for row in ended] == [incident["id"]]

    await world.advance(minutes=1)
    await desk.find(violated(world))

    assert [row["state"] for row in await desk.read_incidents()] == ["resolved", "open"]


async def test_processes_that_find_the_same_violation_open_one_incident(
    world: World, desk: AlertDesk, database: str
) -> None:
    await desk.add_channel()

    async def find() -> None:
        conn = await asyncpg.connect(database)
        try:
            async with conn.transaction():
                await apply_findings(conn, [violated(world)], now=world.now)
        finally:
            await conn.close()

    for _ in range(10):
        await asyncio.gather(*(find() for _ in range(4)))

    (incident,) = await desk.read_incidents()
    assert incident["count"] == 40
    assert await desk.read_thread(incident["id"]) == ["opened"]
