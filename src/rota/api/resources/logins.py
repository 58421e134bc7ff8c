"""Creates login tickets for the dashboard from an API key.

The key itself is never part of a link, because histories and logs would keep it. A ticket is valid
once and for a minute, and comes after the `#`, which browsers do not send.
"""

from msgspec import Struct

from rota.api.call import Call, Reply
from rota.api.dashboard import logins as cookies
from rota.api.operations import operation
from rota.api.schemas.field_types import format_time
from rota.core.access import Permission
from rota.store import logins


class TicketView(Struct, kw_only=True, frozen=True):
    """A login ticket. Append `path` to the address of the API."""

    ticket: str
    path: str
    expires_at: str


@operation(
    "POST",
    "/v1/login-tickets",
    tag="service",
    permission=Permission.READ,
    scope="platform",
    answer=TicketView,
    reveals_secret=True,
    status=201,
)
async def create_login_ticket(call: Call) -> Reply:
    """Create a login link for the dashboard.

    The link is valid once and for a minute. A key may have ten unused links. The audit log records
    the login, not the link.
    """
    ticket = cookies.encode_secret(call.service.random_bytes(cookies.SECRET_BYTES))
    key_id = call.principal.key_id
    ends = await logins.create_ticket(
        call.conn, digest=cookies.digest_secret(ticket), key_id=key_id
    )
    return Reply(
        TicketView(ticket=ticket, path=f"/login#ticket={ticket}", expires_at=format_time(ends))
    )
