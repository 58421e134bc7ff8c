"""Verifies a signed request to a hook and ingests its event.

The hook is looked up as the owner of the tables, because the caller has no tenant yet. The event is
written under row-level security of the hook's tenant, like everything that comes from outside.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from rota.core.errors import InvalidSignature, Unauthenticated
from rota.core.event_rules import hooks as signed
from rota.core.event_rules.hooks import SignatureStyle
from rota.engine.events.ingestion import IngestedEvents, ingest_events
from rota.store import hooks
from rota.store.driver import Connection
from rota.store.row_level_security import tenant_scope

REPLAY_REFUSED: Final = (
    "this request was accepted before and its event has expired; a signature without a timestamp "
    "is accepted only once"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRequest:
    """A request to a hook. `parse_body` parses the body after its signature was verified.
    `on_verified` is called with the hook's id right after the verification, and may raise.
    """

    hook_id: UUID
    headers: Mapping[str, str]
    body: bytes
    parse_body: Callable[[bytes], Any]
    on_verified: Callable[[UUID], object] = lambda _hook_id: None


async def ingest_webhook(
    conn: Connection,
    request: HookRequest,
    *,
    master: bytes,
    now: datetime,
    new_id: Callable[[], UUID],
) -> IngestedEvents:
    """Ingest the event of a request. Raise `Unauthenticated` if its signature is invalid."""
    hook = await hooks.find_hook(conn, request.hook_id)
    secrets = hooks.decrypt_secrets(hook, master)
    try:
        sent_id = signed.verify_request(
            SignatureStyle(hook.style), request.headers, request.body, secrets, now=now
        )
    except InvalidSignature as error:
        raise Unauthenticated(str(error)) from None
    request.on_verified(hook.id)
    source = f"hooks/{hook.name}"
    event = signed.build_hook_event(
        hook.type, source, sent_id, request.parse_body(request.body), request.headers
    )
    async with tenant_scope(conn, hook.tenant_id) as taken_at:
        await hooks.record_use(conn, hook.id)
        is_replay = hook.style == SignatureStyle.GITHUB and not await hooks.record_delivery(
            conn, hook, bytes.fromhex(sent_id)
        )
        taken = await ingest_events(conn, hook.tenant_id, [event], now=taken_at, new_id=new_id)
        if is_replay and not taken.events[0].is_duplicate:
            # Raised inside the transaction, which rolls it back.
            raise Unauthenticated(REPLAY_REFUSED)
        return taken
