"""A schedule as JSON, and back; everything wrong is refused with its path (S2 to S6, S9 to S11)."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from rota.contract.schedule import read_saved_schedule, read_schedule, write_schedule
from rota.core.errors import InvalidSchedule
from rota.core.time.interval import Every
from rota.core.time.schedule import Once

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)

EVERYTHING = {
    "cron": "30 2 * * *",
    "timezone": "Europe/Berlin",
    "day_match": "any",
    "dst": {"gap": "run_after", "overlap": "first"},
    "calendars": ["de-holidays"],
    "on_blackout": "skip",
    "jitter": {"window": "PT5M", "stable": True},
    "window": {"start": "2026-01-01T00:00:00Z", "end": "2027-01-01T00:00:00Z", "max_runs": 10},
    "misfire": {
        "on_outage": "once",
        "on_resume": "skip",
        "on_edit": "skip",
        "start_deadline": "PT1H",
        "max_catchup": 100,
        "pace": "10/min",
        "late_after": "PT1M",
    },
}


def test_a_schedule_with_everything_is_stored_as_it_is_written() -> None:
    made = read_schedule(EVERYTHING, now=NOW, seed="acme/x")

    assert write_schedule(made) == EVERYTHING
    assert read_saved_schedule(json.loads(json.dumps(write_schedule(made))), seed="acme/x") == made


def test_defaults_are_spelled_out_so_that_new_defaults_do_not_change_old_jobs() -> None:
    assert write_schedule(read_schedule({"cron": "@daily"}, now=NOW)) == {
        "cron": "@daily",
        "timezone": "UTC",
        "day_match": "any",
        "dst": {"gap": "run_after", "overlap": "first"},
        "calendars": [],
        "on_blackout": "skip",
        "jitter": None,
        "window": {"start": None, "end": None, "max_runs": None},
        "misfire": {
            "on_outage": "once",
            "on_resume": "skip",
            "on_edit": "skip",
            "start_deadline": None,
            "max_catchup": 100,
            "pace": None,
            "late_after": "PT1M",
        },
    }


@pytest.mark.parametrize(
    "spec",
    [
        {"cron": ["0 9 * * *", "0 17 * * *"], "day_match": "all"},
        {"cron": "H H * * *"},
        {"rrule": "FREQ=WEEKLY;BYDAY=MO;BYHOUR=9", "timezone": "Europe/Berlin"},
        {"rrule": ["FREQ=DAILY", "FREQ=HOURLY"], "cron": "0 9 * * *", "every": "1h"},
        {"every": "90s"},
        {"every": ["90s", {"interval": "PT1H", "anchor": "2026-01-01T00:00:00.5Z"}]},
        {"fixed_delay": "15m"},
        {"at": ["2026-08-01T00:00:00Z", "2026-09-01T00:00:00Z"]},
        {"after": "10m"},
        {"immediate": True},
        {"event": "orders.created"},
        {"on_demand": True},
        {"cron": "0 9 * * *", "misfire": {"pace": "3/PT90S"}},
    ],
)
def test_every_kind_of_schedule_survives_the_store(spec: dict[str, object]) -> None:
    made = read_schedule(spec, now=NOW, seed="acme/x")

    stored = json.loads(json.dumps(write_schedule(made)))

    assert read_saved_schedule(stored, seed="acme/x") == made
    assert write_schedule(read_saved_schedule(stored, seed="acme/x")) == stored


def test_the_aliases_of_crontabs_become_what_they_mean() -> None:
    made = read_schedule(
        {"cron": ["@every 1h/10m", "@at 2026-08-01T00:00:00Z", "@every 90s"]}, now=NOW
    )

    phased, plain_one, once = made.rules
    assert isinstance(phased, Every)
    assert phased.next_at(NOW) == datetime(2026, 7, 1, 12, 10, tzinfo=UTC)
    assert isinstance(plain_one, Every)
    assert plain_one.anchor == NOW
    assert once == Once(at=datetime(2026, 8, 1, tzinfo=UTC))


def test_a_program_may_write_datetimes_and_timedeltas() -> None:
    made = read_schedule(
        {"at": datetime(2026, 8, 1, tzinfo=UTC), "every": timedelta(minutes=90)}, now=NOW
    )

    assert write_schedule(made)["at"] == "2026-08-01T00:00:00Z"
    assert write_schedule(made)["every"] == {
        "interval": "PT1H30M",
        "anchor": "2026-07-01T12:00:00Z",
    }
    with pytest.raises(InvalidSchedule, match=r"^at: '2026-08-01T00:00:00' is invalid"):
        read_schedule({"at": datetime(2026, 8, 1)}, now=NOW)  # noqa: DTZ001


@pytest.mark.parametrize(
    "spec",
    [
        {"cron": "CRON_TZ=Europe/Berlin 0 9 * * *"},
        {"cron": ["CRON_TZ=Europe/Berlin 0 9 * * *", "0 10 * * *"], "timezone": "Europe/Berlin"},
        {"rrule": "DTSTART;TZID=Europe/Berlin:20260101T090000\nRRULE:FREQ=DAILY"},
    ],
)
def test_a_zone_inside_a_rule_becomes_the_schedules_own(spec: dict[str, object]) -> None:
    made = read_schedule(spec, now=NOW)

    assert made.timezone == "Europe/Berlin"
    assert "Berlin" not in str(write_schedule(made).get("cron"))
    assert read_saved_schedule(write_schedule(made)) == made


@pytest.mark.parametrize(
    "spec",
    [
        {"cron": "CRON_TZ=Europe/Berlin 0 9 * * *", "timezone": "Asia/Tokyo"},
        {"cron": ["CRON_TZ=Europe/Berlin 0 9 * * *", "TZ=Asia/Tokyo 0 9 * * *"]},
        {"rrule": "DTSTART:20260101T090000Z\nRRULE:FREQ=DAILY", "timezone": "Asia/Tokyo"},
    ],
)
def test_two_zones_are_refused(spec: dict[str, object]) -> None:
    with pytest.raises(InvalidSchedule, match="a schedule must have a single time zone"):
        read_schedule(spec, now=NOW)


@pytest.mark.parametrize(
    ("spec", "field", "wanted"),
    [
        ("0 9 * * *", "schedule", "an object with cron"),
        ({}, "schedule", "one of cron, rrule"),
        ({"cron": None}, "schedule", "one of cron"),
        ({"corn": "0 9 * * *"}, "corn", "did you mean cron?"),
        ({"cron": 5}, "cron", "a cron expression such as"),
        ({"cron": []}, "cron", "or a list of 1 to 32"),
        ({"cron": ["0 9 * * *", ""]}, "cron[1]", "expected text of 1 to"),
        ({"cron": "61 9 * * *"}, "cron", "minute"),
        ({"cron": "@every"}, "cron", "an interval such as @every 90s"),
        ({"cron": "@every 500ms"}, "cron", "at least 1 second"),
        ({"cron": "@every 1h/1h"}, "cron", "the phase after the slash must be shorter"),
        ({"cron": "@at tomorrow"}, "cron", "an instant with an offset"),
        ({"cron": "@daily", "timezone": "Mars/Olympus"}, "timezone", "an IANA time zone"),
        ({"cron": "@daily", "timezone": 1}, "timezone", "an IANA zone name"),
        ({"cron": "@daily", "day_match": "both"}, "day_match", "one of any, all"),
        ({"cron": "@daily", "dst": {"gap": "jump"}}, "dst.gap", "one of run_after, skip, shift"),
        ({"cron": "@daily", "dst": {"fold": "first"}}, "dst.fold", "gap, overlap"),
        ({"cron": "@daily", "dst": "skip"}, "dst", "an object with gap, overlap"),
        ({"cron": "@daily", "calendars": [1]}, "calendars[0]", "the name of a calendar"),
        ({"cron": "@daily", "on_blackout": "run"}, "on_blackout", "one of skip, defer, advance"),
        ({"cron": "@daily", "jitter": {"window": "2d"}}, "jitter.window", "at most 1 day"),
        ({"cron": "@daily", "jitter": {"stable": True}}, "jitter.window", "a duration"),
        ({"cron": "@daily", "jitter": {"window": "5m", "stable": 1}}, "jitter.stable", "true or f"),
        ({"cron": "@daily", "window": {"begin": 1}}, "window.begin", "start, end, max_runs"),
        ({"cron": "@daily", "window": {"max_runs": 0}}, "window.max_runs", "a whole number"),
        ({"cron": "@daily", "window": {"max_runs": True}}, "window.max_runs", "a whole number"),
        (
            {
                "cron": "@daily",
                "window": {"start": "2027-01-01T00:00:00Z", "end": "2026-12-01T00:00:00Z"},
            },
            "window.end",
            "must be after window.start",
        ),
        (
            {"cron": "@daily", "misfire": {"on_outtage": "all"}},
            "misfire.on_outtage",
            "did you mean on_outage?",
        ),
        (
            {"cron": "@daily", "misfire": {"on_outage": "some"}},
            "misfire.on_outage",
            "one of once",
        ),
        (
            {"cron": "@daily", "misfire": {"start_deadline": "10s"}},
            "misfire.start_deadline",
            "at least 30 seconds",
        ),
        ({"cron": "@daily", "misfire": {"max_catchup": 1001}}, "misfire.max_catchup", "1 to 1,000"),
        ({"cron": "@daily", "misfire": {"pace": "fast"}}, "misfire.pace", "10/min"),
        ({"cron": "@daily", "misfire": {"pace": "0/min"}}, "misfire.pace", "10/min"),
        ({"every": "500ms"}, "every.interval", "at least 1 second"),
        ({"every": 90}, "every", "an object with interval, anchor"),
        ({"every": {"anchor": "2026-01-01T00:00:00Z"}}, "every.interval", "a duration"),
        ({"every": {"interval": "1h", "anchor": "now"}}, "every.anchor", "an instant"),
        ({"every": ["1h", "2x"]}, "every[1].interval", "a duration"),
        ({"fixed_delay": "0s"}, "fixed_delay.delay", "at least 1 second"),
        ({"fixed_delay": {}}, "fixed_delay.delay", "a duration"),
        ({"at": "2026-08-01"}, "at", "an instant with an offset"),
        ({"after": "soon"}, "after", "a duration"),
        ({"event": ""}, "event", "of 1 to 200 characters"),
        ({"immediate": False}, "immediate", "must be true"),
        (
            {"immediate": True, "cron": "@daily"},
            "immediate",
            "cannot be combined with another rule",
        ),
        (
            {"fixed_delay": "1h", "every": "1h"},
            "fixed_delay",
            "cannot be combined with another rule",
        ),
        ({"event": "x", "jitter": "5m"}, "jitter", "a rule with times"),
        ({"on_demand": True, "calendars": ["x"]}, "calendars", "a rule with times"),
        ({"rrule": "FREQ=NEVER"}, "rrule", "FREQ must be one of"),
        ({"rrule": ["FREQ=DAILY"] * 5}, "rrule", "a list of 1 to 4"),
        ({"cron": ["@daily"] * 33}, "cron", "a list of 1 to 32"),
        ({"cron": ["@daily"] * 20, "every": ["1h"] * 20}, "schedule", "at most 32"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(spec: object, field: str, wanted: str) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        read_schedule(spec, now=NOW)

    assert refused.value.field == field
    assert wanted in refused.value.wanted


@pytest.mark.parametrize(
    ("spec", "field", "wanted"),
    [
        ({"at": "2026-06-30T00:00:00Z"}, "at", "no tick within 8 years"),
        ({"at": "2035-06-30T00:00:00Z"}, "at", "no tick within 8 years"),
        ({"cron": "0 0 0 1 1 * 2020"}, "cron", "no tick within 8 years"),
        ({"cron": ["@daily", "0 0 0 1 1 * 2040"]}, "cron", "no tick within 8 years"),
        (
            {"rrule": "DTSTART:20200101T000000\nRRULE:FREQ=DAILY;COUNT=3"},
            "rrule",
            "no tick within 8 years",
        ),
        ({"cron": "@yearly", "window": {"end": "2026-09-01T00:00:00Z"}}, "cron", "before the win"),
        ({"cron": "@daily", "window": {"end": "2026-06-01T00:00:00Z"}}, "window.end", "in the fu"),
        (
            {"every": "1h", "window": {"start": "2040-01-01T00:00:00Z"}},
            "every",
            "no tick within 8 years",
        ),
    ],
)
def test_what_would_never_fire_is_refused_when_it_is_saved(
    spec: dict[str, object], field: str, wanted: str
) -> None:
    with pytest.raises(InvalidSchedule) as refused:
        read_schedule(spec, now=NOW)

    assert refused.value.field == field
    assert wanted in refused.value.wanted


def test_a_schedule_that_has_ended_still_loads() -> None:
    stored = write_schedule(read_schedule({"at": "2026-08-01T00:00:00Z"}, now=NOW))

    assert read_saved_schedule(stored).rules == (Once(at=datetime(2026, 8, 1, tzinfo=UTC)),)


@pytest.mark.parametrize("spec", [{"every": "1h"}, {"after": "1h"}, {"rrule": "FREQ=DAILY"}])
def test_what_depends_on_the_time_of_creation_cannot_come_from_the_store(
    spec: dict[str, object],
) -> None:
    with pytest.raises(InvalidSchedule):
        read_saved_schedule(spec)
