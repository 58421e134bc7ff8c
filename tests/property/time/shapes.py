"""Random schedules, recurrence rules, calendars and instants, for the properties of core/time."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random

from hypothesis import reject
from hypothesis import strategies as st

from rota.contract.calendar import read_calendar
from rota.contract.schedule import read_schedule
from rota.core.errors import InvalidSchedule
from rota.core.time.calendars import Calendar
from rota.core.time.planning import PlannedTick, plan_ticks
from rota.core.time.schedule import SEARCH_HORIZON, Schedule

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ZONES = (
    *("UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Africa/Cairo"),
    *("Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Auckland", "Africa/Casablanca"),
)
CRONS = (
    *("* * * * *", "*/15 * * * *", "0 * * * *", "30 2 * * *", "0 2,3 * * *", "0 */2 * * *"),
    *("15,45 2 * * *", "0 9 * * MON-FRI", "0 0 1 * *", "0 0 L * *", "0 9 13 * FRI", "H H * * *"),
    *("*/30 1-3 * * *", "0 22-2 * * *", "30 0 0 * * *", "*/20 * * * * *", "0 12 29 2 *"),
)
RRULES = (
    *("FREQ=DAILY", "FREQ=DAILY;INTERVAL=3;BYHOUR=2;BYMINUTE=30", "FREQ=HOURLY;INTERVAL=5"),
    *("FREQ=WEEKLY;BYDAY=MO,FR;BYHOUR=9,17", "FREQ=MONTHLY;BYDAY=-1FR", "FREQ=MINUTELY;INTERVAL=7"),
    *("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", "FREQ=YEARLY;BYMONTH=3,10;BYDAY=-1SU"),
)
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")

instants = st.integers(0, 8 * 366 * 86_400 * 10).map(
    lambda tenths: NOW + timedelta(milliseconds=100 * tenths)
)
# Near the changes of clocks in Berlin and New York, where things go wrong.
CHANGES = (
    datetime(2026, 3, 8, 7, tzinfo=UTC),
    datetime(2026, 3, 29, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 1, tzinfo=UTC),
    datetime(2026, 11, 1, 6, tzinfo=UTC),
)
near_changes = st.builds(
    lambda change, seconds: change + timedelta(seconds=seconds),
    st.sampled_from(CHANGES),
    st.integers(-200_000, 20_000),
)
moments = st.one_of(instants, near_changes)
lengths = st.sampled_from(("1s", "7s", "90s", "15m", "1h", "36h"))
jitters = st.none() | st.fixed_dictionaries(
    {"window": st.sampled_from(("5s", "10m", "3h")), "stable": st.booleans()}
)
rules = st.one_of(
    st.fixed_dictionaries({"cron": st.sampled_from(CRONS)}),
    st.fixed_dictionaries({"cron": st.lists(st.sampled_from(CRONS), min_size=2, max_size=3)}),
    st.fixed_dictionaries({"rrule": st.sampled_from(RRULES)}),
    st.fixed_dictionaries({"every": lengths}),
    st.fixed_dictionaries(
        {"cron": st.sampled_from(CRONS), "rrule": st.sampled_from(RRULES), "every": lengths}
    ),
)
options = st.fixed_dictionaries(
    {
        "timezone": st.sampled_from(ZONES),
        "dst": st.fixed_dictionaries(
            {
                "gap": st.sampled_from(("run_after", "skip", "shift")),
                "overlap": st.sampled_from(("first", "second", "both")),
            }
        ),
        "jitter": jitters,
    }
)
specs = st.builds(lambda rule, option: {**rule, **option}, rules, options)
on_blackout = st.sampled_from(("skip", "defer", "advance"))
weekly = st.builds(
    lambda start, length: {"start": in_week(start), "end": in_week(start + length)},
    st.integers(0, 7 * 96 - 1),
    st.integers(1, 60 * 4),
)


def in_week(quarter: int) -> str:
    day, rest = divmod(quarter % (7 * 96), 96)
    return f"{WEEKDAYS[day]} {rest // 4:02}:{rest % 4 * 15:02}"


calendars = st.builds(
    lambda zone, windows, days: read_calendar(
        {"name": "quiet", "timezone": zone, "weekly": windows, "yearly": days}
    ),
    st.sampled_from(ZONES),
    st.lists(weekly, min_size=1, max_size=2),
    st.lists(st.sampled_from(("03-29", "10-25", "12-31", "01-01")), max_size=3, unique=True),
)


def made(spec: dict[str, object], seed: str = "acme/x") -> Schedule:
    return read_schedule(spec, now=NOW, seed=seed)


def with_calendar(spec: dict[str, object], choice: str) -> Schedule:
    return made({**spec, "calendars": ["quiet"], "on_blackout": choice})


def in_calendar(
    schedule: Schedule, after: datetime, quiet: Calendar, count: int
) -> list[PlannedTick]:
    """The first ticks; a schedule whose every tick is blacked out is no example."""
    ticks = plan_ticks(schedule, after, after + SEARCH_HORIZON, calendars={"quiet": quiet})
    try:
        return list(islice(ticks, count))
    except InvalidSchedule as closed:
        assert "leave time free" in closed.wanted
        reject()


FREQS = ("YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY")
DAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def rrule_text(chance: Random) -> str:
    """A random rule that the RFC allows; whether it ever fires is another matter."""
    freq = chance.choice(FREQS)
    parts = [f"FREQ={freq}", *day_parts(chance, freq)]
    if chance.random() < 0.5:
        parts.append(
            f"INTERVAL={chance.choice((2, 3, 4, 5, 7) if freq == 'YEARLY' else INTERVALS)}"
        )
    for name, top in (("BYHOUR", 24), ("BYMINUTE", 60), ("BYSECOND", 60)):
        if chance.random() < 0.3:
            parts.append(f"{name}=" + some(chance, range(top)))
    if chance.random() < 0.2:
        parts.append(f"WKST={chance.choice(DAYS)}")
    if freq in {"YEARLY", "MONTHLY", "DAILY"} and chance.random() < 0.2:
        parts.append("BYSETPOS=" + some(chance, [1, 2, 3, -1, -2]))
    if chance.random() < 0.2:
        parts.append(f"COUNT={chance.randint(1, 12)}")
    elif chance.random() < 0.2:
        parts.append(f"UNTIL={chance.randint(2024, 2028)}0701T000000")
    return ";".join(parts)


def day_parts(chance: Random, freq: str) -> list[str]:
    parts = []
    weeks = freq == "YEARLY" and chance.random() < 0.2
    if weeks:
        parts.append("BYWEEKNO=" + some(chance, range(1, 54), 6))
    if chance.random() < 0.3:
        parts.append("BYMONTH=" + some(chance, range(1, 13)))
    if chance.random() < 0.3 and freq != "WEEKLY":
        parts.append("BYMONTHDAY=" + some(chance, [n for n in range(-31, 32) if n]))
    if chance.random() < 0.15 and freq not in {"MONTHLY", "WEEKLY", "DAILY"}:
        parts.append("BYYEARDAY=" + some(chance, [n for n in range(-366, 367) if n], 30))
    if chance.random() < 0.4 or weeks:
        numbered = freq in {"YEARLY", "MONTHLY"} and not weeks and chance.random() < 0.5
        parts.append("BYDAY=" + (nth_days(chance) if numbered else some(chance, DAYS)))
    return parts


INTERVALS = (2, 3, 5, 7, 10, 13, 25, 30, 59, 60, 61, 90)


def some(chance: Random, pool: object, most: int = 3) -> str:
    values = list(pool)  # type: ignore[call-overload]
    chosen = chance.sample(values, chance.randint(1, min(most, len(values))))
    return ",".join(str(value) for value in chosen)


def nth_days(chance: Random) -> str:
    return ",".join(f"{chance.choice((1, 2, 4, 5, -1, -2))}{day}" for day in chance.sample(DAYS, 2))
