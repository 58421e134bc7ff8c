"""Jobs that have most in common are written the short way, to the same rows as the long one."""

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.support.world import World

from rota.core.errors import NameTaken, QuotaExceeded
from rota.core.limits import Limit
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import from_plain
from rota.core.submission import JobSpec
from rota.core.time.planning import NO_CALENDARS
from rota.core.uniqueness import Unique
from rota.flow.submit import alike, submitting
from rota.flow.submit.alike import Alike, Drafted

TIMES = ("2026-08-01T00:00:00Z", "2026-08-01T02:00:00.25+01:00", "2027-01-01 00:00:00Z")
PAYLOADS = ({"n": 1, "text": "ä"}, None, [1, {"deep": [2.5]}])
ONCE = JobSpec(name="first", kind="noop", schedule={"at": TIMES[0]}, payload=PAYLOADS[0])


def drafted(world: World, spec: JobSpec, **own: Any) -> Drafted | None:
    times = TIMES if spec.schedule and "at" in spec.schedule else None
    given = Alike(
        spec, **{"names": ("first", "b", "c"), "payloads": PAYLOADS, "times": times} | own
    )
    return alike.draft(given, now=world.now, new_id=world.new_id, calendars=NO_CALENDARS)


async def written(world: World, names: list[str]) -> list[dict[str, Any]]:
    """All that is stored of jobs but their ids and names, and when they were made."""
    rows = await world.conn.fetch(
        "select to_jsonb(j) as job, to_jsonb(c) as cursor"
        " from unnest($1::text[]) with ordinality as n (name, place)"
        " join rota.jobs as j using (name) join rota.cursors as c on c.job_id = j.id"
        " order by n.place",
        names,
    )
    own = {"id", "name", "created_at", "updated_at", "job_id", "shard"}
    return [
        {key: value for part in row for key, value in json.loads(part).items() if key not in own}
        for row in rows
    ]


SORTS = {
    "a time": ONCE,
    "cron": replace(ONCE, schedule={"cron": "30 2 * * 1", "timezone": "Europe/Berlin"}),
    "an interval with a cap": replace(ONCE, schedule={"every": "1h", "window": {"max_runs": 3}}),
    "a delay": replace(ONCE, schedule={"after": "90s"}),
    "much said": replace(
        ONCE,
        queue="heavy",
        policy=from_plain({"timeout": "5m", "deadline": "1h", "guarantee": "at_most_once"}),
        priority=2,
        overlap=Overlap.ALLOW,
        when_queue_paused=WhenQueuePaused.ACCUMULATE,
        labels={"team": "ops"},
        user_id="u001",
    ),
}


@pytest.mark.parametrize("spec", SORTS.values(), ids=SORTS)
async def test_the_short_way_leads_to_the_same_rows_as_the_long_one(
    world: World, spec: JobSpec
) -> None:
    found = drafted(world, spec)
    assert found is not None

    short = await alike.submit(world.conn, found, now=world.now, calendars=NO_CALENDARS)
    times = TIMES if "at" in (spec.schedule or {}) else ("",) * 3
    specs = [
        replace(spec, name=name, payload=payload, schedule={"at": at} if at else spec.schedule)
        for name, payload, at in zip("xyz", PAYLOADS, times, strict=True)
    ]
    long = await submitting.submit(world.conn, specs, now=world.now, new_id=world.new_id)

    assert await written(world, ["first", "b", "c"]) == await written(world, ["x", "y", "z"])
    assert [each[1:] for each in short] == [each[1:] for each in long]


@pytest.mark.parametrize(
    "spec",
    [
        replace(ONCE, schedule={"immediate": True}),
        replace(ONCE, schedule={"on_demand": True}),
        replace(ONCE, schedule={"event": "paid"}),
        replace(ONCE, schedule={"cron": "H 2 * * *"}),
        replace(ONCE, schedule={"every": "1h", "jitter": "5m"}),
        replace(ONCE, schedule={"at": TIMES[0], "timezone": "Europe/Berlin"}),
        replace(ONCE, overlap=Overlap.QUEUE_ONE),
        replace(ONCE, limits=(Limit(key="customer:{args.n}", most=1),)),
        replace(ONCE, unique=Unique(key="{args.n}")),
        replace(ONCE, kind=""),
    ],
)
async def test_what_may_concern_one_and_not_another_goes_the_long_way(
    world: World, spec: JobSpec
) -> None:
    assert drafted(world, spec) is None


@pytest.mark.parametrize(
    "own",
    [
        {"names": ("first", "b", "first")},
        {"names": ("first", "b", "\x07")},
        {"payloads": (1, 2, "\x00")},
        {"payloads": (1, 2, "{{secret:name}}")},
        {"times": (*TIMES[:2], "2026-06-30T00:00:00Z")},
        {"times": (*TIMES[:2], "2126-06-30T00:00:00Z")},
        {"times": (*TIMES[:2], "tomorrow")},
    ],
)
async def test_one_that_is_not_plainly_good_sends_all_the_long_way(
    world: World, own: dict[str, Any]
) -> None:
    assert drafted(world, ONCE, **own) is None


async def test_a_name_that_is_taken_refuses_all_of_them_and_says_which(world: World) -> None:
    await submitting.submit(
        world.conn, [replace(ONCE, name="c")], now=world.now, new_id=world.new_id
    )
    found = drafted(world, ONCE)
    assert found is not None

    with pytest.raises(NameTaken) as refused:
        await alike.submit(world.conn, found, now=world.now, calendars=NO_CALENDARS)

    assert refused.value.field == "jobs[2].name"
    assert await world.conn.fetchval("select count(*) from rota.jobs") == 1


async def test_all_of_them_count_against_the_quota(world: World) -> None:
    await world.conn.execute("""update rota.tenants set quotas = '{"max_jobs": 2}'""")
    found = drafted(world, ONCE)
    assert found is not None

    with pytest.raises(QuotaExceeded):
        await alike.submit(world.conn, found, now=world.now, calendars=NO_CALENDARS)

    assert await world.conn.fetchval("select count(*) from rota.jobs") == 0
