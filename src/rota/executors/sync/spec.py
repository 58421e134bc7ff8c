"""What the payload of a sync job may say. Room: executors/sync.

    {"from": "photos:/2026", "to": "backup:/photos/2026", "mode": "mirror", "compare": "checksum",
     "include": ["**/*.jpg"], "exclude": ["**/.cache/**"], "dry_run": false, "max_delete": 100,
     "allow_empty": false, "parallel": 4}

Only reads and refuses; whether the folders are there is seen when the job runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from rota.core.errors import InvalidInput
from rota.executors.sync.patterns import Choice, read_patterns
from rota.executors.sync.places import Location, Place
from rota.executors.sync.tree import names_of

KNOWN = (
    *("from", "to", "mode", "compare", "include", "exclude"),
    *("dry_run", "max_delete", "allow_empty", "parallel"),
)
LONGEST_PATH = 4096
MOST_DELETED = 1_000_000_000
MOST_PARALLEL = 16
USUAL_DELETED = 100
USUAL_PARALLEL = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to bring where."""

    source: Location
    target: Location
    choice: Choice
    mirror: bool
    checksum: bool
    dry_run: bool
    max_delete: int
    allow_empty: bool
    parallel: int


def read_order(payload: object, *, places: Mapping[str, Place]) -> Order:
    if not isinstance(payload, Mapping):
        wanted = 'an object such as {"from": "photos:/2026", "to": "backup:/2026"}'
        raise InvalidInput("payload", payload, wanted)
    for key in payload:
        if key not in KNOWN:
            raise InvalidInput(f"payload.{key}", payload[key], f"one of {', '.join(KNOWN)}")
    source = _location("from", payload.get("from"), places)
    target = _location("to", payload.get("to"), places)
    if target.place.read_only:
        raise InvalidInput("to", target.shown, "a place that may be written to; this one may not")
    if source.overlaps(target):
        raise InvalidInput(
            "to", target.shown, f"a folder that has nothing to do with {source.shown}"
        )
    return Order(
        source=source,
        target=target,
        choice=Choice(
            include=read_patterns("include", payload.get("include")),
            exclude=read_patterns("exclude", payload.get("exclude")),
        ),
        mirror=_one_of(payload, "mode", ("copy", "mirror")) == "mirror",
        checksum=_one_of(payload, "compare", ("size_time", "checksum")) == "checksum",
        dry_run=_flag(payload, "dry_run"),
        max_delete=_whole(payload, "max_delete", (0, MOST_DELETED), USUAL_DELETED),
        allow_empty=_flag(payload, "allow_empty"),
        parallel=_whole(payload, "parallel", (1, MOST_PARALLEL), USUAL_PARALLEL),
    )


def _location(field: str, value: object, places: Mapping[str, Place]) -> Location:
    if not isinstance(value, str) or ":" not in value:
        raise InvalidInput(field, value, "a place and a path in it, such as photos:/2026")
    name, _, path = value.partition(":")
    place = places.get(name)
    if place is None:
        known = ", ".join(sorted(places))
        raise InvalidInput(field, value, f"a place that this worker knows: {known}")
    names = names_of(path)
    if ".." in names or "." in names or "\0" in path or not _encodable(path):
        raise InvalidInput(field, value, "a path that stays in its place, without . and ..")
    if len(path) > LONGEST_PATH:
        raise InvalidInput(field, value, f"a path of at most {LONGEST_PATH} characters")
    return Location(place=place, path="/".join(names))


def _one_of(payload: Mapping[str, object], key: str, choices: tuple[str, str]) -> str:
    value = payload.get(key)
    if value is None:
        return choices[0]
    if not isinstance(value, str) or value not in choices:
        raise InvalidInput(key, value, f"one of {', '.join(choices)}")
    return value


def _flag(payload: Mapping[str, object], key: str) -> bool:
    value = payload.get(key)
    if value is None:
        return False
    if not isinstance(value, bool):
        raise InvalidInput(key, value, "true or false")
    return value


def _whole(payload: Mapping[str, object], key: str, bounds: tuple[int, int], usual: int) -> int:
    value = payload.get(key)
    if value is None:
        return usual
    least, most = bounds
    if type(value) is not int or not least <= value <= most:
        raise InvalidInput(key, value, f"a whole number from {least} to {most}")
    return value


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
