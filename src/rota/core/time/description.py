"""Describes a schedule in one English sentence.

Users read this sentence before they save a schedule, so it names everything that affects when a run
starts: the rules, the zone, the calendars, the jitter and the bounds. preview.py lists the upcoming
times.
"""

from datetime import datetime, timedelta
from typing import assert_never
from zoneinfo import ZoneInfo

from rota.core.time import durations, trigger
from rota.core.time.cron import Cron
from rota.core.time.interval import Every, EveryAfterEnd
from rota.core.time.policies import OnBlackout
from rota.core.time.rrule import Rrule
from rota.core.time.rrule.description import describe_rrule
from rota.core.time.schedule import Immediate, Once, OnDemand, OnEvent, Rule, Schedule

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
DAY, FEW_DAYS = timedelta(days=1), timedelta(days=3)
BLACKOUT_PHRASES = {
    OnBlackout.SKIP: "skips {}",
    OnBlackout.DEFER: "waits until {} ends",
    OnBlackout.ADVANCE: "runs before {} instead of during it",
}


def describe_schedule(schedule: Schedule) -> str:
    """Return "At 02:30 every day, Europe/Berlin; skips holidays; up to 5 minutes of jitter"."""
    first, *others = [_rule(rule, schedule.zone) for rule in schedule.rules]
    rules = "; and ".join([first, *(other[0].lower() + other[1:] for other in others)])
    if any(isinstance(rule, Cron | Rrule | Once) for rule in schedule.rules):
        rules += f", {schedule.timezone}"
    return "; ".join([rules, *_bounds(schedule)])


def _bounds(schedule: Schedule) -> list[str]:
    parts = []
    if schedule.calendars:
        names = " and ".join(schedule.calendars)
        parts.append(BLACKOUT_PHRASES[schedule.on_blackout].format(names))
    if schedule.jitter is not None:
        same = ", the same for every run" if schedule.jitter.stable else ""
        parts.append(f"up to {durations.to_words(schedule.jitter.window)} of jitter{same}")
    window = schedule.window
    if window.start is not None:
        parts.append(f"starting {_local(window.start, schedule.zone)}")
    if window.end is not None:
        parts.append(f"ending before {_local(window.end, schedule.zone)}")
    if window.max_runs is not None:
        parts.append(f"at most {window.max_runs} run{'' if window.max_runs == 1 else 's'}")
    return parts


def _rule(rule: Rule, zone: ZoneInfo) -> str:
    match rule:
        case Cron():
            return rule.describe()
        case Rrule():
            return describe_rrule(rule)
        case Every():
            anchor = f"{rule.anchor:%Y-%m-%d %H:%M:%S}Z"
            return f"Every {_period(rule.interval)}, counted from {anchor}"
        case EveryAfterEnd():
            return f"{durations.to_words(rule.delay)} after the previous run ends"
        case Once():
            return f"Once, at {_local(rule.at, zone)}"
        case Immediate():
            return "Once, immediately"
        case OnEvent():
            return trigger.describe_trigger(rule.trigger)
        case OnDemand():
            return "On demand only"
        case _:
            assert_never(rule)


def _period(interval: timedelta) -> str:
    """Return the interval in words. Whole days are given in hours, because "every day" would
    suggest a wall-clock time.
    """
    if interval >= DAY and interval <= FEW_DAYS and not interval % DAY:
        return f"{interval // HOUR} hours"
    if MINUTE < interval < 2 * MINUTE and not interval % SECOND:
        return f"{interval // SECOND} seconds"
    words = durations.to_words(interval)
    return words.removeprefix("1 ") if words.count(" ") == 1 else words


def _local(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local:%Y-%m-%d %H:%M:%S}" if local.second else f"{local:%Y-%m-%d %H:%M}"
