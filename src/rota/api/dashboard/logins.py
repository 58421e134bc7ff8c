"""Who is at the dashboard: cookies, and requests that other sites made up. Room: api/dashboard.

The cookie holds 256 random bits; the database keeps their digest. The token that a change must
carry is made from the same bits, so a page that cannot read the answers of `/ui/session`, which is
every page of another site, cannot know it.

A login ends when nobody has used it for a while. An open page asks for news by itself; the
dashboard marks what it sends while nobody touches mouse or keyboard, and that does not count.
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

from rota.api.admission import Admission, BeforeLookup
from rota.api.problems import Refusal
from rota.core.access import Principal
from rota.core.errors import StoreUnavailable, Unauthenticated
from rota.store.logins import IDLE_LIMIT, LIFETIME, TOUCH_INTERVAL, touch

BYTES: Final = 32
TOKEN_HEADER: Final = "x-csrf-token"  # noqa: S105 — a name
IDLE_HEADER: Final = "x-user-idle"
NOTED_LOGINS_MAX: Final = 10_000
SAFE: Final = frozenset({"GET", "HEAD"})
_SECRET: Final = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(slots=True)
class Logins:
    """`admission` finds logins, as another one finds keys. A login that nobody used for `idle` has
    ended.
    """

    admission: Admission
    idle: timedelta = IDLE_LIMIT
    # When the use of a login was last noted, by this process's monotonic clock.
    _noted: OrderedDict[bytes, float] = field(default_factory=OrderedDict)

    async def who(self, request: Request, before_lookup: BeforeLookup) -> Principal:
        """Who sent this, if it comes from the dashboard itself."""
        secret = secret_of(request)
        if secret is None:
            raise Unauthenticated("nobody is logged in")
        refuse_foreign(request)
        if request.method not in SAFE:
            refuse_forged(request, secret)
        digest = digest_of(secret)
        found = await self.admission.known(digest, before_lookup)
        if found is None:
            raise Unauthenticated("the login has ended; log in again")
        if IDLE_HEADER not in request.headers:
            await self._note_use(digest)
        return found

    async def _note_use(self, digest: bytes) -> None:
        """Keep the login alive. While the database is away, it lives by what was noted before."""
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
                await touch(conn, digest=digest, idle=self.idle)


def secret_of(request: Request) -> str | None:
    """What the cookie says, if it can be one of ours."""
    given = request.cookies.get(cookie_name(request), "")
    return given if _SECRET.fullmatch(given) else None


def secret_text(bits: bytes) -> str:
    return urlsafe_b64encode(bits).decode().rstrip("=")


def digest_of(secret: str) -> bytes:
    return sha256(secret.encode()).digest()


def token_of(secret: str) -> str:
    """What a change must carry beside the cookie."""
    made = hmac.digest(secret.encode(), b"csrf token of the dashboard", "sha256")
    return urlsafe_b64encode(made).decode().rstrip("=")


def refuse_forged(request: Request, secret: str) -> None:
    given = request.headers.get(TOKEN_HEADER, "")
    if not hmac.compare_digest(given.encode(), token_of(secret).encode()):
        detail = "a change needs the token of the login in X-CSRF-Token"
        raise Refusal("foreign_request", detail)


def refuse_foreign(request: Request) -> None:
    """A browser tells where a request comes from, and a page cannot make it lie. A change must say
    so; what only reads may leave it out, since a page of another site cannot see the answer.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    is_change = request.method not in SAFE
    if site is not None and site != "same-origin" and (is_change or site != "none"):
        raise Refusal("foreign_request", f"it comes from another site ({site[:20]})")
    # Without the scheme: something in front of us may speak TLS.
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise Refusal("foreign_request", f"it comes from {origin[:100]}")
    if is_change and site is None and origin is None:
        raise Refusal("foreign_request", "a change needs Origin or Sec-Fetch-Site")


def is_secure(request: Request) -> bool:
    """Whether the browser speaks TLS, to us or to what is in front of us."""
    return request.url.scheme == "https" or has_tls_in_front(request)


def has_tls_in_front(request: Request) -> bool:
    return request.headers.get("origin", "").startswith("https:")


def cookie_name(request: Request) -> str:
    """With the port: cookies know none, and two installations on a machine must not share one."""
    if request.url.scheme == "https":
        return "__Host-rota"
    return f"rota-{request.url.port or 80}"


def set_cookie(response: Response, request: Request, secret: str) -> None:
    response.set_cookie(
        cookie_name(request),
        secret,
        max_age=round(LIFETIME.total_seconds()),
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="strict",
    )


def clear_cookie(response: Response, request: Request) -> None:
    response.delete_cookie(
        cookie_name(request), path="/", secure=is_secure(request), httponly=True, samesite="strict"
    )
