"""Checks pings whose state may have changed, and reports what it finds as findings.

A ping is due when a success is overdue, when work that has begun takes too long, or right after a
signal that could open or end an incident. A healthy ping costs one look per period.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rota.contract.expectation_values import read_stored_policy
from rota.contract.pings import read_stored_timing
from rota.core.alerts.finding import (
    AlertSubject,
    ExpectationRef,
    Finding,
    SubjectKind,
    Verdict,
    derive_expectation_id,
)
from rota.core.pings import PingTimes, PingVerdict, judge_ping
from rota.engine.alerting.incident_keeper import apply_findings
from rota.store import pings
from rota.store.driver import ConnectionSource
from rota.store.pings import CheckedPing, PingRow
from rota.store.pool import read_database_time
from rota.store.transaction import transaction

PING_CHECK_INTERVAL_S: Final = 1.0
PINGS_PER_PASS_MAX: Final = 500
PING_CONDITION: Final = "ping"


@dataclass(frozen=True, slots=True, kw_only=True)
class PingChecker:
    """Any process may run it: a locked ping is skipped by the others."""

    source: ConnectionSource

    async def tick(self) -> float:
        """Check a bounded number of due pings."""
        async with self.source.acquire() as conn, transaction(conn):
            rows = await pings.claim_due(conn, limit=PINGS_PER_PASS_MAX)
            if not rows:
                return PING_CHECK_INTERVAL_S
            now = await read_database_time(conn)
            verdicts = [(row, judge_row(row, now)) for row in rows]
            await pings.record_checks(
                conn,
                [
                    CheckedPing(row.id, verdict.problem is not None, verdict.check_at)
                    for row, verdict in verdicts
                ],
            )
            await apply_findings(conn, [build_finding(*pair, now) for pair in verdicts], now=now)
        return 0.0 if len(rows) == PINGS_PER_PASS_MAX else PING_CHECK_INTERVAL_S


def judge_row(row: PingRow, now: datetime) -> PingVerdict:
    return judge_ping(
        read_stored_timing(json.loads(row.schedule), grace=row.grace),
        PingTimes(
            succeeded_at=row.succeeded_at,
            failed_at=row.failed_at,
            began_at=row.began_at,
            overdue_at=row.overdue_at,
        ),
        now=now,
    )


def build_finding(row: PingRow, verdict: PingVerdict, now: datetime) -> Finding:
    is_bad = verdict.problem is not None
    return Finding(
        expectation=ExpectationRef(
            id=derive_expectation_id(f"ping:{row.id.hex}", PING_CONDITION),
            tenant_id=row.tenant_id,
            name=f"ping {row.name}",
            condition=PING_CONDITION,
            policy=read_stored_policy(json.loads(row.policy)),
        ),
        subject=AlertSubject(kind=SubjectKind.PING, id=row.id.hex, name=row.name),
        verdict=Verdict.VIOLATED if is_bad else Verdict.MET,
        at=now,
        title=f"Ping {row.name} {verdict.problem}" if is_bad else f"Ping {row.name} succeeded",
        facts={
            "last_success_at": None
            if row.succeeded_at is None
            else row.succeeded_at.isoformat(timespec="milliseconds")
        },
    )
