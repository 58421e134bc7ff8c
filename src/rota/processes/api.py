"""Runs the API, as its own process and as a part of `rota up`.

Any number of API processes can share one database behind a load balancer: they hold only
short-lived caches. The first start creates the bootstrap admin key.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import uvicorn
from starlette.types import ASGIApp

from rota.api.admission import CredentialVerifier, RateLimiter, RequestRate, VerifiedSenders
from rota.api.app import make_app
from rota.api.batched_writes import CommitBatchers, ServedKindsCache
from rota.api.call import ApiService
from rota.api.connections import ConnectionGuard
from rota.api.guarded_pool import GuardedPool
from rota.api.pipeline import RequestPipeline, RequestRates
from rota.api.protocol import GuardedProtocol
from rota.api.resources.service import explain_unready
from rota.api.streams import OpenStreams
from rota.config.observe import is_loopback
from rota.config.settings import ApiSettings, Settings
from rota.core.errors import InvalidSetting
from rota.core.ids import build_id
from rota.engine.dispatch.run_claimer import HintSender
from rota.engine.observability.cluster_metrics import ClusterPage
from rota.engine.observability.feed import LiveFeed
from rota.engine.observability.log_tails import LogTails
from rota.engine.observability.meter import Meter
from rota.engine.observability.process_metrics import read_version
from rota.engine.observability.tracing import TraceWriter
from rota.processes.admin_keys import KEY_FILE, AdminKeyWatch
from rota.processes.api_session import ApiSessionKeeper, ApiSessionService
from rota.processes.key_files import ensure_master_key, write_key_file
from rota.processes.listener import (
    LISTEN_BACKLOG,
    create_guard,
    listen,
    read_hosts,
    read_proxies,
)
from rota.processes.observe import build_cluster_endpoint
from rota.processes.process import (
    OpenClockMonitor,
    ProcessContext,
    Write,
    measure_clock,
    open_clock_monitor,
    run_process,
)
from rota.processes.webhooks import open_poster
from rota.runtime.address_file import publish_address
from rota.runtime.events import RequestFailed
from rota.runtime.observe_listener import ProbeEndpoint
from rota.runtime.process_health import CheckResult
from rota.runtime.service import Duty, Halt, Pulse, ServiceContext, Tier
from rota.store import idempotency, keys
from rota.store.driver import Pool
from rota.store.pool import DatabaseAccess, DedicatedConnection, open_connection, open_pool
from rota.store.roles import DatabaseRole
from rota.store.row_level_security import check_row_level_security

STOP_GRACE: Final = timedelta(seconds=5)
# How long current requests may take once the API is asked to stop.
REQUEST_GRACE: Final = timedelta(seconds=20)
KEEP_ALIVE_S: Final = 60
TENANT_FACTOR: Final = 4
BURST_FACTOR: Final = 5


class OpenApi(NamedTuple):
    """A listening API. `key_file` is the file of a bootstrap admin key that was just created,
    otherwise None. `observe_url` is where probes and metrics are, None if the listener is off.
    """

    tiers: list[Tier]
    url: str
    key_file: Path | None
    observe_url: str | None = None


async def run_api(settings: Settings, *, ready: Callable[[OpenApi], object], write: Write) -> int:
    """Run a process that serves only the API, and return its exit code."""

    @asynccontextmanager
    async def open_tiers(process: ProcessContext) -> AsyncIterator[list[Tier]]:
        async with open_api(
            settings,
            process.database.access,
            process.context,
            process.meter,
            traces=process.traces,
            endpoints=process.endpoints,
        ) as opened:
            with publish_api(settings, opened.url):
                ready(opened)
                yield opened.tiers

    return await run_process(
        settings,
        name="rota api",
        open_tiers=open_tiers,
        write=write,
        roles=(DatabaseRole.SERVICE,),
    )


@asynccontextmanager
async def open_api(
    settings: Settings,
    access: DatabaseAccess,
    context: ServiceContext,
    meter: Meter | None = None,
    *,
    traces: TraceWriter | None = None,
    endpoints: dict[str, ProbeEndpoint] | None = None,
) -> AsyncIterator[OpenApi]:
    """Open the socket and build the tiers, which answer the requests once they run. Adds the
    metrics of the cluster to `endpoints`, those of the observability listener.
    """
    api = settings.api
    check_tls(api)
    proxies = read_proxies(api)
    hosts = read_hosts(api)
    async with AsyncExitStack() as stack:
        key_file = await ensure_admin_key(settings, access, context)
        connections = open_pool(access, size=api.connections, skip_reset=True)
        clock, batcher = context.database_clock, CommitBatchers()
        clocks = await stack.enter_async_context(open_clock_monitor(access, context))
        pool = guard_pool(await stack.enter_async_context(connections), clocks, batcher)
        hint_connection = DedicatedConnection(access)
        stack.callback(hint_connection.close)
        pulse = Pulse()
        hint_sender = HintSender(line=hint_connection, pulse=pulse)
        feed, key_watch = LiveFeed(pool), AdminKeyWatch(pool, context)
        poster = await stack.enter_async_context(open_poster(settings, context.clock))

        service = ApiService(
            pool=pool,
            clock=clock,
            new_id=lambda: build_id(clock.now(), context.rng.randbytes(10)),
            hint=hint_sender.send_hint,
            random_bytes=os.urandom,
            master_key=ensure_master_key(settings),
            meter=meter,
            traces=traces,
            feed=feed,
            batchers=batcher,
            served_kinds=ServedKindsCache(monotonic=clock.monotonic),
            streams=OpenStreams(),
            log_tails=LogTails(pool, clock=clock),
            cluster_page=ClusterPage(source=pool, monotonic=clock.monotonic),
            clock_is_wrong=lambda: clocks.monitor.is_beyond_limit,
            login_idle=api.login_idle,
            check_target=poster.check_url,
        )
        stack.callback(service.off_loop.close)
        pipeline = RequestPipeline(
            service=service,
            admission=CredentialVerifier(pool=pool, monotonic=clock.monotonic, now=clock.now),
            rates=RateLimiter(monotonic=clock.monotonic),
            senders=VerifiedSenders(monotonic=clock.monotonic),
            limits=build_rate_limits(api),
            report=lambda request_id, error: context.emit(
                RequestFailed(request_id=request_id, error=error)
            ),
        )
        connection_guard = create_guard(api, proxies, monotonic=clock.monotonic)
        api_socket = stack.enter_context(listen(api, connection_guard))
        app = make_app(pipeline, hosts=hosts, proxies=proxies)
        serving = ApiServerRunner(
            server=create_server(app, api, connection_guard),
            socket=api_socket,
            feed=feed,
            log_tails=service.log_tails,
        )
        context.health.add_check("api", lambda: CheckResult(explain_unready(service)))
        if endpoints is not None:
            endpoints["/metrics/cluster"] = build_cluster_endpoint(service.cluster_page)
        tiers = [
            Tier([serving], grace=REQUEST_GRACE + STOP_GRACE),
            Tier(
                [
                    clocks.duty,
                    Duty("hinting", hint_sender.tick, pulse, context),
                    Duty("reading the feed", feed.tick, Pulse(), context),
                    Duty("guarding connections", connection_guard.tick, Pulse(), context),
                    build_session_service(pool, context),
                    Duty("watching the admin key", key_watch.tick, Pulse(), context),
                ],
                grace=STOP_GRACE,
            ),
        ]
        url = build_url(api, api_socket)
        yield OpenApi(tiers, url, key_file, context.health.observe_url)


def build_session_service(pool: GuardedPool, context: ServiceContext) -> ApiSessionService:
    clock = context.database_clock
    keeper = ApiSessionKeeper(
        source=pool,
        name=f"{socket.gethostname()}:{os.getpid()}",
        version=read_version(),
        observe_url=context.health.observe_url,
        new_id=lambda: build_id(clock.now(), context.rng.randbytes(10)),
        emit=context.emit,
    )
    duty = Duty("keeping the session", keeper.tick, Pulse(), context)
    return ApiSessionService(duty=duty, keeper=keeper)


def build_rate_limits(api: ApiSettings) -> RequestRates:
    per_key = RequestRate(api.requests_per_second, api.burst)
    return RequestRates(
        key=per_key,
        tenant=RequestRate(TENANT_FACTOR * per_key.per_second, TENANT_FACTOR * per_key.burst),
        # Enough for people, too few for guessing keys.
        address=RequestRate(api.unknown_per_second, BURST_FACTOR * api.unknown_per_second),
        hook=RequestRate(api.hook_per_second, BURST_FACTOR * api.hook_per_second),
    )


@contextlib.contextmanager
def publish_api(settings: Settings, url: str, *, make_folder: bool = False) -> Iterator[None]:
    """Write the address of this API to the data folder, for clients in that folder."""
    folder = settings.database.data
    if make_folder:
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with publish_address(folder, to_local_url(url)):
        yield


def to_local_url(url: str) -> str:
    """Return the address for local clients, which cannot connect to a wildcard address."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def guard_pool(pool: Pool, clocks: OpenClockMonitor, batcher: CommitBatchers) -> GuardedPool:
    """Wrap the pool, so that requests fail fast while the database is silent."""
    guarded = GuardedPool(pool, monotonic=clocks.monitor.clock.monotonic)
    guarded.on_lost, guarded.check = batcher.fail_pending, clocks.pulse.wake
    clocks.monitor.on_response, clocks.monitor.on_outage = (
        guarded.record_reply,
        guarded.record_outage,
    )
    return guarded


def check_tls(api: ApiSettings) -> None:
    """Reject an address beyond loopback without TLS, unless `api.insecure_http` is set."""
    if (api.tls_certificate is None) != (api.tls_key is None):
        raise InvalidSetting(
            "api.tls_key", api.tls_key, "set both api.tls_certificate and api.tls_key, or neither"
        )
    if api.tls_certificate is not None or api.insecure_http or is_loopback(api.host):
        return
    wanted = (
        "without TLS, keys would cross the network unencrypted; use 127.0.0.1, set "
        "api.tls_certificate and api.tls_key, or set api.insecure_http behind a TLS proxy"
    )
    raise InvalidSetting("api.host", api.host, wanted)


def build_url(api: ApiSettings, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    host = f"[{api.host}]" if ":" in api.host else api.host
    return f"{'http' if api.tls_certificate is None else 'https'}://{host}:{port}"


def create_server(app: ASGIApp, api: ApiSettings, guard: ConnectionGuard) -> "ApiServer":
    config = uvicorn.Config(
        app,
        http=GuardedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=round(REQUEST_GRACE.total_seconds()),
        backlog=LISTEN_BACKLOG,
        ssl_certfile=api.tls_certificate,
        ssl_keyfile=api.tls_key,
    )
    config.load()
    config.http_protocol_class = partial(GuardedProtocol, guard=guard)  # type: ignore[assignment]
    return ApiServer(config)


class ApiServer(uvicorn.Server):
    """A uvicorn server without signal handlers: the process installs its own."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiServerRunner:
    """Answers requests; on stop, it finishes the current ones."""

    server: ApiServer
    socket: socket.socket
    feed: LiveFeed
    log_tails: LogTails
    name: str = "serving"

    async def run(self, stop: Halt, /) -> None:
        serving = asyncio.create_task(self.server.serve(sockets=[self.socket]))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
            self.server.should_exit = True
            self.feed.close()
            self.log_tails.close()
            await serving
        finally:
            stopping.cancel()
            serving.cancel()


async def ensure_admin_key(
    settings: Settings, access: DatabaseAccess, context: ServiceContext
) -> Path | None:
    """Check row-level security, create the bootstrap admin key if the platform has no valid one,
    and return the file of the new key.
    """
    async with open_connection(access) as conn:
        await check_row_level_security(conn)
        await idempotency.blank_secrets(conn)
        key = await keys.ensure_admin_key(
            conn,
            key_id=build_id(await measure_clock(conn, context), context.rng.randbytes(10)),
            bits=os.urandom(32),
        )
    return None if key is None else write_key_file(settings.database.data, key, name=KEY_FILE)
