"""A finished run shows what it ran with, whatever becomes of its job (E10, I4)."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from tests.support.finished import end_next
from tests.support.world import World

from rota.core.states import RunState
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.submission import job_changes
from rota.engine.submission.job_changes import JobChanges
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import run_now
from rota.store import run_views

Change = Callable[[World, UUID], Awaitable[object]]


class Shown(NamedTuple):
    """What the view of a run says about its definition."""

    payload: object
    labels: object
    version: int | None


FIRST = Shown({"n": 1}, {"team": "a"}, 1)


async def a_job(world: World) -> UUID:
    spec = JobSpec(
        name="report",
        kind="noop",
        payload={"n": 1},
        labels={"team": "a"},
        schedule={"every": "PT1H"},
    )
    (made,) = await submit_jobs(world.conn, [spec], now=world.now, new_id=world.new_id)
    return made.job_id


async def ran(world: World, job_id: UUID, state: RunState) -> UUID:
    made = await run_now(world.conn, RunSpec(job_id=job_id), now=world.now, new_id=world.new_id)
    await end_next(world, state)
    return made.run_id


async def shown(world: World, run_id: UUID) -> Shown:
    row = await run_views.get_run(world.conn, tenant_id=1, run_id=run_id)
    assert row is not None
    return Shown(json.loads(row.payload or "null"), json.loads(row.labels), row.job_version)


async def edit(world: World, job_id: UUID, **wanted: object) -> None:
    await job_changes.edit_job(world.conn, job_id, JobChanges(**wanted), now=world.now)  # type: ignore[arg-type]


async def pause(world: World, job_id: UUID) -> None:
    await job_changes.pause_job(world.conn, job_id, by="ana", now=world.now)


async def resume(world: World, job_id: UUID) -> None:
    await job_changes.resume_job(world.conn, job_id, now=world.now)


async def edit_payload(world: World, job_id: UUID) -> None:
    await edit(world, job_id, payload={"n": 2})


async def edit_labels(world: World, job_id: UUID) -> None:
    await edit(world, job_id, labels={"team": "b"})


async def edit_name(world: World, job_id: UUID) -> None:
    await edit(world, job_id, name="another")


async def delete(world: World, job_id: UUID) -> None:
    await job_changes.delete_job(world.conn, job_id, by="ana")


@pytest.mark.parametrize("state", [RunState.SUCCEEDED, RunState.DEAD])
@pytest.mark.parametrize(
    "changes",
    [
        (pause,),
        (pause, resume),
        (edit_payload,),
        (edit_labels,),
        (edit_name, pause),
        (delete,),
        (edit_payload, pause, resume, edit_labels, delete),
    ],
    ids=lambda changes: " ".join(each.__name__ for each in changes),
)
async def test_a_finished_run_shows_what_it_ran_with(
    world: World, state: RunState, changes: tuple[Change, ...]
) -> None:
    job_id = await a_job(world)
    run_id = await ran(world, job_id, state)

    for change in changes:
        await world.advance(seconds=1)
        await change(world, job_id)

    assert await shown(world, run_id) == FIRST


async def test_each_run_shows_the_version_that_was_in_force(world: World) -> None:
    job_id = await a_job(world)
    runs = [await ran(world, job_id, RunState.SUCCEEDED)]
    await pause(world, job_id)
    await edit(world, job_id, payload={"n": 2})
    runs.append(await ran(world, job_id, RunState.SUCCEEDED))
    await resume(world, job_id)
    await edit(world, job_id, labels={})
    await edit(world, job_id, payload=None)
    runs.append(await ran(world, job_id, RunState.SUCCEEDED))

    assert [await shown(world, run_id) for run_id in runs] == [
        FIRST,
        Shown({"n": 2}, {"team": "a"}, 2),
        Shown(None, {}, 4),
    ]


async def test_an_edit_keeps_the_whole_definition_that_it_supersedes(world: World) -> None:
    job_id = await a_job(world)
    await world.advance(minutes=1)
    await edit(world, job_id, payload={"n": 2}, labels={"team": "b"}, name="other", priority=1)
    await pause(world, job_id)

    row: Any = await world.conn.fetchrow("select * from rota.job_versions")

    assert (row["number"], row["until_version"], row["name"]) == (1, 1, "report")
    assert (row["payload"], row["labels"]) == ('{"n": 1}', '{"team": "a"}')
    assert (row["valid_until"] - row["valid_from"]).total_seconds() == 60
    definition = json.loads(row["definition"])
    assert {
        name: definition[name] for name in ("name", "kind", "queue", "priority", "payload")
    } == {
        "name": "report",
        "kind": "noop",
        "queue": "default",
        "priority": 5,
        "payload": {"n": 1},
    }
    assert definition["schedule"]["every"]["interval"] == "PT1H"
    assert not {"id", "state", "version", "kind_id", "held"} & definition.keys()


async def test_an_edit_that_changes_nothing_makes_no_version(world: World) -> None:
    job_id = await a_job(world)

    await edit(world, job_id, payload={"n": 1}, labels={"team": "a"}, name="report", priority=5)

    assert await world.count("job_versions") == 0
    version = "select version - version_skips from rota.jobs"
    assert await world.conn.fetchval(version) == 1


async def test_a_run_of_before_versions_were_kept_shows_no_payload_of_another(
    world: World,
) -> None:
    """A job that an earlier release edited: what came before its last edit is unknown."""
    job_id = await a_job(world)
    await world.conn.execute("update rota.jobs set defined_since = null")
    await world.conn.execute("alter table rota.jobs disable trigger keep_definition")
    old = await ran(world, job_id, RunState.SUCCEEDED)
    await edit(world, job_id, payload={"n": 2})
    await world.conn.execute("alter table rota.jobs enable trigger keep_definition")
    new = await ran(world, job_id, RunState.SUCCEEDED)
    await edit(world, job_id, payload={"n": 3})

    assert await shown(world, old) == Shown(None, {}, None)
    assert await shown(world, new) == Shown({"n": 2}, {"team": "a"}, 2)
