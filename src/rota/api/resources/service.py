"""Operations of the service: health, metrics, the OpenAPI document, its page and problems."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct
from starlette.responses import Response

from rota.api import openapi
from rota.api.call import ApiService, Call, Reply
from rota.api.operations import catalogue, operation
from rota.api.problems import PROBLEM_KINDS, ProblemError
from rota.api.schemas.field_types import format_optional_time
from rota.core.access import Permission, Principal, is_allowed
from rota.core.clock import CLOCK_OFFSET_LIMIT
from rota.core.errors import NotFound, StoreUnavailable
from rota.core.time import durations
from rota.engine.observability.cluster_metrics import build_outage_families
from rota.engine.observability.exposition import MetricFamily, render_page
from rota.engine.observability.tenant_metrics import read_tenant
from rota.store.keys import EXPIRY_WARNING
from rota.store.row_level_security import tenant_scope

PAGE_MEDIA_TYPES: Final = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
REVALIDATE_HEADERS: Final = {"Cache-Control": "no-cache"}


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
        Meta(description="Set if the key expires within 14 days, or never. Default: null."),
    ] = None


@operation(
    "GET", "/healthz", tag="service", permission=None, scope="none", answer=Health, is_probe=True
)
async def get_health(_call: Call) -> Reply:
    """Check whether this process is alive.

    Does not query the database.
    """
    return Reply(Health(status="ok"))


@operation(
    "GET", "/readyz", tag="service", permission=None, scope="none", answer=Health, is_probe=True
)
async def get_readiness(call: Call) -> Reply:
    """Check whether this process is ready.

    It is ready if the database answered within the last second and the machine's clock is within 30
    seconds of the database's.
    """
    problem = explain_unready(call.service)
    if problem is not None:
        raise ProblemError("unavailable", problem)
    return Reply(Health(status="ok"))


def explain_unready(service: ApiService) -> str | None:
    """Return why this process is not ready, or None. Runs no queries; any thread may call it."""
    if service.pool.is_unreachable:
        return "the database does not answer"
    if service.clock_is_wrong():
        limit = f"{CLOCK_OFFSET_LIMIT.total_seconds():g} seconds"
        return (
            f"this machine's clock is more than {limit} off the database's; synchronize it with NTP"
        )
    return None


@operation(
    "GET", "/v1/whoami", tag="service", permission=Permission.READ, scope="none", answer=WhoAmI
)
async def get_whoami(call: Call) -> Reply:
    """Get the caller's key, tenant and role."""
    who = call.principal
    return Reply(
        WhoAmI(
            key_id=f"key_{who.key_id.hex}",
            name=who.name,
            tenant=who.tenant,
            role=who.role.value,
            user_id=who.user_id,
            expires_at=format_optional_time(who.expires_at),
            warning=warn_expiry(who, call.now),
        )
    )


def warn_expiry(who: Principal, now: datetime) -> str | None:
    """Return a warning about the expiry of a key, or None."""
    remedy = (
        "create another with `rota keys create`, or renew the bootstrap admin key with "
        "`rota keys renew-admin`"
    )
    if who.expires_at is None:
        return f"this key never expires; {remedy}"
    left = who.expires_at - now
    if left > EXPIRY_WARNING:
        return None
    return f"this key expires in {durations.to_words(max(left, timedelta(0)))}; {remedy}"


@operation(
    "GET",
    "/metrics",
    tag="service",
    permission=Permission.READ,
    scope="none",
    media="text/plain",
)
async def get_metrics(call: Call) -> Reply:
    """Get metrics for Prometheus.

    A platform key gets the metrics of the installation and of this process; to scrape several API
    processes, use their own listeners and `/metrics/cluster`. Other keys get the series of their
    own tenant. The format is OpenMetrics if `Accept` asks for it, else the text format.
    """
    if is_allowed(call.principal, Permission.PLATFORM):
        process = [] if call.service.meter is None else call.service.meter.list_families()
        own = {family.name for family in process}
        cluster = await call.service.cluster_page.read_families()
        families = [*(family for family in cluster if family.name not in own), *process]
        return respond_metrics(call, families)
    try:
        async with call.acquire_connection() as conn, tenant_scope(conn, call.tenant_id):
            return respond_metrics(call, await read_tenant(conn, tenant_id=call.tenant_id))
    except StoreUnavailable:
        return respond_metrics(call, build_outage_families())


@operation(
    "GET",
    "/metrics/cluster",
    tag="service",
    permission=Permission.PLATFORM,
    scope="none",
    media="text/plain",
)
async def get_cluster_metrics(call: Call) -> Reply:
    """Get the metrics of the installation for Prometheus.

    They are the same in every API process, so scrape one. Rota reads them at most every five
    seconds. While the database does not answer, the page has only `rota_database_up 0`.
    """
    return respond_metrics(call, await call.service.cluster_page.read_families())


def respond_metrics(call: Call, families: Sequence[MetricFamily]) -> Reply:
    text, content_type = render_page(families, call.headers.get("accept"))
    return Reply(response=Response(text, media_type=content_type))


@cache
def _document() -> bytes:
    document = openapi.build_document(catalogue.operations, version=version("rota"))
    return msgspec.json.encode(document)


@operation(
    "GET", "/v1/openapi.json", tag="service", permission=None, scope="none", answer=dict[str, Any]
)
async def get_openapi(_call: Call) -> Reply:
    """Get the OpenAPI 3.1 document of this API."""
    return Reply(
        response=Response(_document(), media_type="application/json", headers=REVALIDATE_HEADERS)
    )


@operation("GET", "/docs", tag="service", permission=None, scope="none", media="text/html")
async def get_page(_call: Call) -> Reply:
    """Show the interactive API page."""
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
    """Get a file of the API page."""
    return _file(call.params["file"])


def _file(name: str) -> Reply:
    """Return a file of the API page by name."""
    known = {path.name for path in files("rota.api").joinpath("page").iterdir()}
    ending = name.rpartition(".")[2]
    if name not in known or ending not in PAGE_MEDIA_TYPES:
        raise NotFound("file", name)
    body = files("rota.api").joinpath("page", name).read_bytes()
    return Reply(
        response=Response(body, media_type=PAGE_MEDIA_TYPES[ending], headers=REVALIDATE_HEADERS)
    )


@operation(
    "GET", "/problems/{code}", tag="service", permission=None, scope="none", media="text/plain"
)
async def get_problem(call: Call) -> Reply:
    """Explain a problem code; the `type` of a problem links here."""
    code = call.params["code"]
    kind = PROBLEM_KINDS.get(code)
    if kind is None:
        raise NotFound("problem", code)
    text = f"{code} ({kind.status}): {kind.title}.\n\nSee docs/problems/{code}.md.\n"
    return Reply(response=Response(text, media_type="text/plain"))
