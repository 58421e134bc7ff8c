"""Authenticates users of the dashboard: cookies and protection against forged requests.

The cookie contains 256 random bits; the database stores their digest. The CSRF token of a change is
derived from the same bits, so a page of another site, which cannot read the responses of
`/ui/session`, cannot know it.

A login ends after an idle period. An open page polls on its own; the dashboard marks requests that
it sends while the user is idle, and those do not count as activity.
"""

import hmac
import re
from base64 import urlsafe_b64encode
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from rota.api.admission import BeforeLookup, CredentialVerifier
from rota.api.problems import ProblemError
from rota.core.access import Principal
from rota.core.errors import StoreUnavailable, Unauthenticated
from rota.store.logins import IDLE_LIMIT, LOGIN_LIFETIME, TOUCH_INTERVAL, record_use

SECRET_BYTES: Final = 32
TOKEN_HEADER: Final = "x-csrf-token"  # noqa: S105 — a name
IDLE_HEADER: Final = "x-user-idle"
NOTED_LOGINS_MAX: Final = 10_000
SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(slots=True)
class Logins:
    """`admission` looks up logins, as another instance looks up keys. A login ends after `idle`
    without activity.
    """

    admission: CredentialVerifier
    idle: timedelta = IDLE_LIMIT
    # When activity of a login was last recorded, by this process's monotonic clock.
    _noted: OrderedDict[bytes, float] = field(default_factory=OrderedDict)

    async def authenticate(self, request: Request, before_lookup: BeforeLookup) -> Principal:
        """Authenticate a request of the dashboard itself."""
        secret = read_secret(request)
        if secret is None:
            raise Unauthenticated("not logged in")
        refuse_foreign(request)
        if request.method not in SAFE_METHODS:
            refuse_forged(request, secret)
        digest = digest_secret(secret)
        principal = await self.admission.find_principal(digest, before_lookup)
        if principal is None:
            raise Unauthenticated("the login has ended; log in again")
        if IDLE_HEADER not in request.headers:
            await self._note_use(digest)
        return principal

    async def _note_use(self, digest: bytes) -> None:
        """Record activity, which extends the login. Skipped while the database is unreachable."""
        now = self.admission.monotonic()
        interval = min(TOUCH_INTERVAL, self.idle / 2).total_seconds()
        if now - self._noted.get(digest, -interval) < interval:
            return
        self._noted[digest] = now
        self._noted.move_to_end(digest)
        while len(self._noted) > NOTED_LOGINS_MAX:
            self._noted.popitem(last=False)
        with suppress(StoreUnavailable):
            async with self.admission.pool.acquire() as conn:
                await record_use(conn, digest=digest, idle=self.idle)


def read_secret(request: Request) -> str | None:
    """Return the secret in the cookie, if it is well-formed."""
    secret = request.cookies.get(cookie_name(request), "")
    return secret if _SECRET.fullmatch(secret) else None


def encode_secret(bits: bytes) -> str:
    return urlsafe_b64encode(bits).decode().rstrip("=")


def digest_secret(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def derive_csrf_token(secret: str) -> str:
    """Return the CSRF token that a change must carry in addition to the cookie."""
    digest = hmac.digest(secret.encode(), b"csrf token of the dashboard", "sha256")
    return urlsafe_b64encode(digest).decode().rstrip("=")


def refuse_forged(request: Request, secret: str) -> None:
    token = request.headers.get(TOKEN_HEADER, "")
    if not hmac.compare_digest(token.encode(), derive_csrf_token(secret).encode()):
        detail = "a change requires the login's token in X-CSRF-Token"
        raise ProblemError("foreign_request", detail)


def refuse_foreign(request: Request) -> None:
    """Refuse requests of other sites. A browser states the origin of a request, and a page cannot
    forge it. A change must state it; a read may omit it, since another site cannot see the
    response.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    is_change = request.method not in SAFE_METHODS
    if site is not None and site != "same-origin" and (is_change or site != "none"):
        raise ProblemError("foreign_request", f"the request comes from another site ({site[:20]})")
    # Compare without the scheme: a proxy may terminate TLS.
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise ProblemError("foreign_request", f"the request comes from {origin[:100]}")
    if is_change and site is None and origin is None:
        raise ProblemError("foreign_request", "a change requires Origin or Sec-Fetch-Site")


def is_secure(request: Request) -> bool:
    """Tell whether the browser uses TLS, to this process or to a proxy."""
    return request.url.scheme == "https" or has_tls_in_front(request)


def has_tls_in_front(request: Request) -> bool:
    return request.headers.get("origin", "").startswith("https:")


def cookie_name(request: Request) -> str:
    """Name the cookie with the port: cookies ignore ports, and two installations on a machine must
    not share one.
    """
    if request.url.scheme == "https":
        return "__Host-rota"
    return f"rota-{request.url.port or 80}"


def set_cookie(response: Response, request: Request, secret: str) -> None:
    response.set_cookie(
        cookie_name(request),
        secret,
        max_age=round(LOGIN_LIFETIME.total_seconds()),
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response, request: Request) -> None:
    response.delete_cookie(
        cookie_name(request), path="/", secure=is_secure(request), httponly=True, samesite="strict"
    )
