"""A whole Rota, and somebody with a key who means harm: the others are served (P8)."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from tests.support.hostile_schedules import CALENDARS, SCHEDULES, full_calendar, in_windows
from tests.support.installation import Installation, installed
from tests.support.serving import Answer, Caller
from tests.support.shop import until

from rota.runtime.clock import SystemClock

# How many requests a viewer has under way at a time.
AT_ONCE = 4


@pytest.fixture(scope="module")
def rota(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("rota")) as made:
        yield made


@pytest.fixture
async def admin(rota: Installation) -> AsyncIterator[Caller]:
    key = (rota.folder / ".rota" / "admin.key").read_text().strip()
    async with aiohttp.ClientSession() as session:
        yield Caller(session=session, url=rota.url, key=key)


async def with_role(admin: Caller, role: str) -> Caller:
    made = await admin.post("/v1/keys", {"name": f"a {role}", "role": role})
    assert made.status == 201, made.text
    return Caller(session=admin.session, url=admin.url, key=made.json["key"])


def previews() -> list[tuple[str, Any]]:
    """The unit tests have all of them (tests/unit/core/time/test_hostile_schedules.py)."""
    names = ["dense cron", "thirty dense crons", "sparse rrules", "72 windows a day"]
    names += ["sixteen rules", "no time is free", "dense rrule"]
    return [("/v1/schedules/preview", {"schedule": SCHEDULES[name]}) for name in names]


def plans() -> list[tuple[str, Any]]:
    """Jobs of all shapes with their calendars in the body; and a thousand heavy ones."""
    calendars = [{"name": name, "calendar": each} for name, each in CALENDARS.items()]
    bodies = [
        {
            "project": "p",
            "calendars": calendars,
            "jobs": [{"name": name, "kind": "k", "schedule": SCHEDULES[name]}],
        }
        for name in ("24 windows a day", "360 windows a day")
    ]
    rules = [f"FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYHOUR={hour}" for hour in range(4)]
    crowd = [
        {
            "name": f"job {place}",
            "kind": "k",
            "schedule": {"rrule": [f"{each};BYMINUTE={place % 60}" for each in rules]},
        }
        for place in range(1000)
    ]
    return [("/v1/manifests/plan", each) for each in [*bodies, {"project": "p", "jobs": crowd}]]


async def answered_meanwhile(somebody: Caller, answers: "asyncio.Future[Any]") -> list[int]:
    """What somebody else gets who asks for small things until all answers are there."""
    statuses = []
    while not answers.done():
        statuses.append((await somebody.get("/v1/jobs?limit=1")).status)
    return statuses


async def test_no_request_of_a_viewer_stops_the_process_or_keeps_others_from_being_answered(
    rota: Installation, admin: Caller
) -> None:
    for name in ("full-72", "sixteen", "even", "odd"):
        made = await admin.put(f"/v1/calendars/{name}", {"calendar": CALENDARS[name]})
        assert made.status < 300, made.text
    viewer, other = await with_role(admin, "viewer"), await with_role(admin, "operator")
    turns = asyncio.Semaphore(AT_ONCE)

    async def ask(path: str, body: Any) -> Answer:
        async with turns:
            return await viewer.post(path, body)

    asking = asyncio.gather(*(ask(path, body) for path, body in [*previews(), *plans()]))
    statuses = await answered_meanwhile(other, asking)
    answers = await asking

    assert {each.status for each in answers} <= {200, 422}, answers
    for each in answers:
        if each.status == 422:
            said = each.json["detail"]
            assert any(word in said for word in ("steps", "free", "processor time")), said
    assert set(statuses) == {200}
    assert rota.process.poll() is None


async def test_a_job_whose_first_tick_takes_too_long_to_find_is_refused(admin: Caller) -> None:
    await admin.put("/v1/calendars/full-72", {"calendar": full_calendar(72)})

    made = await admin.post(
        "/v1/jobs", {"name": "heavy", "kind": "kit.greet", "schedule": in_windows(72)}
    )

    assert made.status == 422
    assert made.json["code"] == "invalid_schedule"
    assert made.json["errors"][0]["pointer"].endswith("/schedule/calendars")
    assert "5,000 steps" in made.json["detail"]


async def test_a_stored_job_whose_next_tick_takes_too_long_is_set_aside_and_the_others_fire(
    admin: Caller,
) -> None:
    await admin.put("/v1/calendars/full-144", {"calendar": full_calendar(144)})
    good = await admin.post(
        "/v1/jobs",
        {
            "name": "good",
            "kind": "kit.greet",
            "schedule": {"every": "1s"},
            "payload": {"name": "x"},
        },
    )
    soon = SystemClock().now() + timedelta(seconds=12)
    if soon.second == 0:
        soon += timedelta(seconds=2)  # its window is a second long
    schedule = in_windows(144)
    schedule["at"] = [*schedule["at"], soon.isoformat()]
    heavy = await admin.post(
        "/v1/jobs", {"name": "stored", "kind": "kit.greet", "schedule": schedule}
    )
    assert (good.status, heavy.status) == (201, 201), heavy.text

    async def held() -> Any:
        job = (await admin.get(f"/v1/jobs/{heavy.json['job_id']}")).json
        return job if job["status"] == "quarantined" else None

    async def runs() -> int:
        listed = await admin.get(f"/v1/runs?job_id={good.json['job_id']}&limit=200")
        return len(listed.json["data"])

    job = await until(held, patience=60)
    before = await runs()

    async def went_on() -> bool:
        return await runs() > before

    await until(went_on, patience=60)
    assert "steps" in str(job)
