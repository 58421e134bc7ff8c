"""Opens the observability listener of a process: probes and metrics, in a thread of its own."""

import asyncio
import contextlib
import socket
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from rota.config.observe import LISTEN_WANTED, ObserveSettings, parse_listen
from rota.core.errors import InvalidSetting
from rota.engine.observability.cluster_metrics import ClusterPage, build_outage_families
from rota.engine.observability.exposition import render_page
from rota.engine.observability.meter import Meter
from rota.engine.observability.process_metrics import (
    ConnectionUsage,
    ProcessCollector,
    SlotUsage,
)
from rota.runtime.address_file import OBSERVE_FILE, publish_address
from rota.runtime.observe_listener import (
    ObserveListener,
    ProbeEndpoint,
    ProbeRequest,
    ProbeResponse,
    bind_probe_socket,
)
from rota.runtime.process_health import ProcessHealth
from rota.runtime.service import Duty, Pulse, ServiceContext, Tier
from rota.store.connection_usage import CONNECTION_REGISTRY

# Less than the ten seconds after which Prometheus gives up.
CLUSTER_TIMEOUT_S: Final = 8.0
HEARTBEAT_GRACE: Final = timedelta(seconds=1)
WILDCARDS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 — recognized, not bound


@contextlib.contextmanager
def serve_observability(
    observe: ObserveSettings, endpoints: Mapping[str, ProbeEndpoint]
) -> Iterator[str | None]:
    """Answer these endpoints on a separate listener, and yield the URL under which others reach it;
    None if it is off.
    """
    if observe.listen == "off":
        yield None
        return
    with contextlib.ExitStack() as stack:
        try:
            listening = stack.enter_context(bind_probe_socket(read_address(observe)))
        except OSError as error:
            wanted = (
                f"cannot listen on it ({error.strerror or error}); choose another address and "
                'port, or "auto"'
            )
            raise InvalidSetting("observe.listen", observe.listen, wanted) from error
        stack.enter_context(ObserveListener(listening, endpoints))
        yield build_observe_url(observe, listening)


def read_address(observe: ObserveSettings) -> tuple[str, int] | None:
    """Return the fixed address, or None for a free port on loopback."""
    if observe.listen == "auto":
        return None
    address = parse_listen(observe.listen)
    if address is None:
        raise InvalidSetting("observe.listen", observe.listen, f"must be {LISTEN_WANTED}")
    return address


def build_observe_url(observe: ObserveSettings, listening: socket.socket) -> str:
    """Return the URL under which others reach the listener."""
    host, port = listening.getsockname()[:2]
    if observe.advertise != "auto":
        host = observe.advertise
    elif host in WILDCARDS:
        host = socket.gethostname()
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.contextmanager
def publish_observe_url(folder: Path, role: str, url: str | None) -> Iterator[None]:
    """Write the URL of a listener on loopback to the data folder, for `rota probe`. Writes nothing
    if the folder does not exist, or if the process has written it already.
    """
    if url is None:
        yield
        return
    with publish_address(folder, url, name=OBSERVE_FILE.format(role=role)):
        yield


def build_metrics_endpoint(meter: Meter) -> ProbeEndpoint:
    """Build the endpoint of the metrics of this process."""

    def answer(request: ProbeRequest) -> ProbeResponse:
        text, content_type = render_page(meter.list_families(), request.accept)
        return ProbeResponse(200, text.encode(), content_type)

    return answer


def build_cluster_endpoint(page: ClusterPage) -> ProbeEndpoint:
    """Build the endpoint of the metrics of the cluster. They are read in the event loop that runs
    now; while it is blocked, the answer is that the database cannot be seen.
    """
    loop = asyncio.get_running_loop()

    async def answer(request: ProbeRequest) -> ProbeResponse:
        reading = asyncio.run_coroutine_threadsafe(page.read_families(), loop)
        try:
            families = await asyncio.wait_for(asyncio.wrap_future(reading), CLUSTER_TIMEOUT_S)
        except TimeoutError:
            families = build_outage_families()
        text, content_type = render_page(families, request.accept)
        return ProbeResponse(200, text.encode(), content_type)

    return answer


def build_collector(role: str, health: ProcessHealth) -> ProcessCollector:
    """Build the collector of the gauges of this process."""

    def count_slots() -> SlotUsage | None:
        counted = health.count_slots
        return None if counted is None else SlotUsage(*counted())

    return ProcessCollector(
        role=role,
        is_database_up=lambda: health.is_database_up,
        measure_loop_lag=health.heartbeat.measure_lag,
        count_connections=lambda: ConnectionUsage(*CONNECTION_REGISTRY.count_connections()),
        count_slots=count_slots,
    )


def build_heartbeat_tier(context: ServiceContext) -> Tier:
    """Build the duty that shows that the event loop turns. It stops last."""
    duty = Duty("loop heartbeat", context.health.heartbeat.tick, Pulse(), context)
    return Tier([duty], grace=HEARTBEAT_GRACE)
