"""Where CronSim and croniter answer otherwise than Rota, and why: the committed list.

A random case on which a library differs must be explained by one of these rules, or the comparison
fails. Each rule carries an example on which the difference is checked to exist still, so the list
cannot outlive what it describes. A "change" is a change of the clocks in the case's zone.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from tests.property.time.cases import zone
from tests.property.time.oracle import Expression, transitions

# An answer that a change can bend lies within a day of it.
NEAR = timedelta(hours=25)
HOUR = timedelta(hours=1)
NEVER = "NeverAnswersError"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One question, and two answers: an instant, or the name of what was raised instead."""

    text: str
    zone_name: str
    after: datetime
    ours: datetime | str
    theirs: datetime | str

    @property
    def words(self) -> list[str]:
        """The six fields, seconds first."""
        words = self.text.upper().split()
        return words if self.has_seconds else ["0", *words]

    @property
    def has_seconds(self) -> bool:
        return len(self.text.split()) > 5

    @property
    def elapsed(self) -> bool:
        return Expression(self.text).follows_elapsed_time

    @property
    def changes(self) -> list["Change"]:
        answers = [at for at in (self.ours, self.theirs) if isinstance(at, datetime)]
        first, last = self.after - NEAR, max([self.after, *answers]) + NEAR
        here = zone(self.zone_name)
        return [
            Change(after=at.astimezone(here).replace(tzinfo=None), jump=jump)
            for at, jump in transitions(here)
            if first <= at <= last
        ]

    def theirs_is_named(self) -> bool:
        """Whether the expression names the wall time of the library's answer at all."""
        return Expression(self.text).names(self.theirs_local().replace(tzinfo=None))

    def theirs_local(self) -> datetime:
        assert isinstance(self.theirs, datetime)
        return self.theirs.astimezone(zone(self.zone_name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of the clocks: what the wall shows right after it, and how far it went."""

    after: datetime
    jump: timedelta

    @property
    def before(self) -> datetime:
        return self.after - self.jump

    @property
    def shows_midnight_twice(self) -> bool:
        late = self.before.time() != datetime.min.time()
        return late and self.after.date() < self.before.date()

    @property
    def takes_in_midnight(self) -> bool:
        first, last = min(self.before, self.after), max(self.before, self.after)
        return first.time() == datetime.min.time() or first.date() != last.date()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    why: str
    explains: Callable[[Case], bool]
    example: tuple[str, str, str]

    @property
    def name(self) -> str:
        return self.explains.__name__

    @property
    def after(self) -> datetime:
        return datetime.fromisoformat(self.example[2]).replace(tzinfo=UTC)


def answered(case: Case) -> bool:
    return isinstance(case.theirs, datetime) and isinstance(case.ours, datetime)


def cronsim_handles_changes(case: Case) -> bool:
    """Debian's rule: five fields, and neither minute nor hour begins with a star."""
    starred = case.words[1].startswith("*") or case.words[2].startswith("*")
    return not starred and not case.has_seconds


def counts_weekdays_to_seven(case: Case) -> bool:
    starts = re.findall(r"(?:^|,)([1-6])/(\d)", case.words[5])
    return any((7 - int(first)) % int(step) == 0 for first, step in starts)


def calls_every_nth_hour_a_wildcard(case: Case) -> bool:
    return not case.elapsed and case.words[2].startswith("*/") and bool(case.changes)


def leaves_seconds_unhandled(case: Case) -> bool:
    return not case.elapsed and case.has_seconds and bool(case.changes)


def goes_by_the_star(case: Case) -> bool:
    return case.elapsed and cronsim_handles_changes(case) and bool(case.changes)


def forgets_the_second_fold(case: Case) -> bool:
    return cronsim_handles_changes(case) and case.after.astimezone(zone(case.zone_name)).fold == 1


def strides_by_hours(case: Case) -> bool:
    awkward = any(
        change.jump % HOUR or change.before.minute or change.takes_in_midnight
        for change in case.changes
    )
    return answered(case) and not cronsim_handles_changes(case) and awkward


def never_answers(case: Case) -> bool:
    return case.theirs == NEVER and any(change.shows_midnight_twice for change in case.changes)


CRONSIM = [
    Difference(
        why="`1/2` in the day-of-week field counts to 7, so that Sunday joins Monday, Wednesday and"
        " Friday; in Rota a week has the days 0 to 6 and the step stops at Saturday",
        explains=counts_weekdays_to_seven,
        example=("0 12 * * 1/2", "UTC", "2026-01-03"),
    ),
    Difference(
        why="an hour field of `*/2` counts as a wildcard, as in Debian: it is skipped in the gap"
        " and runs twice in the overlap; for Rota only a full hour field follows elapsed time",
        explains=calls_every_nth_hour_a_wildcard,
        example=("0 */2 * * *", "Europe/Berlin", "2026-03-29 00:30"),
    ),
    Difference(
        why="expressions with seconds get no handling of gaps and overlaps at all",
        explains=leaves_seconds_unhandled,
        example=("0 30 2 * * *", "Europe/Berlin", "2026-03-28 12:00"),
    ),
    Difference(
        why="whether an expression follows elapsed time is decided by a leading star, not by what"
        " matches: `0 0-23 * * *` is hourly in Rota, and wall-clock time there",
        explains=goes_by_the_star,
        example=("0 0-23 * * *", "Europe/Berlin", "2026-10-25 00:00"),
    ),
    Difference(
        why="drops the zone of the start, so that a start in the second pass of an overlap is taken"
        " for one in the first: the answer can lie before the start",
        explains=forgets_the_second_fold,
        example=("30 2 * * *", "Europe/Berlin", "2026-10-25 01:10"),
    ),
    Difference(
        why="where it leaves changes unhandled it strides by whole hours from midnight, and loses"
        " its place when the change is at midnight, off the full hour or not by full hours",
        explains=strides_by_hours,
        example=("*/30 1 18 10 *", "America/Sao_Paulo", "2015-10-01"),
    ),
    Difference(
        why="goes back to the first of two midnights for ever and never answers",
        explains=never_answers,
        example=("30 * * * 0-3", "America/St_Johns", "2009-10-31 05:25:13"),
    ),
]


def joins_special_days_by_and(case: Case) -> bool:
    both = case.words[3][0] != "*" and case.words[5][0] != "*"
    special = "#" in case.words[5] or "L" in case.words[5] or "W" in case.words[3]
    return both and special


def gives_up_on_an_impossible_alternative(case: Case) -> bool:
    if case.theirs != "CroniterBadDateError" or case.words[5][0] == "*":
        return False
    days = Expression(f"0 0 {case.words[3]} {case.words[4]} *")
    # Eight years hold every day of every month, 29 February twice.
    return not any(days.names_day(date(2024, 1, 1) + timedelta(days=i)) for i in range(8 * 366))


def moves_a_missing_day_into_the_month(case: Case) -> bool:
    return case.words[3] in ("29W", "30W", "31W")


def counts_anew_after_wrapping(case: Case) -> bool:
    ranges = (re.fullmatch(r"(\d+)-(\d+)/\d+", word) for word in case.words)
    return any(found and int(found[1]) > int(found[2]) for found in ranges)


def refuses_seven_with_seconds(case: Case) -> bool:
    return case.theirs == "CroniterBadCronError" and case.has_seconds and "7" in case.words[5]


def runs_wall_clock_times_twice(case: Case) -> bool:
    if not answered(case) or case.elapsed:
        return False
    return case.theirs_local().fold == 1 and case.theirs_is_named()


def moves_what_follows_elapsed_time(case: Case) -> bool:
    if not answered(case) or not case.elapsed:
        return False
    return not case.theirs_is_named() and any(change.jump > 0 * HOUR for change in case.changes)


def keeps_the_seconds_of_a_moved_time(case: Case) -> bool:
    if not answered(case) or case.elapsed or not case.has_seconds:
        return False
    return any(
        case.theirs_local().replace(tzinfo=None, second=0) == change.after
        for change in case.changes
        if change.jump > 0 * HOUR
    )


def loses_a_second_pass_off_the_hour(case: Case) -> bool:
    if not answered(case) or not case.elapsed:
        return False
    return str(case.ours) < str(case.theirs) and any(
        change.jump < 0 * HOUR and (change.before.minute or change.after.minute)
        for change in case.changes
    )


CRONITER = [
    Difference(
        why="a day of the month together with `5#3`, `L5` or `15W` must both match; without those"
        " it is the documented `or`",
        explains=joins_special_days_by_and,
        example=("0 12 1 * FRI#3", "UTC", "2026-01-02"),
    ),
    Difference(
        why="looks for both alternatives to the end: a 31 April that never comes hides the Mondays",
        explains=gives_up_on_an_impossible_alternative,
        example=("0 12 31 4 MON", "UTC", "2026-01-01"),
    ),
    Difference(
        why="`31W` in a month of 30 days counts from the 30th; in Rota a day that the month does"
        " not have does not match, with `W` as without",
        explains=moves_a_missing_day_into_the_month,
        example=("0 12 31W * *", "UTC", "2026-04-01"),
    ),
    Difference(
        why="the step of a range over the end starts anew at a wrong place: `23-2/2` is 23 and 2",
        explains=counts_anew_after_wrapping,
        example=("0 23-2/2 * * *", "UTC", "2026-01-01 23:30"),
    ),
    Difference(
        why="with a field for seconds, 7 is not accepted for Sunday",
        explains=refuses_seven_with_seconds,
        example=("0 0 12 * * 7", "UTC", "2026-01-01"),
    ),
    Difference(
        why="wall-clock times run in both passes of an overlap",
        explains=runs_wall_clock_times_twice,
        example=("30 2 * * *", "Europe/Berlin", "2026-10-25 00:30"),
    ),
    Difference(
        why="only a star in the hour field makes an expression follow elapsed time, so `* 2 * * *`"
        " is moved out of a gap",
        explains=moves_what_follows_elapsed_time,
        example=("* 2 * * *", "Europe/Berlin", "2026-03-28 12:00"),
    ),
    Difference(
        why="a time moved out of a gap keeps its seconds instead of running at the first instant",
        explains=keeps_the_seconds_of_a_moved_time,
        example=("30 30 2 * * *", "Europe/Berlin", "2026-03-28 12:00"),
    ),
    Difference(
        why="of an overlap that does not begin at a full hour the second pass is lost in part:"
        " `*/20 * * * *` rests for fifty minutes on Lord Howe",
        explains=loses_a_second_pass_off_the_hour,
        example=("*/20 * * * *", "Australia/Lord_Howe", "2004-03-27 14:46:15"),
    ),
]
