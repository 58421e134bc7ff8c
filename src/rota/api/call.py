"""Holds the state of one request and its reply."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar
from uuid import UUID

import msgspec
from starlette.responses import Response, StreamingResponse

from rota.api.batched_writes import CommitBatchers, ServedKindsCache
from rota.api.guarded_pool import GuardedPool
from rota.api.operations import ChosenScope, Operation
from rota.api.streams import OpenStreams
from rota.core.access import Permission, Principal, is_allowed, require_permission
from rota.core.origins import ChangeOrigin
from rota.core.outgoing_http import TargetCheck
from rota.engine.observability.cluster_metrics import ClusterPage
from rota.engine.observability.feed import LiveFeed
from rota.engine.observability.log_tails import LogTails
from rota.engine.observability.meter import Meter
from rota.engine.observability.problem_cache import ProblemCache
from rota.engine.observability.tracing import RequestSpan, TraceWriter
from rota.runtime.database_clock import DatabaseClock
from rota.runtime.off_loop import CheckCallback, OffLoop
from rota.store.driver import Connection
from rota.store.idempotency import IdempotentRequest
from rota.store.logins import IDLE_LIMIT
from rota.store.row_level_security import tenant_scope

T = TypeVar("T")

ENCODER: Final = msgspec.json.Encoder(order="deterministic")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiService:
    """What all requests of a process share. `hint` notifies the other processes, by channel.
    `master` is the key that encrypts secrets, None if secrets are disabled. `meter` counts events.
    `clock_is_wrong` tells whether this machine's clock differs too much from the database's.
    """

    pool: GuardedPool
    clock: DatabaseClock
    new_id: Callable[[], UUID]
    hint: Callable[[str], object]
    random_bytes: Callable[[int], bytes]
    master_key: bytes | None = None
    meter: Meter | None = None
    traces: TraceWriter | None = None
    feed: LiveFeed | None = None
    batchers: CommitBatchers
    served_kinds: ServedKindsCache
    streams: OpenStreams
    log_tails: LogTails
    cluster_page: ClusterPage
    clock_is_wrong: Callable[[], bool] = lambda: False
    off_loop: OffLoop = field(default_factory=OffLoop)
    problems: ProblemCache = field(default_factory=ProblemCache)
    login_idle: timedelta = IDLE_LIMIT
    # Checks the URL of a webhook before it is stored.
    check_target: TargetCheck | None = None


@dataclass(slots=True, kw_only=True)
class Call:
    """One request. Its operation's scope determines `conn`; `hints` are sent after the commit.
    `asked` is the idempotency key of the request.
    """

    operation: Operation
    service: ApiService
    request_id: str
    address: str
    url: str
    headers: Mapping[str, str]
    origin: ChangeOrigin = ChangeOrigin.API
    params: Mapping[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    _principal: Principal | None = None
    _conn: Connection | None = None
    _time: datetime | None = None
    hints: set[str] = field(default_factory=set)
    idempotency_key: IdempotentRequest | None = None
    span: RequestSpan | None = None
    # Called with the id of a hook once its signature is verified; raises beyond the hook's rate.
    on_verified: Callable[[UUID], object] = lambda _hook_id: None

    @property
    def principal(self) -> Principal:
        if self._principal is None:
            raise RuntimeError(f"{self.operation.name} needs no key, so it has no principal")
        return self._principal

    @property
    def tenant_id(self) -> int:
        return self.principal.tenant_id

    @property
    def is_for_all_tenants(self) -> bool:
        """Whether the call acts for every tenant, as `all_tenants` of its query says. Default: true
        for a platform key. Other keys may not set it.
        """
        requested = getattr(self.query, "all_tenants", msgspec.UNSET)
        if requested is msgspec.UNSET:
            return is_allowed(self.principal, Permission.PLATFORM)
        if requested:
            require_permission(self.principal, Permission.PLATFORM)
        return bool(requested)

    @property
    def scope(self) -> ChosenScope:
        """Where the statements run. Needs the principal."""
        if self.operation.scope != "either":
            return self.operation.scope
        return "platform" if self.is_for_all_tenants else "tenant"

    @property
    def conn(self) -> Connection:
        if self._conn is None:
            raise RuntimeError(f"{self.operation.name} has no connection in its scope")
        return self._conn

    @property
    def now(self) -> datetime:
        """The time by the database's clock: the start of the transaction, else an estimate."""
        return self.service.clock.now() if self._time is None else self._time

    @property
    def actor(self) -> str:
        return self.principal.user_id or self.principal.name

    def name_span(self, span: RequestSpan | None) -> None:
        """Name the span of this request after its operation."""
        self.span = span
        if span is not None:
            span.set_route(self.operation.path)

    def set_principal(self, principal: Principal | None) -> None:
        self._principal = principal
        if self.span is not None and principal is not None:
            self.span.set_tenant(principal.tenant_id)

    def set_connection(self, conn: Connection, now: datetime | None = None) -> None:
        """Execute the call on this connection, in a transaction that began at `now`."""
        self._conn, self._time = conn, now

    def link_runs(self, run_ids: Iterable[UUID | None]) -> None:
        """Link the runs that the call created to its trace."""
        if self.span is not None:
            self.span.link_runs(run_id for run_id in run_ids if run_id is not None)

    @asynccontextmanager
    async def open_tenant_transaction(self) -> AsyncIterator[None]:
        """Open a tenant-scoped transaction, for an operation that computes outside of it."""
        self.service.pool.refuse_in_outage()
        async with (
            self.service.pool.acquire() as conn,
            tenant_scope(conn, self.tenant_id) as now,
        ):
            self.set_connection(conn, now)
            try:
                yield
            finally:
                self._conn = None

    async def compute(self, compute: Callable[[CheckCallback], T]) -> T:
        """Compute off the event loop; the time counts against the caller's key."""
        return await self.service.off_loop.run(f"key {self.principal.key_id}", compute)

    def stream(self, events: AsyncIterator[bytes]) -> StreamingResponse:
        """Return the response that sends these events; refuse it if too many streams are open."""
        principal = self.principal
        return self.service.streams.open(
            events, key_id=principal.key_id, tenant_id=principal.tenant_id
        )

    def acquire_connection(self) -> AbstractAsyncContextManager[Connection]:
        """Acquire a separate connection, for an operation that outlives a transaction."""
        return self.service.pool.acquire()


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of an operation. `response` is set for results that are not JSON: a stream, a
    page. `made_id` is the id of what an operation that reveals a secret created.
    """

    body: Any = None
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    response: Response | None = None
    created_id: str | None = None

    def encode(self) -> bytes:
        return b"" if self.body is None else ENCODER.encode(self.body)
