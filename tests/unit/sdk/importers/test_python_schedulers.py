"""Schedules of Celery and APScheduler, told by the attributes that their objects have.

The libraries are not installed with Rota: these objects have the shapes of Celery 5.7's and
APScheduler 3.11's.
"""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace as Object
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from rota.contract.schedule import read_schedule
from rota.core.errors import InvalidInput
from rota.core.time import planning
from rota.sdk.importers import apscheduler_jobs, celery_beat, modules
from rota.sdk.importers.import_result import ImportedJobs

NOW = datetime(2026, 7, 1, tzinfo=UTC)
BERLIN = ZoneInfo("Europe/Berlin")


def celery_crontab(**fields: Any) -> Object:
    names = ("minute", "hour", "day_of_week", "day_of_month", "month_of_year")
    return Object(tz=None, **{f"_orig_{name}": fields.get(name, "*") for name in names})


def celery(**entries: Any) -> ImportedJobs:
    app = Object(conf=Object(timezone="Europe/Berlin", beat_schedule=entries))
    return celery_beat.import_app(app, "shop:app", NOW)


def entry(schedule: Any, **more: Any) -> dict[str, Any]:
    return {"task": "shop.poll", "schedule": schedule, **more}


def cron_trigger(**fields: str) -> Object:
    """As CronTrigger fills it: what is finer than what is given is its least, the rest any."""
    names = ("year", "month", "day", "week", "day_of_week", "hour", "minute", "second")
    usual = dict.fromkeys(names, "*") | {"hour": "0", "minute": "0", "second": "0"}

    class Field:
        def __init__(self, name: str) -> None:
            self.name = name

        def __str__(self) -> str:
            return (usual | fields)[self.name]

    return Object(
        fields=[Field(name) for name in names],
        timezone=BERLIN,
        start_date=None,
        end_date=None,
        jitter=None,
    )


def aps(trigger: Any, **more: Any) -> ImportedJobs:
    job = Object(id="j", name="work", func_ref="shop:work", trigger=trigger, **more)
    return apscheduler_jobs.import_scheduler(Object(get_jobs=lambda: [job]), "shop:s", NOW)


def cron_of(**fields: str) -> str:
    return str(apscheduler_jobs.convert_trigger(cron_trigger(**fields))["cron"])


@pytest.mark.parametrize(
    ("schedule", "plain"),
    [
        (30.0, {"every": "PT30S"}),
        (timedelta(minutes=10), {"every": "PT10M"}),
        (Object(run_every=timedelta(hours=2)), {"every": "PT2H"}),
        (
            celery_crontab(minute=30, hour=7, day_of_week=1),
            {"cron": "30 7 * * 1", "timezone": "Europe/Berlin"},
        ),
        (
            celery_crontab(minute="*/15", hour={17, 9}),
            {"cron": "*/15 9,17 * * *", "timezone": "Europe/Berlin"},
        ),
        (
            celery_crontab(minute=0, hour=0, day_of_month="13", day_of_week="fri"),
            {"cron": "0 0 13 * fri", "timezone": "Europe/Berlin", "day_match": "all"},
        ),
    ],
)
def test_schedules_of_celery(schedule: Any, plain: dict[str, Any]) -> None:
    (job,) = celery(poll=entry(schedule)).jobs

    assert (job.name, job.body["kind"], job.body["schedule"]) == ("poll", "shop.poll", plain)


def test_entries_of_celery_keep_arguments_queue_and_expiry() -> None:
    found = celery(
        a=entry(60, kwargs={"x": 1}, options={"queue": "slow", "expires": 300, "priority": 3}),
        b=entry(60, args=(16,)),
    )

    first, second = found.jobs
    assert (first.body["payload"], first.body["queue"], first.body["deadline"]) == (
        *({"x": 1}, "slow", "PT5M"),
    )
    assert second.body["payload"] == {"args": [16], "kwargs": {}}
    assert found.notes[0].message == "option priority is not imported"


def test_what_celery_has_and_rota_has_not_is_left_out_and_told() -> None:
    sun = Object(event="sunset", lat=1, lon=2)
    found = celery(
        sun=entry(sun), odd=entry("soon"), raw=entry(60, args=(object(),)), ok=entry(60), bad={}
    )

    assert [job.name for job in found.jobs] == ["ok"]
    assert [each.place for each in found.skipped] == [
        *("shop:app 'sun'", "shop:app 'odd'", "shop:app 'raw'", "shop:app 'bad'"),
    ]


@pytest.mark.parametrize(
    ("fields", "cron"),
    [
        ({"day_of_week": "mon-fri", "hour": "9"}, "0 9 * * MON,TUE,WED,THU,FRI"),
        # Monday is 0 there and 1 in cron.
        ({"day_of_week": "0"}, "0 0 * * MON"),
        ({"day_of_week": "6"}, "0 0 * * SUN"),
        ({"day_of_week": "*/2"}, "0 0 * * MON,WED,FRI,SUN"),
        ({"day_of_week": "0-6"}, "0 0 * * *"),
        ({"day": "last"}, "0 0 L * *"),
        ({"day": "last fri", "hour": "17"}, "0 17 * * FRIL"),
        ({"day": "3rd mon,1st tue"}, "0 0 * * MON#3,TUE#1"),
        ({"hour": "*", "minute": "*", "second": "*/10"}, "*/10 * * * * *"),
        ({"year": "2026-2030", "month": "1"}, "0 0 0 * 1 * 2026-2030"),
    ],
)
def test_cron_triggers_of_apscheduler(fields: dict[str, str], cron: str) -> None:
    assert cron_of(**fields) == cron


def test_a_monday_of_apscheduler_is_a_monday() -> None:
    schedule = read_schedule(
        apscheduler_jobs.convert_trigger(cron_trigger(day_of_week="0", hour="9")), now=NOW
    )

    planned = planning.plan_next_tick(schedule, NOW)

    assert planned is not None
    assert planned.tick.local.strftime("%A %H:%M") == "Monday 09:00"


def test_both_day_fields_of_apscheduler_must_match() -> None:
    plain = apscheduler_jobs.convert_trigger(cron_trigger(day="1-7", day_of_week="tue"))

    assert (plain["cron"], plain["day_match"]) == ("0 0 1-7 * TUE", "all")


def test_jobs_of_apscheduler_keep_their_arguments_and_policies() -> None:
    start = datetime(2026, 7, 1, 12, tzinfo=BERLIN)
    interval = Object(interval=timedelta(minutes=10), start_date=start, end_date=None, jitter=5)

    (job,) = aps(
        interval,
        kwargs={"x": 1},
        args=(),
        max_instances=3,
        coalesce=False,
        misfire_grace_time=300,
        next_run_time=None,
    ).jobs

    assert job.body == {
        "kind": "shop:work",
        "schedule": {
            "every": {"interval": "PT10M", "anchor": "2026-07-01T10:00:00Z"},
            "jitter": "PT5S",
            "misfire": {"on_outage": "all", "start_deadline": "PT5M"},
        },
        "overlap": "allow",
        "payload": {"x": 1},
        "paused": True,
    }


def test_a_date_trigger_runs_once_and_one_that_has_passed_is_left_out() -> None:
    later, before = datetime(2026, 9, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC)

    assert aps(Object(run_date=later)).jobs[0].body["schedule"] == {"at": "2026-09-01T00:00:00Z"}
    assert len(aps(Object(run_date=before)).skipped) == 1


@pytest.mark.parametrize(
    "trigger", [Object(triggers=[]), cron_trigger(week="1"), cron_trigger(day="last fri,3")]
)
def test_what_apscheduler_has_and_rota_has_not_is_left_out(trigger: Any) -> None:
    found = aps(trigger)

    assert (found.jobs, len(found.skipped)) == ([], 1)


@pytest.mark.parametrize("place", ["nowhere", "no.such.module:app", "json:nothing", ":x"])
def test_a_module_that_is_not_there_is_told_in_a_sentence(place: str) -> None:
    with pytest.raises(InvalidInput):
        modules.load_object(place)


def test_something_else_than_an_app_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"conf\.beat_schedule"):
        celery_beat.import_app(object(), "x:y", NOW)
    with pytest.raises(InvalidInput, match="get_jobs"):
        apscheduler_jobs.import_scheduler(object(), "x:y", NOW)
