"""Findings, channels that remember, and the services of alerting on a world's clock."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from rota.core.alert_channels import AlertMessage, ChannelResult
from rota.core.alerts.finding import (
    ALERT_NAMESPACE,
    AlertPolicy,
    AlertSubject,
    ExpectationRef,
    Finding,
    SubjectKind,
    Verdict,
)
from rota.engine.alerting.incident_keeper import IncidentKeeper, InhibitionKeeper, apply_findings
from rota.engine.alerting.notification_planner import NotificationPlanner
from rota.engine.alerting.notification_sender import NotificationSender
from rota.engine.alerting.silence_keeper import SilenceKeeper
from rota.store.alert_channels import ChannelReport, report_channels
from rota.store.driver import Connection
from tests.support.standing import WorldClock
from tests.support.world import World

SENT = ChannelResult()


class SharedConnection:
    """One connection for everybody, one at a time, so that all share its moved clock."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[Connection]:
        async with self._lock:
            yield self._conn


@dataclass
class RememberingChannel:
    """Keeps what it gets, and answers what the test says."""

    results: list[ChannelResult] = field(default_factory=list)
    messages: list[AlertMessage] = field(default_factory=list)

    async def send(self, message: AlertMessage, /) -> ChannelResult:
        result = self.results.pop(0) if self.results else SENT
        if result.is_sent:
            self.messages.append(message)
        return result

    async def close(self) -> None:
        pass

    @property
    def told(self) -> list[tuple[str, str]]:
        return [(message.kind.value, message.title) for message in self.messages]


class AlertDesk:
    """Keeper, planner and senders on a world's clock, one pass at a time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.clock = WorldClock(world)
        self.source = SharedConnection(world.conn)
        self.channels: dict[str, RememberingChannel] = {}
        self.keeper = IncidentKeeper(source=self.source, clock=self.clock)
        self.inhibition = InhibitionKeeper(source=self.source, clock=self.clock)
        self.planner = NotificationPlanner(source=self.source, clock=self.clock)
        self.silences = SilenceKeeper(source=self.source, clock=self.clock)

    async def add_channel(self, name: str = "chat", **given: Any) -> RememberingChannel:
        report = ChannelReport(
            **{"name": name, "kind": "webhook", "tenants": ("*",), "is_default": True, **given}
        )
        await report_channels(self.world.conn, [report], now=self.world.now)
        self.channels[name] = RememberingChannel()
        return self.channels[name]

    async def find(self, *findings: Finding) -> None:
        async with self.world.conn.transaction():
            await apply_findings(self.world.conn, findings, now=self.world.now)

    async def work(self) -> None:
        """Let every service do what is due now."""
        await self.keeper.tick()
        await self.silences.tick()
        await self.inhibition.tick()
        while await self.planner.tick() == 0.0:
            pass
        for name, channel in self.channels.items():
            sender = NotificationSender(
                name=name,
                channel=channel,
                source=self.source,
                clock=self.clock,
                public_url="https://rota.example",
            )
            await sender.tick()

    async def pass_time(self, step: timedelta = timedelta(seconds=5), **length: float) -> None:
        """Let time pass, with all services at work."""
        end = self.world.now + timedelta(**length)
        while self.world.now < end:
            await self.world.move_to(min(self.world.now + step, end))
            await self.work()

    async def read_incidents(self) -> list[Any]:
        return list(
            await self.world.conn.fetch("select * from rota.incidents order by opened_at, id")
        )

    async def read_row(self, query: str) -> Any:
        """Return the first row of a query; the test knows its columns."""
        return await self.world.conn.fetchrow(query)

    async def read_thread(self, incident_id: UUID) -> list[str]:
        rows: list[Any] = await self.world.conn.fetch(
            "select type from rota.incident_events where incident_id = $1 order by id", incident_id
        )
        return [row["type"] for row in rows]


def name_id(name: str) -> UUID:
    """An id that a test can name."""
    return uuid5(ALERT_NAMESPACE, f"test/{name}")


def build_finding(
    world: World,
    verdict: Verdict = Verdict.VIOLATED,
    *,
    rule: str = "failing",
    condition: str = "failure_streak",
    job: str = "report",
    tenant_id: int = 1,
    kind: SubjectKind = SubjectKind.JOB,
    subject_id: str | None = None,
    subject_name: str | None = None,
    job_id: UUID | None = None,
    queue: str | None = None,
    labels: dict[str, str] | None = None,
    run: str | None = None,
    repeats: int = 1,
    title: str | None = None,
    facts: dict[str, Any] | None = None,
    **policy: Any,
) -> Finding:
    return Finding(
        expectation=ExpectationRef(
            id=name_id(f"{tenant_id}/{rule}"),
            tenant_id=tenant_id,
            name=rule,
            condition=condition,
            policy=AlertPolicy(**policy),
        ),
        subject=AlertSubject(
            kind=kind,
            id=subject_id or name_id(job).hex,
            name=subject_name or job,
            job_id=job_id,
            queue=queue,
            labels=labels or {},
        ),
        verdict=verdict,
        at=world.now,
        title=title or (f"{job} succeeded" if verdict is Verdict.MET else f"{job}: {condition}"),
        facts=facts or {},
        run_id=None if run is None else name_id(run),
        repeats=repeats,
    )


def met(world: World, **given: Any) -> Finding:
    return build_finding(world, Verdict.MET, **given)


def violated(world: World, **given: Any) -> Finding:
    return build_finding(world, Verdict.VIOLATED, **given)
