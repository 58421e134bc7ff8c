"""Turns the payload of a sync job into an order. Room: executors/sync.

The fields are those of `SyncPayload`. Whether the folders are there is seen when the job runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rota.contract.payloads.reading import read_payload
from rota.contract.payloads.sync import SyncPayload
from rota.core.errors import InvalidInput
from rota.core.tenancy import DEFAULT_TENANT, refuse_resource
from rota.executors.sync.patterns import Choice, read_patterns
from rota.executors.sync.places import Location, Place
from rota.executors.sync.tree import names_of

LONGEST_PATH: Final = 4096
EXAMPLE: Final = '{"from": "photos:/2026", "to": "backup:/2026"}'


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


def read_order(
    payload: object, *, places: Mapping[str, Place], tenant: str = DEFAULT_TENANT
) -> Order:
    """`places` are those that are open to the tenant."""
    given = read_payload(SyncPayload, payload, example=EXAMPLE)
    source = _find_location("from", given.from_, places, tenant)
    target = _find_location("to", given.to, places, tenant)
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
            include=read_patterns("include", given.include),
            exclude=read_patterns("exclude", given.exclude),
        ),
        mirror=given.mode == "mirror",
        checksum=given.compare == "checksum",
        dry_run=given.dry_run,
        max_delete=given.max_delete,
        allow_empty=given.allow_empty,
        parallel=given.parallel,
    )


def _find_location(field: str, text: str, places: Mapping[str, Place], tenant: str) -> Location:
    name, colon, path = text.partition(":")
    if not colon:
        raise InvalidInput(field, text, "a place and a path in it, such as photos:/2026")
    place = places.get(name)
    if place is None:
        setting = "executors.places.NAME.tenants"
        raise refuse_resource(field, text, tenant=tenant, available=places, setting=setting)
    names = names_of(path)
    if ".." in names or "." in names or "\0" in path or not _encodable(path):
        raise InvalidInput(field, text, "a path that stays in its place, without . and ..")
    if len(path) > LONGEST_PATH:
        raise InvalidInput(field, text, f"a path of at most {LONGEST_PATH} characters")
    return Location(place=place, path="/".join(names))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
