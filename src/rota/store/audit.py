"""Writes and reads the audit log: who changed what, when and from where (T3).

An entry is written in the transaction of its change, so neither exists without the other. Entries
are never changed or deleted; a trigger refuses attempts to do so.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final, NamedTuple
from uuid import UUID

from rota.core.origins import ChangeOrigin
from rota.store.driver import Connection
from rota.store.statement import NoRow, statement

# Limit of the before and after values; longer ones are stored as a hash, which still proves them.
AUDIT_BODY_MAX_CHARACTERS: Final = 16_384
_LATEST: Final = 2**63 - 1


class AuditEntryId(NamedTuple):
    id: int


class AuditEntry(NamedTuple):
    """One recorded change; JSON as text."""

    id: int
    at: datetime
    actor: str
    key_id: UUID | None
    source: str | None
    action: str
    thing: str
    thing_id: str
    before: str | None
    after: str | None
    request_id: str | None
    origin: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditEntry:
    """`source` is the address of the client, `origin` its kind; `before` and `after` are plain
    values without secrets, None if not applicable.
    """

    tenant_id: int
    actor: str
    action: str
    thing: str
    thing_id: str
    key_id: UUID | None = None
    source: str | None = None
    before: object = None
    after: object = None
    request_id: str | None = None
    origin: ChangeOrigin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Selects entries; None means any."""

    thing: str | None = None
    thing_id: str | None = None
    actor: str | None = None
    actions: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None


NO_FILTER: Final = AuditFilter()
_encode: Final = json.JSONEncoder(sort_keys=True, default=str).encode
RECORD = statement("audit/record", AuditEntryId)
RECORD_MANY = statement("audit/record_many", NoRow)
PAGE = statement("audit/page", AuditEntry)


async def record_change(conn: Connection, entry: NewAuditEntry) -> None:
    """Record a change in the caller's transaction."""
    await RECORD.one(
        conn,
        tenant_id=entry.tenant_id,
        actor=entry.actor,
        key_id=entry.key_id,
        source=entry.source,
        action=entry.action,
        thing=entry.thing,
        thing_id=entry.thing_id,
        before=_text(entry.before),
        after=_text(entry.after),
        request_id=entry.request_id,
        origin=entry.origin,
    )


async def record_changes(conn: Connection, entries: Sequence[NewAuditEntry]) -> None:
    """Record several changes in the caller's transaction."""
    await RECORD_MANY.all(
        conn,
        tenant_ids=[entry.tenant_id for entry in entries],
        actors=[entry.actor for entry in entries],
        key_ids=[entry.key_id for entry in entries],
        sources=[entry.source for entry in entries],
        actions=[entry.action for entry in entries],
        things=[entry.thing for entry in entries],
        thing_ids=[entry.thing_id for entry in entries],
        befores=[_text(entry.before) for entry in entries],
        afters=[_text(entry.after) for entry in entries],
        request_ids=[entry.request_id for entry in entries],
        origins=[entry.origin for entry in entries],
    )


async def list_entries(
    conn: Connection,
    *,
    tenant_id: int,
    filter: AuditFilter = NO_FILTER,  # noqa: A002 — the usual name
    after: int | None = None,
    limit: int = 50,
) -> list[AuditEntry]:
    """Return the latest changes first; `after` is the id of the previous page's last entry."""
    return await PAGE.all(
        conn,
        tenant_id=tenant_id,
        before_id=_LATEST if after is None else after,
        thing=filter.thing,
        thing_id=filter.thing_id,
        actor=filter.actor,
        actions=filter.actions,
        since=filter.since,
        until=filter.until,
        most=limit,
    )


def _text(value: object) -> str | None:
    if value is None:
        return None
    # jsonb cannot hold NUL; a user's text may contain one, and the change must be recorded anyway.
    text = _encode(value).replace("\\u0000", "\\ufffd")
    if len(text) <= AUDIT_BODY_MAX_CHARACTERS:
        return text
    return json.dumps({"length": len(text), "sha256": sha256(text.encode()).hexdigest()})
