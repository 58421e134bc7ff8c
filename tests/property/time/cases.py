"""Random cron expressions, zones and starts, from a seed.

Each library reads a part of the dialect; a `Taste` says which parts to use.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from random import Random
from zoneinfo import ZoneInfo

from tests.property.time.oracle import MONTHS, WEEKDAYS, transitions

START = datetime(2000, 1, 1, tzinfo=UTC)
SECONDS = int((datetime(2037, 1, 1, tzinfo=UTC) - START).total_seconds())


@dataclass(frozen=True, slots=True, kw_only=True)
class Taste:
    """What may be in an expression. `hours` are the ones to prefer: those of a change of clocks."""

    seconds: bool = False
    wraps: bool = True
    near_end: bool = True
    from_end: bool = True
    last_workday: bool = True
    nearest: bool = True
    days: float = 0.4
    hours: tuple[int, ...] = ()


def expression(chance: Random, taste: Taste) -> str:
    words = [
        _minute(chance),
        _hour(chance, taste),
        _day(chance, taste) if chance.random() < taste.days else "*",
        _month(chance, taste) if chance.random() < taste.days / 2 else "*",
        _weekday(chance, taste) if chance.random() < taste.days else "*",
    ]
    if taste.seconds:
        words.insert(0, _minute(chance))
    return " ".join(words)


def _minute(chance: Random) -> str:
    match chance.randrange(9):
        case 0:
            return "*"
        case 1:
            return f"*/{chance.choice([2, 5, 7, 15, 20, 30, 45])}"
        case 2:
            return _listed(chance, 0, 59)
        case 3:
            return _range(chance, 0, 59)
        case 4:
            return f"{chance.randrange(30)}/{chance.choice([10, 15, 30])}"
        case _:
            return str(chance.choice([0, 0, 0, 15, 30, 30, chance.randrange(60)]))


def _hour(chance: Random, taste: Taste) -> str:
    if taste.hours and chance.random() < 0.5:
        hours = taste.hours if chance.random() < 0.5 else [chance.choice(taste.hours)]
        return ",".join(map(str, hours))
    match chance.randrange(8):
        case 0:
            return "*"
        case 1:
            return f"*/{chance.choice([2, 3, 4, 5, 6, 8, 12])}"
        case 2:
            return _listed(chance, 0, 23)
        case 3:
            return _range(chance, 0, 23)
        case 4 if taste.wraps:
            return f"{chance.randrange(20, 24)}-{chance.randrange(4)}{chance.choice(['', '/2'])}"
        case 5:
            return chance.choice(["0-23", "0/1", "*/1", "2/6"])
        case _:
            return str(chance.randrange(24))


def _day(chance: Random, taste: Taste) -> str:
    if taste.from_end and chance.random() < 0.2:
        return chance.choice(["L-3", "L-1,L", "L-30", "LW,15"])
    if taste.last_workday and chance.random() < 0.1:
        return "LW"
    if taste.near_end and chance.random() < 0.2:
        return "1,L"
    if taste.nearest and chance.random() < 0.3:
        return f"{chance.randrange(1, 32)}W"
    match chance.randrange(6):
        case 0:
            return f"*/{chance.choice([2, 5, 10])}"
        case 1:
            return _range(chance, 1, 31)
        case 2:
            return _listed(chance, 1, 31)
        case 3:
            return "L"
        case _:
            return str(chance.randrange(1, 32))


def _month(chance: Random, taste: Taste) -> str:
    match chance.randrange(5):
        case 0:
            return f"*/{chance.choice([2, 3, 6])}"
        case 1:
            return _range(chance, 1, 12)
        case 2 if taste.wraps:
            return chance.choice(["NOV-FEB", "10-3", "DEC-JAN"])
        case 3:
            return _listed(chance, 1, 12)
        case _:
            return chance.choice(MONTHS)


def _weekday(chance: Random, taste: Taste) -> str:
    if chance.random() < 0.3:
        day = chance.choice([*WEEKDAYS, *map(str, range(7))])
        return f"{day}#{chance.randrange(1, 6)}"
    if taste.near_end and chance.random() < 0.2:
        return f"{chance.randrange(7)}L"
    match chance.randrange(6):
        case 0:
            return chance.choice(["MON-FRI", "1-5", "SAT,SUN", "5-7", "0-3", "1-7"])
        case 1 if taste.wraps:
            return chance.choice(["FRI-MON", "SAT-SUN", "5-1", "6-2"])
        case 2:
            return chance.choice(["*/2", "1/2", "*/3"])
        case _:
            return chance.choice([*WEEKDAYS, *map(str, range(8))])


def _range(chance: Random, low: int, high: int) -> str:
    first = chance.randrange(low, high)
    last = chance.randrange(first + 1, high + 1)
    longest = min(last - first + 1, 20)
    return f"{first}-{last}{chance.choice(['', '', f'/{chance.randrange(longest) + 1}'])}"


def _listed(chance: Random, low: int, high: int) -> str:
    values = chance.sample(range(low, high + 1), chance.randrange(2, 5))
    return ",".join(map(str, sorted(values)))


@lru_cache(maxsize=1024)
def zone(name: str) -> ZoneInfo:
    """A zone of the wheel, opened without Rota's own reader."""
    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


def all_zones() -> list[str]:
    listed = files("tzdata").joinpath("zones").read_text("utf-8").split()
    # A placeholder, which Rota refuses.
    return sorted({*listed} - {"Factory"})


def moving_zones() -> tuple[str, ...]:
    """Zones whose clocks are set now and then, each in its own way."""
    return (
        *("Europe/Berlin", "Europe/London", "Europe/Dublin", "America/New_York", "Asia/Gaza"),
        *("America/Santiago", "America/Sao_Paulo", "Africa/Cairo", "Africa/Casablanca"),
        *("Australia/Lord_Howe", "Australia/Sydney", "Pacific/Apia", "Asia/Tehran"),
        *("America/St_Johns", "Pacific/Chatham", "Antarctica/Troll", "Antarctica/Casey"),
        *("America/Havana", "Asia/Beirut", "America/Asuncion", "America/Nuuk", "Asia/Amman"),
    )


def any_start(chance: Random) -> datetime:
    return START + timedelta(seconds=chance.randrange(SECONDS))


def start_near_change(chance: Random, zone: ZoneInfo) -> datetime:
    changes = transitions(zone)
    if not changes:
        return any_start(chance)
    at, _ = chance.choice(changes)
    return at + timedelta(seconds=chance.randrange(-90_000, 10_000))


def local_hours(zone: ZoneInfo, at: datetime) -> tuple[int, ...]:
    """The hours on the wall around an instant."""
    around = [(at + timedelta(hours=h)).astimezone(zone).hour for h in range(-2, 3)]
    return tuple(sorted(set(around)))
