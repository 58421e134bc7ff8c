"""What an expression means, found out the slow way: look at every minute and ask.

Shares no code with rota.core.time and uses none of its ideas: no masks, no spans, no jumps. A field
is asked value by value whether its text names the value; a zone is a row of minutes with the wall
time that `zoneinfo` shows at each. Slow, and simple enough to be believed.
"""

import calendar
from bisect import bisect_right
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
RANGES = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 6), (1970, 2199))
MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]


def number(text: str) -> int:
    if text in MONTHS:
        return MONTHS.index(text) + 1
    return WEEKDAYS.index(text) if text in WEEKDAYS else int(text)


def in_order(place: int, body: str, *, stepped: bool) -> list[int]:
    """The values of a range, in the order in which a step counts them."""
    low, high = RANGES[place]
    if body in ("*", "?"):
        return list(range(low, high + 1))
    if "-" not in body:
        first = number(body)
        return list(range(first, high + 1)) if stepped else [first]
    first, last = (number(end) for end in body.split("-"))
    if first <= last:
        return list(range(first, last + 1))
    return [*range(first, high + 1), *range(low, last + 1)]


def named(place: int, text: str) -> set[int]:
    """The plain values that a field's text names; Sunday is 0."""
    values = set()
    for item in text.split(","):
        if not is_special(place, item):
            body, slash, step = item.partition("/")
            every = in_order(place, body, stepped=bool(slash))
            values |= {value for i, value in enumerate(every) if i % int(step or 1) == 0}
    return {value % 7 for value in values} if place == 5 else values


def is_special(place: int, item: str) -> bool:
    if place == 3:
        return "L" in item or "W" in item
    return place == 5 and ("#" in item or item.endswith("L"))


def month_end(day: date) -> int:
    return calendar.monthrange(day.year, day.month)[1]


def day_is(item: str, day: date) -> bool:
    """Whether a special part of the day-of-month or day-of-week field names this day."""
    last = month_end(day)
    if item == "L":
        return day.day == last
    if item == "LW":
        workdays = [d for d in range(1, last + 1) if day.replace(day=d).weekday() < 5]
        return day.day == workdays[-1]
    if item.startswith("L-"):
        return day.day == last - int(item[2:])
    if item.endswith("W"):
        return int(item[:-1]) <= last and day.day == nearest(day, int(item[:-1]))
    weekday = (day.weekday() + 1) % 7
    if "#" in item:
        name, nth = item.split("#")
        return number(name) % 7 == weekday and (day.day - 1) // 7 + 1 == int(nth)
    return number(item[:-1]) % 7 == weekday and day.day + 7 > last


def nearest(month: date, target: int) -> int:
    """The closest Monday-to-Friday in the month; there is never a tie."""
    days = range(1, month_end(month) + 1)
    workdays = [d for d in days if month.replace(day=d).weekday() < 5]
    return min(workdays, key=lambda d: abs(d - target))


class Expression:
    """A cron expression as a question: is this wall time one of yours?"""

    def __init__(self, text: str, *, day_match: str = "any") -> None:
        words = text.upper().split()
        self.has_seconds = len(words) > 5
        self.words = words if self.has_seconds else ["0", *words]
        self.sets = [named(place, word) for place, word in enumerate(self.words)]
        starred = self.words[3][0] in "*?" or self.words[5][0] in "*?"
        self.either = day_match == "any" and not starred
        self.days: dict[date, bool] = {}

    def names(self, moment: datetime) -> bool:
        return (
            moment.minute in self.sets[1]
            and moment.hour in self.sets[2]
            and moment.second in self.sets[0]
            and self.names_day(moment.date())
        )

    def names_day(self, day: date) -> bool:
        if day not in self.days:
            self.days[day] = self._names_day(day)
        return self.days[day]

    def _names_day(self, day: date) -> bool:
        if day.month not in self.sets[4]:
            return False
        if len(self.words) == 7 and day.year not in self.sets[6]:
            return False
        by_day = day.day in self.sets[3] or self._specially(3, day)
        by_weekday = (day.weekday() + 1) % 7 in self.sets[5] or self._specially(5, day)
        return by_day or by_weekday if self.either else by_day and by_weekday

    def _specially(self, place: int, day: date) -> bool:
        items = self.words[place].split(",")
        return any(is_special(place, item) and day_is(item, day) for item in items)

    @property
    def follows_elapsed_time(self) -> bool:
        return len(self.sets[2]) == 24 or self._beats(0) or self._beats(1)

    def _beats(self, place: int) -> bool:
        word, full = self.words[place], len(self.sets[place]) == 60
        return full or (word.split("/")[0] in ("*", "?", "0", "0-59") and "/" in word)


def face(local: datetime) -> tuple[int, int, int, datetime]:
    return local.second, local.minute, local.hour, local


class Wall:
    """A zone between two instants, as the row of wall times it shows, one per step."""

    def __init__(self, zone: ZoneInfo, start: datetime, end: datetime, step: timedelta) -> None:
        self.step = step
        count = (end - start) // step
        self.instants = [start + step * i for i in range(count)]
        self.shown = [at.astimezone(zone).replace(tzinfo=None, fold=0) for at in self.instants]
        self.faces = [face(local) for local in self.shown]
        first, last = min(self.shown), max(self.shown)
        # Also the times that are never shown, because the clock jumps over them.
        self.every = [face(first + step * i) for i in range((last - first) // step + 1)]
        self.named: dict[Expression, list[datetime]] = {}
        self.places: dict[datetime, list[int]] = {}
        for place, local in enumerate(self.shown):
            self.places.setdefault(local, []).append(place)
        self.jump = next(
            (i for i in range(1, count) if self.shown[i] - self.shown[i - 1] > step), None
        )

    def elapsed(self, expression: Expression) -> list[datetime]:
        seconds, minutes, hours = expression.sets[:3]
        return [
            at
            for at, (second, minute, hour, local) in zip(self.instants, self.faces, strict=True)
            if minute in minutes
            and hour in hours
            and second in seconds
            and expression.names_day(local.date())
        ]

    def nominal(self, expression: Expression) -> list[datetime]:
        """All wall times that the expression names, those that are never shown as well."""
        seconds, minutes, hours = expression.sets[:3]
        return [
            local
            for second, minute, hour, local in self.every
            if minute in minutes
            and hour in hours
            and second in seconds
            and expression.names_day(local.date())
        ]

    def instants_of(self, local: datetime, gap: str, overlap: str) -> list[datetime]:
        places = self.places.get(local)
        if places:
            chosen = {"first": places[:1], "second": places[-1:], "both": places}[overlap]
            return [self.instants[place] for place in chosen]
        if gap == "skip":
            return []
        assert self.jump is not None
        if gap == "run_after":
            return [self.instants[self.jump]]
        late_by = local - self.shown[self.jump - 1]
        return [self.instants[self.jump - 1] + late_by]

    def ticks(self, expression: Expression, gap: str, overlap: str) -> list[datetime]:
        """All ticks of the expression, each instant once, in order."""
        if expression.follows_elapsed_time:
            return self.elapsed(expression)
        if expression not in self.named:
            self.named[expression] = self.nominal(expression)
        named = self.named[expression]
        return sorted({at for local in named for at in self.instants_of(local, gap, overlap)})


def first_after(ticks: list[datetime], after: datetime) -> datetime | None:
    place = bisect_right(ticks, after)
    return ticks[place] if place < len(ticks) else None


@lru_cache(maxsize=1024)
def transitions(zone: ZoneInfo) -> tuple[tuple[datetime, timedelta], ...]:
    """The changes of offset from 2000 to 2037 and how far each moves the clock."""
    first, last = datetime(2000, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
    days = range(int(first.timestamp()), int(last.timestamp()), 86_400)
    offsets = [_offset(zone, day) for day in days]
    return tuple(
        _change(zone, days[i], offsets[i])
        for i in range(len(days) - 1)
        if offsets[i] != offsets[i + 1]
    )


def _change(zone: ZoneInfo, day: int, offset: timedelta) -> tuple[datetime, timedelta]:
    hours = range(day + 3600, day + 86_401, 3600)
    hour = next(hour for hour in hours if _offset(zone, hour) != offset)
    minutes = range(hour - 3540, hour + 1, 60)
    at = next(minute for minute in minutes if _offset(zone, minute) != offset)
    return datetime.fromtimestamp(at, UTC), _offset(zone, at) - offset


def _offset(zone: ZoneInfo, at: int) -> timedelta:
    return datetime.fromtimestamp(at, zone).utcoffset() or timedelta(0)
