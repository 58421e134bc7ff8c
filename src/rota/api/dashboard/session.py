"""Serves `/ui/session`: log in with a key or a ticket, show the login, log out.

Not part of the API's catalogue: only the dashboard uses it. A login always gets new random bits,
whatever cookie the browser sent, which prevents session fixation.
"""

from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import Response

from rota.api.admission import BeforeLookup
from rota.api.dashboard import logins as cookies
from rota.api.dashboard.logins import Logins
from rota.api.pipeline import RequestPipeline, decode_body, read_body
from rota.api.problems import ProblemError
from rota.api.schemas.field_types import format_optional_time
from rota.core.access import ROLE_PERMISSIONS, Permission, Principal
from rota.core.errors import Unauthenticated
from rota.core.origins import ChangeOrigin
from rota.store import audit, logins
from rota.store.audit import NewAuditEntry
from rota.store.driver import Connection
from rota.store.transaction import transaction

SESSION_PATH: Final = "/ui/session"
LOGIN_BODY_BYTES_MAX: Final = 2_000


class LoginDraft(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Exactly one of the two is required."""

    key: Annotated[str, Meta(max_length=200)] | None = None
    ticket: Annotated[str, Meta(max_length=200)] | None = None


class SessionView(Struct, kw_only=True, frozen=True):
    """The logged-in user, their permissions, and the CSRF token for changes."""

    key_id: str
    name: str
    tenant: str
    role: str
    user_id: str | None
    expires_at: str | None
    permissions: list[str]
    csrf_token: str
    version: str


class SessionResponse(Struct, kw_only=True, frozen=True):
    session: SessionView | None


@dataclass(frozen=True, slots=True)
class DashboardSession:
    pipeline: RequestPipeline
    logins: Logins

    async def respond(self, request: Request) -> Response:
        match request.method:
            case "GET" | "HEAD":
                return await self.show(request)
            case "POST":
                return await self.log_in(request)
            case "DELETE":
                return await self.log_out(request)
            case _:
                allowed = "DELETE, GET, HEAD, POST"
                raise ProblemError(
                    "method_not_allowed", f"allowed methods: {allowed}", headers={"Allow": allowed}
                )

    async def show(self, request: Request) -> Response:
        """Show the login. No login is a normal response: every visit starts with it."""
        secret = cookies.read_secret(request)
        if secret is None:
            return build_session_response(None, "")
        try:
            principal = await self.pipeline.authenticate(request, self.logins.authenticate)
        except Unauthenticated:
            return build_session_response(None, "")
        return build_session_response(principal, secret)

    async def log_in(self, request: Request) -> Response:
        cookies.refuse_foreign(request)
        raw = await read_body(request, limit=LOGIN_BODY_BYTES_MAX)
        draft: LoginDraft = decode_body(raw, request, LoginDraft)

        async def who(_: Request, before_lookup: BeforeLookup) -> Principal:
            return await self._authenticate_login(draft, before_lookup)

        principal = await self.pipeline.authenticate(request, who)
        secret = cookies.encode_secret(self.pipeline.service.random_bytes(cookies.SECRET_BYTES))
        async with self.pipeline.service.pool.acquire() as conn, transaction(conn):
            ends = await logins.create_login(
                conn, digest=cookies.digest_secret(secret), key_id=principal.key_id
            )
            await audit_login(conn, principal, request, "login.create")
            await self._end_login(conn, request)
        response = build_session_response(replace(principal, expires_at=ends), secret)
        cookies.set_cookie(response, request, secret)
        return response

    async def _authenticate_login(
        self, draft: LoginDraft, before_lookup: BeforeLookup
    ) -> Principal:
        match draft:
            case LoginDraft(key=str(key), ticket=None):
                return await self.pipeline.admission.authenticate(f"Bearer {key}", before_lookup)
            case LoginDraft(key=None, ticket=str(ticket)):
                before_lookup()
                async with self.pipeline.service.pool.acquire() as conn:
                    principal = await logins.redeem_ticket(
                        conn, digest=cookies.digest_secret(ticket)
                    )
                if principal is None:
                    raise Unauthenticated("this login link was used or is older than a minute")
                return principal
            case _:
                raise ProblemError("invalid_input", "send either a key or a ticket")

    async def log_out(self, request: Request) -> Response:
        secret = cookies.read_secret(request)
        if secret is not None:
            cookies.refuse_foreign(request)
            cookies.refuse_forged(request, secret)
            async with self.pipeline.service.pool.acquire() as conn, transaction(conn):
                await self._end_login(conn, request)
        response = Response(status_code=204)
        cookies.clear_cookie(response, request)
        return response

    async def _end_login(self, conn: Connection, request: Request) -> None:
        """End the login of the browser's cookie, if any."""
        secret = cookies.read_secret(request)
        if secret is None:
            return
        digest = cookies.digest_secret(secret)
        principal = await logins.find_principal(conn, digest=digest)
        if await logins.end_login(conn, digest=digest) and principal is not None:
            await audit_login(conn, principal, request, "login.end")
        self.logins.admission.forget(digest)


async def audit_login(
    conn: Connection, principal: Principal, request: Request, action: str
) -> None:
    key_id = f"key_{principal.key_id.hex}"
    await audit.record_change(
        conn,
        NewAuditEntry(
            tenant_id=principal.tenant_id,
            actor=principal.user_id or principal.name,
            key_id=principal.key_id,
            source=request.client.host if request.client else "",
            action=action,
            thing="key",
            thing_id=key_id,
            request_id=request.state.request_id,
            origin=ChangeOrigin.DASHBOARD,
        ),
    )


def build_session_response(principal: Principal | None, secret: str) -> Response:
    shown = None if principal is None else build_session_view(principal, secret)
    return Response(
        msgspec.json.encode(SessionResponse(session=shown)), media_type="application/json"
    )


def build_session_view(principal: Principal, secret: str) -> SessionView:
    permitted = ROLE_PERMISSIONS[principal.role]
    return SessionView(
        key_id=f"key_{principal.key_id.hex}",
        name=principal.name,
        tenant=principal.tenant,
        role=principal.role.value,
        user_id=principal.user_id,
        expires_at=format_optional_time(principal.expires_at),
        permissions=[
            permission.name.lower() for permission in Permission if permission in permitted
        ],
        csrf_token=cookies.derive_csrf_token(secret),
        version=version("rota"),
    )
