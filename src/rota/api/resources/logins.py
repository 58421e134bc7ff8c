"""Tickets: a login at the dashboard for whoever has a key on the command line. Room: api/resources.

The key itself never goes into a link, where histories and logs would keep it: a ticket is good once
and for a minute, and it stands behind the `#`, which browsers send to nobody.
"""

from msgspec import Struct

from rota.api.call import Call, Reply
from rota.api.dashboard import logins as cookies
from rota.api.operations import operation
from rota.api.shapes.pieces import moment
from rota.core.access import Permission
from rota.store import logins


class TicketView(Struct, kw_only=True, frozen=True):
    """`path` follows the address of the API."""

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
    """Make a link that logs in at the dashboard, once and within a minute.

    A key may have ten unused links. The audit log has the log-in, not the link.
    """
    ticket = cookies.secret_text(call.service.random_bytes(cookies.BYTES))
    key_id = call.principal.key_id
    ends = await logins.create_ticket(call.conn, digest=cookies.digest_of(ticket), key_id=key_id)
    return Reply(TicketView(ticket=ticket, path=f"/login#ticket={ticket}", expires_at=moment(ends)))
