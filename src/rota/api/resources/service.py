"""The service itself: health, the document and its page, problems. Room: api/resources."""

from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from rota.api import openapi
from rota.api.call import Call, Reply, Service
from rota.api.operations import catalogue, operation
from rota.api.problems import KINDS, Refusal
from rota.api.shapes.pieces import moment_or_none
from rota.core.access import Permission, Principal, may
from rota.core.clock import CLOCK_OFFSET_LIMIT
from rota.core.errors import NotFound, StoreUnavailable
from rota.core.time import durations
from rota.flow.observe import exposition, metrics
from rota.flow.observe.tenant_metrics import gather_tenant
from rota.store.keys import EXPIRY_WARNING
from rota.store.walls import behind_wall

MEDIA: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
CACHED: Final = {"Cache-Control": "no-cache"}


class Health(Struct, kw_only=True, frozen=True):
    status: str


class WhoAmI(Struct, kw_only=True, frozen=True):
    key_id: str
    name: str
    tenant: str
    role: str
    user_id: str | None
    expires_at: str | None
    warning: Annotated[
        str | None,
        Meta(description="That the key expires within 14 days, or never. Default: null."),
    ] = None


@operation(
    "GET", "/healthz", tag="service", permission=None, scope="none", answer=Health, is_probe=True
)
async def get_health(_call: Call) -> Reply:
    """Whether this process answers.

    It never asks the database.
    """
    return Reply(Health(status="ok"))


@operation(
    "GET", "/readyz", tag="service", permission=None, scope="none", answer=Health, is_probe=True
)
async def get_readiness(call: Call) -> Reply:
    """Whether this process can serve.

    It can while its database answers, as of a second ago, and its machine's clock is at most 30
    seconds from the database's.
    """
    problem = unreadiness_of(call.service)
    if problem is not None:
        raise Refusal("unavailable", problem)
    return Reply(Health(status="ok"))


def unreadiness_of(service: Service) -> str | None:
    """Return why this process cannot serve, if it cannot. It asks nothing: any thread may call."""
    if service.pool.is_away:
        return "the database does not answer"
    if service.clock_is_wrong():
        limit = f"{CLOCK_OFFSET_LIMIT.total_seconds():g} seconds"
        return f"this machine's clock is more than {limit} from the database's; set it with NTP"
    return None


@operation(
    "GET", "/v1/whoami", tag="service", permission=Permission.READ, scope="none", answer=WhoAmI
)
async def get_whoami(call: Call) -> Reply:
    """Whose key this is and what it may do."""
    who = call.principal
    return Reply(
        WhoAmI(
            key_id=f"key_{who.key_id.hex}",
            name=who.name,
            tenant=who.tenant,
            role=who.role.value,
            user_id=who.user_id,
            expires_at=moment_or_none(who.expires_at),
            warning=expiry_warning(who, call.now),
        )
    )


def expiry_warning(who: Principal, now: datetime) -> str | None:
    """Return what its holder should know about the end of a key."""
    todo = "`rota keys create` makes another, `rota keys renew-admin` the bootstrap admin key"
    if who.expires_at is None:
        return f"this key never expires; {todo}"
    left = who.expires_at - now
    if left > EXPIRY_WARNING:
        return None
    return f"this key expires in {durations.words(max(left, timedelta(0)))}; {todo}"


@operation(
    "GET",
    "/metrics",
    tag="service",
    permission=Permission.READ,
    scope="none",
    media="text/plain",
)
async def get_metrics(call: Call) -> Reply:
    """Figures for Prometheus.

    A platform key gets those of the whole installation and of this process. Other keys get the
    series of their own tenant.
    """
    is_platform = may(call.principal, Permission.PLATFORM)
    try:
        async with call.connection() as conn:
            if not is_platform:
                async with behind_wall(conn, call.tenant_id):
                    text = await gather_tenant(conn, tenant_id=call.tenant_id)
            else:
                text = await metrics.gather(conn)
    except StoreUnavailable:
        text = metrics.without_database()
    if is_platform and call.service.meter is not None:
        text += call.service.meter.render()
    return Reply(response=Response(text, media_type=exposition.CONTENT_TYPE))


@cache
def _document() -> bytes:
    made = openapi.document(catalogue.operations, version=version("rota"))
    return msgspec.json.encode(made)


@operation(
    "GET", "/v1/openapi.json", tag="service", permission=None, scope="none", answer=dict[str, Any]
)
async def get_openapi(_call: Call) -> Reply:
    """This interface as an OpenAPI 3.1 document."""
    return Reply(response=Response(_document(), media_type="application/json", headers=CACHED))


@operation("GET", "/docs", tag="service", permission=None, scope="none", media="text/html")
async def get_page(_call: Call) -> Reply:
    """A page to read about this interface and to try it out."""
    return _file("index.html")


@operation(
    "GET",
    "/docs/{file}",
    tag="service",
    permission=None,
    scope="none",
    media="text/plain",
    other_media=("text/html", "text/css", "text/javascript"),
)
async def get_page_file(call: Call) -> Reply:
    """What the page is made of."""
    return _file(call.params["file"])


def _file(name: str) -> Reply:
    """A file of the page, by its plain name: there is nothing else in its folder."""
    known = {each.name for each in files("rota.api").joinpath("page").iterdir()}
    ending = name.rpartition(".")[2]
    if name not in known or ending not in MEDIA:
        raise NotFound("file", name)
    body = files("rota.api").joinpath("page", name).read_bytes()
    return Reply(response=Response(body, media_type=MEDIA[ending], headers=CACHED))


@operation(
    "GET", "/problems/{code}", tag="service", permission=None, scope="none", media="text/plain"
)
async def get_problem(call: Call) -> Reply:
    """What a problem means; its `type` leads here."""
    code = call.params["code"]
    kind = KINDS.get(code)
    if kind is None:
        raise NotFound("problem", code)
    text = f"{code} ({kind.status}): {kind.title}.\n\nMore in docs/problems/{code}.md.\n"
    return Reply(response=Response(text, media_type="text/plain"))
