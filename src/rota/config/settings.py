"""Declares every setting: type, default, bounds and meaning.

The reference page and the error messages are generated from these declarations. Only load.py reads
files and variables.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from rota.config.alerts import AlertSettings
from rota.config.channels import ChannelSettings
from rota.config.database import DatabaseSettings
from rota.config.declarations import (
    DAY,
    HOUR,
    MILLISECOND,
    MINUTE,
    SECOND,
    TENANT_LIST,
    TenantNames,
    choice,
    number,
    span,
    tenant_list,
    text,
)
from rota.config.executors import ExecutorSettings
from rota.config.heartbeat import HeartbeatSettings
from rota.config.listener import ListenerSettings
from rota.config.observe import ObserveSettings, find_listen_contradictions
from rota.config.retention import RetentionSettings
from rota.config.sinks import SinkSettings
from rota.config.sources import SourceSettings
from rota.core.tenancy import DEFAULT_TENANTS
from rota.core.time.durations import to_words

COLLECTOR_URL_PATTERN = r"^https?://[^\s@]+\Z"
HEADER_PATTERN = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}: ?[ -~]{1,4096}\Z"
VARIABLE_PATTERN = r"^([A-Za-z_][A-Za-z0-9_]*\*?|\*)\Z"
QUEUE_NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,62}\Z"


class SchedulerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scheduler process. It leases shards and fires their due ticks."""

    lease: Annotated[
        timedelta,
        span(
            SECOND,
            5 * MINUTE,
            "How long a scheduler keeps its shards without renewing their leases. Default: 6 s.",
        ),
    ] = 6 * SECOND
    renew_every: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            MINUTE,
            "How often leases are renewed. At most a third of `lease`, so that two renewals may "
            "fail. Default: 2 s.",
        ),
    ] = 2 * SECOND
    stop_after: Annotated[
        timedelta,
        span(
            200 * MILLISECOND,
            5 * MINUTE,
            "How long after its last successful renewal a scheduler stops firing. At least twice "
            "`renew_every`, at most seven tenths of `lease`. Default: 4 s.",
        ),
    ] = 4 * SECOND
    look_ahead: Annotated[
        timedelta,
        span(SECOND, MINUTE, "How far ahead the scheduler loads due ticks. Default: 5 s."),
    ] = 5 * SECOND
    batch: Annotated[
        int, number(1, 1000, "Maximum ticks fired in one transaction. Default: 500.")
    ] = 500


class WorkerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A worker process. It claims runs and executes them."""

    queues: Annotated[
        tuple[Annotated[str, Meta(pattern=QUEUE_NAME_PATTERN)], ...],
        text(
            "a list of queue names: 1 to 63 characters of a-z, 0-9, dot, dash and underscore, "
            "starting with a letter or digit",
            'Queues that the worker serves. Default: ["default"].',
            min_length=1,
            max_length=100,
        ),
    ] = ("default",)
    slots: Annotated[
        int, number(1, 10_000, "Runs that the worker executes at the same time. Default: 16.")
    ] = 16
    tenants: Annotated[
        TenantNames,
        tenant_list("Tenants whose runs the worker executes."),
    ] = DEFAULT_TENANTS
    queue_tenants: Annotated[
        dict[Annotated[str, Meta(pattern=QUEUE_NAME_PATTERN)], TenantNames],
        text(
            f"a table of queue names, each with {TENANT_LIST}",
            "Tenants whose runs the worker executes from a queue, if they differ from "
            "`worker.tenants`. Default: `worker.tenants` for every queue.",
        ),
    ] = field(default_factory=dict)
    lease: Annotated[
        timedelta,
        span(
            SECOND,
            10 * MINUTE,
            "How long a worker counts as alive without a heartbeat. Then its runs are recovered. "
            "Default: 10 s.",
        ),
    ] = 10 * SECOND
    beat_every: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            3 * MINUTE,
            "Heartbeat interval. At most a third of `lease`. Default: 2 s.",
        ),
    ] = 2 * SECOND
    stop_after: Annotated[
        timedelta,
        span(
            200 * MILLISECOND,
            10 * MINUTE,
            "How long after its last successful heartbeat a worker trusts its lease. Then it "
            "starts no attempts and stops those that must not overlap their successors. At "
            "least twice `beat_every`, at most seven tenths of `lease`. Default: 7 s.",
        ),
    ] = 7 * SECOND
    on_database_outage: Annotated[
        Literal["continue", "stop"],
        choice(
            "What running attempts do while the worker cannot reach the database. `continue`: they "
            "go on, and the worker stores their outcomes when the database is back; an attempt "
            "that must not overlap its successor (its job forbids overlap, or it holds a slot of a "
            "limit) stops after `stop_after`. `stop`: every attempt stops after `stop_after`. "
            'Default: "continue".',
        ),
    ] = "continue"
    drain: Annotated[
        timedelta,
        span(
            timedelta(),
            DAY,
            "How long running attempts may continue after SIGTERM before they are cancelled and "
            "their runs go back to the queue. The process supervisor must wait longer before it "
            "kills the worker. Default: 30 s.",
        ),
    ] = 30 * SECOND
    blocked_after: Annotated[
        timedelta,
        span(
            SECOND,
            HOUR,
            "How long a handler may block the attempt loop before it fails. The other attempts "
            "on that loop go back to the queue and start again. Default: 5 s.",
        ),
    ] = 5 * SECOND
    pass_environment: Annotated[
        tuple[Annotated[str, Meta(pattern=VARIABLE_PATTERN)], ...],
        text(
            "a list of variable names such as APP_URL, or prefixes such as APP_*",
            "Environment variables of the worker that handlers with "
            'isolation="process" inherit, in addition to those that a program needs to start '
            "(PATH, HOME, LANG, LC_*, TZ, TMPDIR, PYTHON*, VIRTUAL_ENV and the like). `*` passes "
            "all. Variables that begin with ROTA_ and those that settings refer to as ${NAME} are "
            "never passed, with these exceptions: ROTA_URL and ROTA_DATA are always inherited, "
            "ROTA_API_KEY if it is listed. Default: [].",
            max_length=100,
        ),
    ] = ()
    breaker_after: Annotated[
        int,
        number(
            0,
            1000,
            "Consecutive failures that open the circuit breaker of a target. Its runs then wait "
            "and use no retries. 0 disables the breaker. Default: 5.",
        ),
    ] = 5
    breaker_pause: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            HOUR,
            "How long the circuit breaker stays open before a probe. Doubles after each failed "
            "probe. Default: 10 s.",
        ),
    ] = 10 * SECOND
    breaker_longest: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            DAY,
            "Maximum time the circuit breaker stays open before a probe. At least "
            "`breaker_pause`. Default: 5 minutes.",
        ),
    ] = 5 * MINUTE


class ApiSettings(ListenerSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The HTTP API and the dashboard."""

    host: Annotated[
        str,
        text(
            "an address or host name",
            "Address to listen on. Default: 127.0.0.1, which only this machine can reach.",
            min_length=1,
            max_length=253,
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int, number(0, 65_535, "Port to listen on. 0 picks a free port. Default: 7070.")
    ] = 7070
    tls_certificate: Annotated[
        Path | None,
        text(
            "the path of a PEM file",
            "TLS certificate with its chain. Enables TLS. Default: none.",
        ),
    ] = None
    tls_key: Annotated[
        Path | None,
        text("the path of a PEM file", "Private key of the certificate. Default: none."),
    ] = None
    insecure_http: Annotated[
        bool,
        choice(
            "Allow other machines to connect without TLS, for example through a proxy that "
            "terminates TLS. If false, a non-loopback address requires a certificate. "
            "Default: false."
        ),
    ] = False
    master_key: Annotated[
        Path | None,
        text(
            "the path of a file with 64 hexadecimal digits",
            "File with the key that encrypts and decrypts secrets; the same for all processes. "
            "Default: with the embedded database, a file that Rota creates in its folder; "
            "otherwise none, and secrets are disabled.",
        ),
    ] = None
    login_idle: Annotated[
        timedelta,
        span(
            MINUTE,
            12 * HOUR,
            "How long an idle dashboard login lasts. Automatic page refreshes do not count as "
            "activity. Every login ends after 12 hours. Default: 30 minutes.",
        ),
    ] = 30 * MINUTE
    requests_per_second: Annotated[
        int, number(1, 1_000_000, "Sustained requests per second of one API key. Default: 1000.")
    ] = 1000
    burst: Annotated[
        int, number(1, 1_000_000, "Requests that one API key may send in a burst. Default: 2000.")
    ] = 2000
    unknown_per_second: Annotated[
        int,
        number(
            1,
            1_000_000,
            "Requests per second without a valid key from one address. Health probes do not"
            " count. Default: 20.",
        ),
    ] = 20
    connections: Annotated[
        int, number(1, 1000, "Maximum database connections of the API. Default: 8.")
    ] = 8


class LogSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The log that the processes write to stderr."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"],
        choice('Minimum level that is logged. Default: "info".'),
    ] = "info"
    format: Annotated[
        Literal["text", "json"],
        choice('Readable text, or one JSON object per line. Default: "text".'),
    ] = "text"


class TraceSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """OpenTelemetry traces. They require the extra `otel`."""

    endpoint: Annotated[
        Annotated[str, Meta(pattern=COLLECTOR_URL_PATTERN)] | None,
        text(
            "a URL without a password, such as http://localhost:4318",
            "URL of a collector that accepts OTLP over HTTP. Without a path, Rota appends "
            "/v1/traces. Default: none, and tracing is disabled.",
        ),
    ] = None
    one_in: Annotated[
        int,
        number(
            1,
            1_000_000,
            "Sampling: keep one of this many traces. The run id decides, so all processes keep "
            "the same ones. A request with a trace context follows its caller's decision. "
            "Default: 1, which keeps all.",
        ),
    ] = 1
    service: Annotated[
        str,
        text(
            "a name",
            'Service name in traces (service.name). Default: "rota".',
            min_length=1,
            max_length=200,
        ),
    ] = "rota"
    headers: Annotated[
        tuple[Annotated[str, Meta(pattern=HEADER_PATTERN)], ...],
        text(
            'a list of headers such as "authorization: ${COLLECTOR_KEY}"',
            "Headers that Rota sends to the collector with every request. Default: [].",
            secret=True,
            max_length=20,
        ),
    ] = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(endpoint={self.endpoint!r}, one_in={self.one_in}, …)"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    database: DatabaseSettings = field(default_factory=DatabaseSettings)
    scheduler: SchedulerSettings = field(default_factory=SchedulerSettings)
    worker: WorkerSettings = field(default_factory=WorkerSettings)
    executors: ExecutorSettings = field(default_factory=ExecutorSettings)
    api: ApiSettings = field(default_factory=ApiSettings)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    log: LogSettings = field(default_factory=LogSettings)
    observe: ObserveSettings = field(default_factory=ObserveSettings)
    heartbeat: HeartbeatSettings = field(default_factory=HeartbeatSettings)
    traces: TraceSettings = field(default_factory=TraceSettings)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    channels: Annotated[
        dict[str, ChannelSettings],
        text(
            "a table of channels by name",
            "Where alerts and `notify` jobs send messages. Default: none.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    sources: Annotated[
        dict[str, SourceSettings],
        text(
            "a table of sources by name",
            "Sources of events. Default: none.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    sinks: Annotated[
        dict[str, SinkSettings],
        text(
            "a table of sinks by name",
            "Brokers to which Rota publishes its events. Default: none.",
            secret=True,
        ),
    ] = field(default_factory=dict)


def find_contradictions(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield settings that contradict each other: the path of one, and what it must be."""
    yield from find_lease_contradictions(
        "scheduler", settings.scheduler, "renew_every", settings.scheduler.renew_every
    )
    yield from find_lease_contradictions(
        "worker", settings.worker, "beat_every", settings.worker.beat_every
    )
    yield from find_listen_contradictions(settings.observe)
    for queue in settings.worker.queue_tenants:
        if queue not in settings.worker.queues:
            yield (
                "worker.queue_tenants",
                f"a table of queues in worker.queues; {queue} is not one of them",
            )
    for channel in settings.executors.channels:
        if channel in settings.channels:
            yield (
                "executors.channels",
                f"without {channel}, which [channels.{channel}] defines; delete the older one",
            )
    if settings.worker.breaker_longest < settings.worker.breaker_pause:
        minimum = to_words(settings.worker.breaker_pause)
        yield "worker.breaker_longest", f"at least worker.breaker_pause, {minimum}"


def find_lease_contradictions(
    section: str, holder: SchedulerSettings | WorkerSettings, renewal: str, every: timedelta
) -> Iterator[tuple[str, str]]:
    """Yield violations of a lease's safety margins (F21: flapping leases).

    Two renewals may fail before another process may take over. The holder gives up earlier, by its
    own clock, but not at the first failed renewal.
    """
    longest_trust = holder.lease * 7 / 10
    if every * 3 > holder.lease:
        yield (
            f"{section}.{renewal}",
            f"at most a third of {section}.lease, {to_words(holder.lease / 3)}",
        )
    if holder.stop_after < every * 2:
        yield f"{section}.stop_after", f"at least twice {section}.{renewal}, {to_words(every * 2)}"
    if holder.stop_after > longest_trust:
        wanted = f"at most seven tenths of {section}.lease, {to_words(longest_trust)}"
        yield f"{section}.stop_after", wanted
