"""Every setting: type, default, bounds, meaning. Room: config.

The reference page and the sentences of refusals are made from what is written here. Reading a file
or a variable happens in load.py, nowhere else.
"""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from rota.config.database import Database
from rota.config.declaring import (
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
from rota.config.executors import Executors
from rota.config.listener import ListenerSettings
from rota.config.retention import Retention
from rota.config.sources import Source
from rota.core.tenancy import DEFAULT_TENANTS
from rota.core.time.durations import words

COLLECTOR_URL = r"^https?://[^\s@]+\Z"
HEADER = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}: ?[ -~]{1,4096}\Z"
VARIABLE_PATTERN = r"^([A-Za-z_][A-Za-z0-9_]*\*?|\*)\Z"
QUEUE_NAME = r"^[a-z0-9][a-z0-9._-]{0,62}\Z"


class Scheduler(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A scheduler process. It leases shards and fires what is due in them."""

    lease: Annotated[
        timedelta,
        span(SECOND, 5 * MINUTE, "How long a shard stays with a scheduler that fell silent."),
    ] = 6 * SECOND
    renew_every: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            MINUTE,
            "How often leases are renewed; a third of `lease` at most, so that two renewals may "
            "be lost.",
        ),
    ] = 2 * SECOND
    stop_after: Annotated[
        timedelta,
        span(
            200 * MILLISECOND,
            5 * MINUTE,
            "A scheduler stops firing this long after it sent its last successful renewal: twice "
            "`renew_every` at least, seven tenths of `lease` at most.",
        ),
    ] = 4 * SECOND
    look_ahead: Annotated[
        timedelta,
        span(SECOND, MINUTE, "How far ahead of time due jobs are read into memory."),
    ] = 5 * SECOND
    batch: Annotated[int, number(1, 1000, "Most jobs fired in one transaction.")] = 500


class Worker(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A worker process. It claims runs and carries them out."""

    queues: Annotated[
        tuple[Annotated[str, Meta(pattern=QUEUE_NAME)], ...],
        text(
            "a list of queue names: 1 to 63 of a-z, 0-9, dot, dash and underscore, beginning "
            "with a letter or digit",
            "Queues that this worker serves.",
            min_length=1,
            max_length=100,
        ),
    ] = ("default",)
    slots: Annotated[int, number(1, 10_000, "Runs that it carries out at the same time.")] = 16
    tenants: Annotated[
        TenantNames,
        tenant_list(
            "Tenants whose runs this worker takes. While the default tenant is the only one, that "
            "is everybody."
        ),
    ] = DEFAULT_TENANTS
    queue_tenants: Annotated[
        dict[Annotated[str, Meta(pattern=QUEUE_NAME)], TenantNames],
        text(
            f"a table of queue names, each with {TENANT_LIST}",
            "Tenants whose runs this worker takes from a queue, where they differ from "
            "`worker.tenants`. Default: no queue differs.",
        ),
    ] = field(default_factory=dict)
    lease: Annotated[
        timedelta,
        span(
            SECOND,
            10 * MINUTE,
            "How long a worker that fell silent is believed to be alive; then its runs are taken "
            "back.",
        ),
    ] = 10 * SECOND
    beat_every: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            3 * MINUTE,
            "How often it says that it is alive; a third of `lease` at most.",
        ),
    ] = 2 * SECOND
    stop_after: Annotated[
        timedelta,
        span(
            200 * MILLISECOND,
            10 * MINUTE,
            "How long after its last successful beat a worker trusts its lease: then it starts "
            "nothing new, and stops the attempts that must not run beside their successors. At "
            "least twice `beat_every`, at most seven tenths of `lease`.",
        ),
    ] = 7 * SECOND
    on_database_outage: Annotated[
        Literal["continue", "stop"],
        choice(
            "What running attempts do while the worker cannot reach the database. `continue`: they "
            "run on, and their outcomes are stored when the database is back; an attempt that must "
            "not run beside its successor (its job forbids overlap, or it holds a place of a "
            "limit) stops when the lease is no longer to be trusted. `stop`: every attempt stops "
            "then.",
        ),
    ] = "continue"
    drain: Annotated[
        timedelta,
        span(
            timedelta(),
            DAY,
            "How long running work may go on after SIGTERM, before it is cancelled and handed "
            "back. The supervisor must wait longer than that before it kills.",
        ),
    ] = 30 * SECOND
    blocked_after: Annotated[
        timedelta,
        span(
            SECOND,
            HOUR,
            "A handler that blocks the event loop of the attempts for this long fails; the other "
            "attempts on that loop are handed back and start again.",
        ),
    ] = 5 * SECOND
    pass_environment: Annotated[
        tuple[Annotated[str, Meta(pattern=VARIABLE_PATTERN)], ...],
        text(
            "a list of names of variables such as APP_URL, or of their beginnings such as APP_*",
            'Variables of the worker that handlers with isolation="process" inherit, beside those '
            "that a program needs to start (PATH, HOME, LANG, LC_*, TZ, TMPDIR, PYTHON*, "
            "VIRTUAL_ENV and the like). `*` passes all. Variables that begin with ROTA_, and those "
            "that settings refer to as ${NAME}, are never passed; of these, ROTA_URL and ROTA_DATA "
            "are always inherited, and ROTA_API_KEY if it is named. Default: [].",
            max_length=100,
        ),
    ] = ()
    breaker_after: Annotated[
        int,
        number(
            0,
            1000,
            "Failures in a row after which a target counts as down, and its runs wait instead of "
            "using up their retries; 0 for never.",
        ),
    ] = 5
    breaker_pause: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            HOUR,
            "How long a target that is down is left alone before one run looks; twice as long "
            "after each look in vain.",
        ),
    ] = 10 * SECOND
    breaker_longest: Annotated[
        timedelta,
        span(
            100 * MILLISECOND,
            DAY,
            "The longest such pause; `breaker_pause` at least.",
        ),
    ] = 5 * MINUTE


class Api(ListenerSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The HTTP API and the dashboard."""

    host: Annotated[
        str,
        text(
            "an address or host name",
            "Address to listen on; by default only this machine can connect.",
            min_length=1,
            max_length=253,
        ),
    ] = "127.0.0.1"
    port: Annotated[int, number(0, 65_535, "Port to listen on; 0 takes a free one.")] = 7070
    tls_certificate: Annotated[
        Path | None,
        text("the path of a PEM file", "Certificate, with its chain; with it the API speaks TLS."),
    ] = None
    tls_key: Annotated[
        Path | None, text("the path of a PEM file", "Private key of the certificate.")
    ] = None
    insecure_http: Annotated[
        bool,
        choice(
            "Listen beyond this machine without TLS, for example behind a proxy that ends it. "
            "Without this and without a certificate, such an address is refused."
        ),
    ] = False
    master_key: Annotated[
        Path | None,
        text(
            "the path of a file with 64 hexadecimal digits",
            "Key that seals secrets, and with which workers open them; the same for all processes. "
            "With the embedded database one is made in its folder; otherwise there are no secrets "
            "without it.",
        ),
    ] = None
    login_idle: Annotated[
        timedelta,
        span(
            MINUTE,
            12 * HOUR,
            "How long an unused login at the dashboard lasts. A page that only refreshes "
            "itself does not count as use. Every login ends after 12 hours. Default: 30 minutes.",
        ),
    ] = 30 * MINUTE
    requests_per_second: Annotated[
        int, number(1, 1_000_000, "Requests that one key may make in a second, over time.")
    ] = 1000
    burst: Annotated[
        int, number(1, 1_000_000, "Requests that one key may make at once after a quiet time.")
    ] = 2000
    unknown_per_second: Annotated[
        int,
        number(
            1,
            1_000_000,
            "Requests without a valid key that one address may make in a second. Health probes"
            " are not counted. Default: 20.",
        ),
    ] = 20
    connections: Annotated[
        int, number(1, 1000, "Database connections that the API uses at most.")
    ] = 8


class Log(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the processes say on stderr."""

    level: Annotated[
        Literal["debug", "info", "warning", "error"], choice("The least that is worth a line.")
    ] = "info"
    format: Annotated[
        Literal["text", "json"], choice("Lines for people, or one JSON object a line.")
    ] = "text"


class Traces(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Traces for OpenTelemetry. They need the extra `otel`."""

    endpoint: Annotated[
        Annotated[str, Meta(pattern=COLLECTOR_URL)] | None,
        text(
            "a URL without a password, such as http://localhost:4318",
            "Collector that takes OTLP over HTTP, at /v1/traces unless the URL has a path. "
            "Without it nothing is traced.",
        ),
    ] = None
    one_in: Annotated[
        int,
        number(
            1,
            1_000_000,
            "One of so many traces is kept: 1 keeps all. It goes by the id of the run, so all "
            "processes keep the same. A request that comes with a trace follows its caller.",
        ),
    ] = 1
    service: Annotated[
        str,
        text(
            "a name",
            "What the processes are called in traces (service.name).",
            min_length=1,
            max_length=200,
        ),
    ] = "rota"
    headers: Annotated[
        tuple[Annotated[str, Meta(pattern=HEADER)], ...],
        text(
            'a list of headers such as "authorization: ${COLLECTOR_KEY}"',
            "What the collector wants to be told with every request.",
            secret=True,
            max_length=20,
        ),
    ] = ()

    def __repr__(self) -> str:
        return f"Traces(endpoint={self.endpoint!r}, one_in={self.one_in}, …)"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    database: Database = field(default_factory=Database)
    scheduler: Scheduler = field(default_factory=Scheduler)
    worker: Worker = field(default_factory=Worker)
    executors: Executors = field(default_factory=Executors)
    api: Api = field(default_factory=Api)
    retention: Retention = field(default_factory=Retention)
    log: Log = field(default_factory=Log)
    traces: Traces = field(default_factory=Traces)
    sources: Annotated[
        dict[str, Source],
        text(
            "a table of sources by their names",
            "Places that events come from.",
            secret=True,
        ),
    ] = field(default_factory=dict)


def contradictions(settings: Settings) -> Iterator[tuple[str, str]]:
    """Settings that are each right and do not go together: the path of one, and what it needs."""
    yield from lease_contradictions(
        "scheduler", settings.scheduler, "renew_every", settings.scheduler.renew_every
    )
    yield from lease_contradictions(
        "worker", settings.worker, "beat_every", settings.worker.beat_every
    )
    for queue in settings.worker.queue_tenants:
        if queue not in settings.worker.queues:
            yield "worker.queue_tenants", f"of queues in worker.queues only; {queue} is not"
    if settings.worker.breaker_longest < settings.worker.breaker_pause:
        least = words(settings.worker.breaker_pause)
        yield "worker.breaker_longest", f"worker.breaker_pause at least, {least}"


def lease_contradictions(
    section: str, holder: Scheduler | Worker, renewal: str, every: timedelta
) -> Iterator[tuple[str, str]]:
    """The safety margins of a lease, whoever holds it (F21: leases that flap).

    Two renewals may be lost before anybody else may take over; the holder itself gives up before
    that, by its own clock, and not at the first hiccup.
    """
    most = holder.lease * 7 / 10
    if every * 3 > holder.lease:
        yield (
            f"{section}.{renewal}",
            f"a third of {section}.lease at most, {words(holder.lease / 3)}",
        )
    if holder.stop_after < every * 2:
        yield f"{section}.stop_after", f"twice {section}.{renewal} at least, {words(every * 2)}"
    if holder.stop_after > most:
        yield f"{section}.stop_after", f"seven tenths of {section}.lease at most, {words(most)}"
