"""A rolling upgrade and a rollback of the code, under load, with the previous release (O4).

The previous release's API, scheduler and worker run beside this one's: on the new schema, with
each other's documents. Nothing fails, nothing is quarantined, no tick is lost or doubled, and no
acknowledged submission is lost.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import asyncpg
import pytest

from rota.store.embedded import Embedded, start
from rota.store.schema_migration import (
    OUTSIDE_TRANSACTION_MARKER,
    Migration,
    load_migrations,
    migrate,
)
from tests.conftest import fast_folder
from tests.support.databases import create, drop
from tests.upgrade import documents, verdict
from tests.upgrade.fleet import CLOCK, Fleet, until
from tests.upgrade.load import Submitter
from tests.upgrade.previous import MISSING, Release, previous_release, this_release

# `make test-upgrade` gives the same more time.
STEADY = 400 if os.environ.get("ROTA_TEST_UPGRADE") else 25
NEXT = len(load_migrations()) + 1
# Two more migrations of a release to come, which older code must live with.
SYNTHETIC = [
    Migration(
        version=NEXT,
        name=f"{NEXT:04}_synthetic_expand",
        text="""
            alter table rota.live_runs add column colour text;
            alter table rota.jobs add column colour text not null default 'blue';
            create table rota.colours (name text primary key);
        """,
    ),
    Migration(
        version=NEXT + 1,
        name=f"{NEXT + 1:04}_synthetic_index_expand",
        text=(
            f"{OUTSIDE_TRANSACTION_MARKER}\n"
            "create index concurrently jobs_colour on rota.jobs (colour);\n"
        ),
    ),
]
# What this release lists besides jobs; the previous one knows neither the word nor the thing.
WITH_SUBMISSIONS = "&type=all"


@pytest.fixture(scope="session")
def durable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    """A server that a process accepts: it keeps what it confirms."""
    with start(fast_folder(tmp_path_factory) / "upgrade", durable=True) as embedded:
        yield embedded


@pytest.fixture(scope="session")
def old(tmp_path_factory: pytest.TempPathFactory) -> Release:
    release = previous_release(tmp_path_factory.mktemp("previous"))
    release.check()
    return release


@pytest.fixture(scope="session")
def new() -> Release:
    release = this_release()
    release.check()
    return release


@asynccontextmanager
async def open_fleet(server: Embedded, folder: Path) -> AsyncIterator[Fleet]:
    url = await create(server.url, "upgrade_" + str(id(object())))
    (folder / "data").mkdir()
    (folder / "starts").touch()
    conn = await asyncpg.connect(url)
    try:
        async with aiohttp.ClientSession() as session:
            fleet = Fleet(url=url, folder=folder, conn=conn, session=session)
            try:
                yield fleet
            finally:
                fleet.close()
    finally:
        await conn.close()
        await drop(server.url, url)


@pytest.fixture
async def fleet(durable: Embedded, tmp_path: Path) -> AsyncIterator[Fleet]:
    async with open_fleet(durable, tmp_path) as opened:
        yield opened


async def add_synthetic(fleet: Fleet) -> None:
    """As a release to come would migrate, while everybody works."""
    conn = await asyncpg.connect(fleet.url)
    try:
        applied = await migrate(conn, migrations=[*load_migrations(), *SYNTHETIC])
    finally:
        await conn.close()
    assert [each.name for each in SYNTHETIC] == [name for name in applied if "synthetic" in name]


async def make_jobs(fleet: Fleet, tag: str) -> list[str]:
    """A job of each form, through the API that is there; the runs of those that are due."""
    for body in documents.far_jobs(tag):
        await fleet.call("POST", "/v1/jobs", body)
    made = [await fleet.call("POST", "/v1/jobs", body) for body in documents.due_jobs(tag)]
    return [each["run_id"] for each in made]


async def all_jobs(fleet: Fleet, *, more: str = "") -> dict[str, Any]:
    """Every job that waits for something far away, as the API shows it."""
    found: dict[str, Any] = {}
    cursor = ""
    while True:
        page = await fleet.call("GET", f"/v1/jobs?limit=100{more}{cursor}")
        found |= {each["job_id"]: each for each in page["data"]}
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"
    names = {name for tag in ("first", "second") for name in _names(tag)}
    return {job_id: each for job_id, each in found.items() if each["name"] in names}


def _names(tag: str) -> list[str]:
    return [body["name"] for body in documents.far_jobs(tag)]


def _once(*tags: str) -> list[str]:
    """The names of far jobs that are submissions in this release."""
    return [f"{tag} {name}" for tag in tags for name in documents.ONCE]


async def until_moved(fleet: Fleet, *tags: str) -> None:
    """The one-time jobs of the previous release have become submissions."""

    async def are_moved() -> bool:
        return await verdict.count_waiting(fleet, names) == len(names)

    names = _once(*tags)
    await until(are_moved, "the one-time jobs of the previous release are submissions")


def check_same(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Whatever one release showed, the other shows, perhaps with more."""
    assert before.keys() <= after.keys()
    for job_id, job in before.items():
        shown = after[job_id]
        same = {key: shown.get(key) for key in job if key in shown and key != "version"}
        if job["name"] in _once("first", "second"):
            # A submission has no rules about ticks.
            assert same.pop("schedule")["at"] == job["schedule"]["at"], job["name"]
        # The previous release counts pauses as well, so a rollback may show more.
        assert shown["version"] >= job["version"], job["name"]
        assert same == {key: job[key] for key in same}, job["name"]


def split(shown: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What both releases know as jobs, and the submissions of this one."""
    names = _once("first", "second")
    submissions = {job_id: job for job_id, job in shown.items() if job["name"] in names}
    assert sorted(job["name"] for job in submissions.values()) == sorted(names)
    return {job_id: job for job_id, job in shown.items() if job_id not in submissions}, submissions


async def edit_all(fleet: Fleet, tag: str, *, more: str = "") -> None:
    """Pause, edit and resume what the other release has written."""
    for job_id, job in (await all_jobs(fleet, more=more)).items():
        if job["name"] not in _names(tag):
            continue
        if job["name"] not in _once(tag):
            await fleet.call("POST", f"/v1/jobs/{job_id}/pause")
            await fleet.call("POST", f"/v1/jobs/{job_id}/resume")
        await fleet.call("PUT", f"/v1/jobs/{job_id}", {"timeout": "PT9S", "max_retries": 1})


async def check_runs_are_shown(fleet: Fleet, runs: list[str]) -> None:
    """The API that is there can show runs of both releases, with and without a job."""
    for run_id in runs:
        shown = await fleet.call("GET", f"/v1/runs/{run_id}")
        assert shown["run_id"] == run_id
    await fleet.call("GET", "/v1/runs?limit=100")


async def replace_all(
    fleet: Fleet, release: Release, roles: tuple[str, ...], submitter: Submitter
) -> None:
    """One process after the other, with some load after each."""
    for role in roles:
        await fleet.replace(role, release)
        await submitter.more(STEADY)


async def upgrade_again(fleet: Fleet, new: Release, shown: dict[str, Any]) -> None:
    """A scheduler of this release takes what waited for it; the API shows what it showed."""
    await fleet.replace("scheduler", new)
    await verdict.until_taken(fleet)
    for scheduler in list(fleet.of("scheduler")):
        await fleet.stop(scheduler)
    await verdict.until_done(fleet)
    await fleet.replace("api", new)
    check_same(shown, await all_jobs(fleet, more=WITH_SUBMISSIONS))
    for each in list(fleet.running):
        await fleet.stop(each)


async def test_a_rolling_upgrade_and_a_rollback_of_the_code(
    fleet: Fleet, old: Release, new: Release
) -> None:
    fleet.migrate(old)
    for role in ("api", "scheduler", "worker"):
        await fleet.start(old, role)
    await fleet.call("PUT", "/v1/calendars/closed", {"calendar": documents.CALENDAR})
    for body in documents.ticking_jobs(4):
        await fleet.call("POST", "/v1/jobs", body)
    began = CLOCK.now()
    submitter = Submitter(fleet=fleet)

    async with asyncio.TaskGroup() as group:
        group.create_task(submitter.live())
        runs = await make_jobs(fleet, "first")
        await submitter.more(STEADY)
        shown = await all_jobs(fleet)

        # Upgrade: the schema first, then one process after the other.
        fleet.migrate(new)
        await add_synthetic(fleet)
        runs += await make_jobs(fleet, "on the new schema")
        await submitter.more(STEADY)
        await replace_all(fleet, new, ("scheduler", "worker", "api"), submitter)
        await until_moved(fleet, "first", "on the new schema")
        check_same(shown, await all_jobs(fleet, more=WITH_SUBMISSIONS))
        runs += await make_jobs(fleet, "second")
        await edit_all(fleet, "first", more=WITH_SUBMISSIONS)
        definitions, submissions = split(await all_jobs(fleet, more=WITH_SUBMISSIONS))

        # Roll back: only the code; the schema and what was written stay. The previous release
        # does not know submissions for a later time: they wait.
        await replace_all(fleet, old, ("worker", "scheduler", "api"), submitter)
        check_same(definitions, await all_jobs(fleet))
        await edit_all(fleet, "second")
        runs += await make_jobs(fleet, "after the rollback")
        await check_runs_are_shown(fleet, runs)
        await submitter.more(STEADY)
        submitter.is_over = True

    await upgrade_again(fleet, new, submissions)

    assert submitter.refused == []
    await verdict.check_submitted(fleet, [*submitter.acknowledged, *runs])
    await verdict.check_delayed(fleet, submitter.delayed)
    assert await verdict.check_ticks(fleet, since=began) > 0
    await verdict.check_nothing_failed(fleet)
    verdict.check_starts(fleet)


async def test_documents_of_this_release_are_carried_out_by_the_previous_one(
    fleet: Fleet, old: Release, new: Release
) -> None:
    """New API, old scheduler and old worker, on the new schema."""
    fleet.migrate(new)
    await fleet.start(new, "api")
    await fleet.call("PUT", "/v1/calendars/closed", {"calendar": documents.CALENDAR})
    for body in documents.ticking_jobs(2):
        await fleet.call("POST", "/v1/jobs", body)
    runs = await make_jobs(fleet, "first")
    await fleet.start(old, "scheduler")
    await fleet.start(old, "worker")

    await until(lambda: _ticked(fleet, 3), "the old scheduler fires")
    for scheduler in list(fleet.of("scheduler")):
        await fleet.stop(scheduler)
    await verdict.until_done(fleet)
    for each in list(fleet.running):
        await fleet.stop(each)

    await verdict.check_submitted(fleet, runs)
    await verdict.check_nothing_failed(fleet)


async def _ticked(fleet: Fleet, number: int) -> bool:
    return len(await fleet.conn.fetch(verdict.TICKS)) >= number


def test_a_clone_without_the_previous_release_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="git fetch --unshallow") as told:
        previous_release(tmp_path, commit="0" * 40)

    assert str(told.value) == MISSING


def test_each_release_imports_its_own_code(old: Release, new: Release) -> None:
    assert old.source != new.source
    with pytest.raises(AssertionError, match="would run"):
        Release(name="neither", source=old.source / "nowhere").check()
