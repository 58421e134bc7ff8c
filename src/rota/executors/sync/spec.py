"""Parses the payload of a sync job into an order.

`SyncPayload` defines the fields. Whether the folders exist turns out when the job runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rota.contract.payloads.reader import read_payload
from rota.contract.payloads.sync import SyncPayload
from rota.core.errors import InvalidInput
from rota.core.tenancy import DEFAULT_TENANT, build_resource_error
from rota.executors.sync.patterns import FileSelection, read_patterns
from rota.executors.sync.places import PlaceFolder, SyncPlace
from rota.executors.sync.tree import split_path

PATH_MAX_CHARACTERS: Final = 4096
PAYLOAD_EXAMPLE: Final = '{"from": "photos:/2026", "to": "backup:/2026"}'


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOrder:
    """A parsed sync job: source, target and options."""

    source: PlaceFolder
    target: PlaceFolder
    choice: FileSelection
    mirror: bool
    checksum: bool
    dry_run: bool
    max_delete: int
    allow_empty: bool
    parallel: int


def read_order(
    payload: object, *, places: Mapping[str, SyncPlace], tenant: str = DEFAULT_TENANT
) -> SyncOrder:
    """Parse a payload; `places` are the places that the tenant may use."""
    fields = read_payload(SyncPayload, payload, example=PAYLOAD_EXAMPLE)
    source = _find_location("from", fields.from_, places, tenant)
    target = _find_location("to", fields.to, places, tenant)
    if target.place.read_only:
        raise InvalidInput("to", target.shown, "this place is read-only; use a writable place")
    if source.overlaps(target):
        raise InvalidInput("to", target.shown, f"must not overlap with {source.shown}")
    return SyncOrder(
        source=source,
        target=target,
        choice=FileSelection(
            include=read_patterns("include", fields.include),
            exclude=read_patterns("exclude", fields.exclude),
        ),
        mirror=fields.mode == "mirror",
        checksum=fields.compare == "checksum",
        dry_run=fields.dry_run,
        max_delete=fields.max_delete,
        allow_empty=fields.allow_empty,
        parallel=fields.parallel,
    )


def _find_location(
    field: str, text: str, places: Mapping[str, SyncPlace], tenant: str
) -> PlaceFolder:
    name, colon, path = text.partition(":")
    if not colon:
        raise InvalidInput(field, text, "expected PLACE:PATH, such as photos:/2026")
    place = places.get(name)
    if place is None:
        setting = "executors.places.NAME.tenants"
        raise build_resource_error(field, text, tenant=tenant, available=places, setting=setting)
    names = split_path(path)
    if ".." in names or "." in names or "\0" in path or not _is_encodable(path):
        raise InvalidInput(field, text, "path must stay inside its place, without . and ..")
    if len(path) > PATH_MAX_CHARACTERS:
        raise InvalidInput(field, text, f"path must be at most {PATH_MAX_CHARACTERS} characters")
    return PlaceFolder(place=place, path="/".join(names))


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
