"""Turns findings into incidents: opens, merges, extends, inhibits and ends them.

`apply_findings` works in the caller's transaction and in batches, so ten thousand findings cost a
few statements. Per expectation and subject a state (core/alerts/lifecycle.py) decides; the caller
holds its lock, so of several processes with the same finding one changes something. Locks are taken
in the order states, groups, incidents.

`IncidentKeeper` does what time alone decides: violations that lasted long enough, flapping subjects
that are steady, and jobs that were paused or deleted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from rota.core.alerts.finding import Finding, Verdict, derive_incident_id
from rota.core.alerts.grouping import derive_group_id
from rota.core.alerts.lifecycle import (
    SEVERITIES,
    AlertDecision,
    AlertPhase,
    AlertTransition,
    end_state,
    find_first_delay,
    judge_met,
    judge_time,
    judge_violation,
    rank_cause,
)
from rota.core.alerts.silencing import choose_silence
from rota.core.clock import ClockSource
from rota.core.time import durations
from rota.engine.alerting.silence_keeper import read_active_silences
from rota.store import alert_groups, alert_states, incidents
from rota.store.alert_groups import GroupWake
from rota.store.alert_states import StateKey, StoredAlertState
from rota.store.driver import Connection, ConnectionSource
from rota.store.incidents import EndedIncident, IncidentCause, NewIncidentEvent
from rota.store.transaction import transaction

KEEP_INTERVAL_S: Final = 2.0
INHIBITION_INTERVAL_S: Final = 5.0
STATE_BATCH_MAX: Final = 1000
ENDED_BATCH_MAX: Final = 200
TITLE_LENGTH_MAX: Final = 500
STEADY_TEXT: Final = "steady for 30 minutes"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentKeeper:
    """Changes incidents that time and the state of jobs decide about."""

    source: ConnectionSource
    clock: ClockSource

    async def tick(self) -> float:
        """Do one bounded pass; return how long to rest."""
        now = self.clock.now()
        async with self.source.acquire() as conn:
            async with transaction(conn):
                due = await alert_states.lock_due_states(conn, now=now, limit=STATE_BATCH_MAX)
                if due:
                    decided = {
                        key: judge_time(stored.state, now=now) for key, stored in due.items()
                    }
                    await _Round(conn=conn, now=now, states=due).apply(decided, {})
            async with transaction(conn):
                await end_incidents_of_ended_jobs(conn, now=now)
        return 0.0 if len(due) >= STATE_BATCH_MAX else KEEP_INTERVAL_S


@dataclass(frozen=True, slots=True, kw_only=True)
class InhibitionKeeper:
    """Notices that a cause which explained other incidents is over, such as a paused queue."""

    source: ConnectionSource
    clock: ClockSource

    async def tick(self) -> float:
        async with self.source.acquire() as conn, transaction(conn):
            await refresh_inhibition(conn, now=self.clock.now())
        return INHIBITION_INTERVAL_S


async def apply_findings(conn: Connection, findings: Sequence[Finding], *, now: datetime) -> None:
    """Apply findings in the caller's transaction. An unknown verdict changes nothing."""
    rounds = list(_split_rounds(findings))
    if not rounds:
        return
    violated = {
        _key(finding): finding for finding in findings if finding.verdict is Verdict.VIOLATED
    }
    if violated:
        await alert_states.ensure_states(conn, list(violated.values()), now=now)
    keys = dict.fromkeys(key for each in rounds for key in each)
    states = await alert_states.lock_states(conn, keys)
    for found in rounds:
        known = {key: finding for key, finding in found.items() if key in states}
        decided = {key: _judge(states[key], finding, now) for key, finding in known.items()}
        await _Round(conn=conn, now=now, states=states).apply(decided, known)


async def end_incidents(
    conn: Connection,
    incident_ids: Sequence[UUID],
    *,
    now: datetime,
    resolution: str,
    by: str | None = None,
) -> list[EndedIncident]:
    """End incidents for a reason other than a recovery; return those that were open."""
    states = await alert_states.lock_incident_states(conn, incident_ids)
    rested = {
        key: replace(stored, state=end_state(stored.state, now)) for key, stored in states.items()
    }
    await alert_states.write_states(conn, rested)
    await alert_groups.wake_incident_groups(conn, incident_ids, at=now)
    return await _resolve(conn, dict.fromkeys(incident_ids, resolution), now=now, by=by)


async def end_incidents_of_ended_jobs(conn: Connection, *, now: datetime) -> None:
    """End incidents about jobs that were paused or deleted."""
    found = await incidents.find_of_ended_jobs(conn, limit=ENDED_BATCH_MAX)
    reasons: dict[tuple[str, str | None], list[UUID]] = {}
    for row in found:
        reasons.setdefault((row.job_state, row.actor), []).append(row.id)
    for (job_state, actor), incident_ids in sorted(reasons.items(), key=str):
        by = "" if actor is None else f" by {actor}"
        await end_incidents(
            conn, incident_ids, now=now, resolution=f"job {job_state}{by}", by=actor
        )


async def refresh_inhibition(
    conn: Connection, *, now: datetime, incident_ids: Sequence[UUID] | None = None
) -> None:
    """Find out which open incidents another one explains, and tell their threads."""
    found = await incidents.find_inhibited(conn, incident_ids)
    if not found:
        return
    freed = [row.id for row in found if row.inhibited_by is None]
    await alert_groups.wake_incident_groups(conn, freed, at=now)
    changed = await incidents.inhibit_incidents(conn, found)
    events = [
        NewIncidentEvent(
            tenant_id=row.tenant_id,
            incident_id=row.id,
            type="inhibited" if row.inhibited_by else "uninhibited",
            text=None if row.inhibited_by is None else f"explained by {row.inhibited_by}",
        )
        for row in changed
    ]
    await incidents.add_events(conn, events, now=now)


@dataclass(slots=True, kw_only=True)
class _Round:
    """Writes one decision per state. `states` are locked and kept current."""

    conn: Connection
    now: datetime
    states: dict[StateKey, StoredAlertState]
    events: list[NewIncidentEvent] = field(default_factory=list)

    async def apply(
        self, decided: Mapping[StateKey, AlertDecision], findings: Mapping[StateKey, Finding]
    ) -> None:
        """Write what was decided. `findings` has the evidence; without, the stored one counts."""
        by_change: dict[AlertTransition, list[StateKey]] = {
            change: [] for change in AlertTransition
        }
        ended: dict[UUID, str] = {}
        for key, decision in decided.items():
            stored = self.states[key]
            by_change[decision.change].append(key)
            if (
                decision.change is AlertTransition.RECOVERED
                and stored.state.incident_id is not None
            ):
                found = findings.get(key)
                ended[stored.state.incident_id] = _shorten(found.title if found else STEADY_TEXT)
            self.states[key] = StoredAlertState(
                state=decision.state, finding=_merge_evidence(stored, findings.get(key))
            )
        changed = [
            key
            for key, decision in decided.items()
            if decision.change is not AlertTransition.NOTHING
        ]
        if not changed:
            return
        opened, joined = await self._assign_incidents(by_change[AlertTransition.OPENED])
        evidence = await self._weigh_evidence(joined, by_change[AlertTransition.EVIDENCE], findings)
        await alert_states.write_states(self.conn, {key: self.states[key] for key in changed})
        await self._wake_groups(opened, evidence, ended, by_change)
        await self._open(opened)
        if evidence:
            await incidents.add_evidence(self.conn, evidence, now=self.now)
        await self._set_flapping(by_change[AlertTransition.FLAPPING], is_flapping=True)
        await self._set_flapping(by_change[AlertTransition.STEADY], is_flapping=False)
        await incidents.add_events(self.conn, self.events, now=self.now)
        if ended:
            await _resolve(self.conn, ended, now=self.now, by=None)
        if opened:
            await refresh_inhibition(
                self.conn, now=self.now, incident_ids=[self._incident_id(key) for key in opened]
            )

    async def _assign_incidents(
        self, keys: Sequence[StateKey]
    ) -> tuple[list[StateKey], dict[StateKey, IncidentCause]]:
        """Give each new violation its incident: that of the same run, or a new one."""
        with_run = [key for key in keys if self.states[key].state.run_id is not None]
        joinable = {}
        if with_run:
            joinable = await incidents.find_joinable(
                self.conn,
                run_ids=[run_id for key in with_run if (run_id := self.states[key].state.run_id)],
                subject_keys=[key[1] for key in with_run],
            )
        opened: list[StateKey] = []
        joined: dict[StateKey, IncidentCause] = {}
        own: dict[tuple[str, UUID], IncidentCause] = {
            place: IncidentCause(row.incident_id, row.severity, row.condition, UUID(int=0))
            for place, row in joinable.items()
        }
        # The worst first, so that the others join it.
        for key in sorted(keys, key=lambda key: _rank(self._finding(key)), reverse=True):
            finding, state = self._finding(key), self.states[key].state
            place = None if state.run_id is None else (key[1], state.run_id)
            if place is not None and place in own:
                joined[key] = own[place]
                incident_id = own[place].incident_id
            else:
                incident_id = derive_incident_id(key[0], finding.subject, state.opened)
                opened.append(key)
                if place is not None:
                    ref = finding.expectation
                    own[place] = IncidentCause(
                        incident_id, ref.policy.severity, ref.condition, ref.id
                    )
            self.states[key] = replace(
                self.states[key], state=replace(state, incident_id=incident_id)
            )
        return opened, joined

    async def _weigh_evidence(
        self,
        joined: Mapping[StateKey, IncidentCause],
        more: Sequence[StateKey],
        findings: Mapping[StateKey, Finding],
    ) -> list[dict[str, Any]]:
        """Return what violations add to open incidents, the worst of each incident last."""
        causes = (
            await incidents.read_causes(self.conn, [self._incident_id(key) for key in more])
            if more
            else {}
        )
        rows: dict[UUID, dict[str, Any]] = {}
        ordered = sorted((*joined, *more), key=lambda key: _rank(self._finding(key)))
        for key in ordered:
            finding = self._finding(key)
            ref, incident_id = finding.expectation, self._incident_id(key)
            cause = joined.get(key) or causes.get(incident_id)
            if cause is None:
                continue
            is_severer = SEVERITIES.index(ref.policy.severity) > SEVERITIES.index(cause.severity)
            is_worst = ref.id == cause.expectation_id or _rank(finding) > rank_cause(
                cause.severity, cause.condition
            )
            # The same run fails once, however many expectations that violates.
            count = findings[key].repeats if key in findings and key not in joined else 0
            rows[incident_id] = {
                "id": incident_id,
                "count": count + rows.get(incident_id, {}).get("count", 0),
                "run_id": finding.run_id,
                "is_worst": is_worst,
                "is_severer": is_severer,
                "is_flapping": self.states[key].state.is_flapping,
                "title": _shorten(finding.title),
                "facts": dict(finding.facts),
                "condition": ref.condition,
                "expectation_id": ref.id,
                "expectation_name": ref.name,
                "severity": ref.policy.severity,
            }
            if key in joined:
                self.events.append(
                    NewIncidentEvent(
                        tenant_id=ref.tenant_id,
                        incident_id=incident_id,
                        type="updated",
                        text=_shorten(finding.title),
                        details=_describe(finding),
                    )
                )
        return list(rows.values())

    async def _wake_groups(
        self,
        opened: Sequence[StateKey],
        evidence: Sequence[Mapping[str, Any]],
        ended: Iterable[UUID],
        by_change: Mapping[AlertTransition, Sequence[StateKey]],
    ) -> None:
        """Make a process look at the groups of incidents about which there is news."""
        groups: dict[UUID, GroupWake] = {}
        for key in opened:
            finding = self._finding(key)
            delay = find_first_delay(finding.subject.kind)
            wake = _build_wake(finding, self.now + delay)
            if wake.id not in groups or wake.next_at < groups[wake.id].next_at:
                groups[wake.id] = wake
        await alert_groups.wake_groups(self.conn, groups.values(), now=self.now)
        changed = [
            *ended,
            *(row["id"] for row in evidence if row["is_severer"]),
            *(self._incident_id(key) for key in by_change[AlertTransition.FLAPPING]),
            *(self._incident_id(key) for key in by_change[AlertTransition.STEADY]),
        ]
        await alert_groups.wake_incident_groups(self.conn, changed, at=self.now)

    async def _open(self, keys: Sequence[StateKey]) -> None:
        if not keys:
            return
        tenant_ids = {self._finding(key).expectation.tenant_id for key in keys}
        active = await read_active_silences(self.conn, tenant_ids, now=self.now)
        rows = []
        for key in keys:
            finding, state = self._finding(key), self.states[key].state
            ref, subject = finding.expectation, finding.subject
            silence = choose_silence(active, ref.tenant_id, subject)
            incident_id = self._incident_id(key)
            rows.append(
                {
                    "id": incident_id,
                    "tenant_id": ref.tenant_id,
                    "severity": ref.policy.severity,
                    "title": _shorten(finding.title),
                    "condition": ref.condition,
                    "expectation_id": ref.id,
                    "expectation_name": ref.name,
                    "subject_kind": subject.kind,
                    "subject_id": subject.id,
                    "subject_name": subject.name,
                    "job_id": subject.job_id,
                    "queue": subject.queue,
                    "task": subject.task,
                    "labels": dict(subject.labels),
                    "run_id": finding.run_id,
                    "facts": dict(finding.facts),
                    "count": finding.repeats,
                    "is_flapping": state.is_flapping,
                    "silence_id": None if silence is None else silence.id,
                    "silenced_until": None if silence is None else silence.until,
                    "group_id": _build_wake(finding, self.now).id,
                }
            )
            self.events.append(
                NewIncidentEvent(
                    tenant_id=ref.tenant_id,
                    incident_id=incident_id,
                    type="opened",
                    text=_shorten(finding.title),
                    details=_describe(finding),
                )
            )
        await incidents.open_incidents(self.conn, rows, now=self.now)

    async def _set_flapping(self, keys: Sequence[StateKey], *, is_flapping: bool) -> None:
        if not keys:
            return
        changed = await incidents.set_flapping(
            self.conn, [self._incident_id(key) for key in keys], is_flapping=is_flapping
        )
        self.events.extend(
            NewIncidentEvent(
                tenant_id=row.tenant_id,
                incident_id=row.id,
                type="flapping" if is_flapping else "steady",
                text="changes often; messages wait until it is steady for 30 minutes"
                if is_flapping
                else "steady, and still violated",
            )
            for row in changed
        )

    def _finding(self, key: StateKey) -> Finding:
        finding = self.states[key].finding
        if finding is None:
            raise RuntimeError(f"the state {key} has no violation")
        return finding

    def _incident_id(self, key: StateKey) -> UUID:
        incident_id = self.states[key].state.incident_id
        if incident_id is None:
            raise RuntimeError(f"the state {key} has no incident")
        return incident_id


async def _resolve(
    conn: Connection, resolutions: Mapping[UUID, str], *, now: datetime, by: str | None
) -> list[EndedIncident]:
    ended = await incidents.resolve_incidents(conn, resolutions, now=now, by=by)
    events = [
        NewIncidentEvent(
            tenant_id=row.tenant_id,
            incident_id=row.id,
            type="resolved",
            by=by,
            text=f"{row.resolution} (open for {_describe_length(now - row.opened_at)}, "
            f"{row.bad_runs} bad run{'' if row.bad_runs == 1 else 's'})",
            details={
                "title": row.title,
                "condition": row.condition,
                "severity": row.severity,
                "subject": {
                    "kind": row.subject_kind,
                    "id": row.subject_id,
                    "name": row.subject_name,
                },
                "job_id": row.job_id,
                "run_id": row.run_id,
                "count": row.bad_runs,
                "opened_at": row.opened_at.isoformat(),
                "expectation": {"id": row.expectation_id, "name": row.expectation_name},
            },
        )
        for row in ended
    ]
    await incidents.add_events(conn, events, now=now)
    return ended


def _split_rounds(findings: Iterable[Finding]) -> Iterable[dict[StateKey, Finding]]:
    """Split findings so that each round has one per state, in order. Equal verdicts in a row about
    the same subject become one finding that stands for all of them.
    """
    queues: dict[StateKey, list[Finding]] = {}
    for finding in findings:
        if finding.verdict is Verdict.UNKNOWN:
            continue
        queue = queues.setdefault(_key(finding), [])
        if queue and queue[-1].verdict is finding.verdict:
            queue[-1] = replace(finding, repeats=queue[-1].repeats + finding.repeats)
        else:
            queue.append(finding)
    for number in range(max(map(len, queues.values()), default=0)):
        yield {key: queue[number] for key, queue in queues.items() if number < len(queue)}


def _judge(stored: StoredAlertState, finding: Finding, now: datetime) -> AlertDecision:
    policy = finding.expectation.policy
    if finding.verdict is Verdict.MET:
        return judge_met(stored.state, policy, now=now, times=finding.repeats)
    decision = judge_violation(stored.state, policy, at=finding.at, now=now)
    return replace(decision, state=replace(decision.state, run_id=finding.run_id))


def _merge_evidence(stored: StoredAlertState, finding: Finding | None) -> Finding | None:
    """Return the violation to store: a pending one stands for all bad runs since it began."""
    if finding is None or finding.verdict is not Verdict.VIOLATED:
        return stored.finding
    if stored.finding is not None and stored.state.phase is AlertPhase.PENDING:
        return replace(finding, repeats=finding.repeats + stored.finding.repeats)
    return finding


def _key(finding: Finding) -> StateKey:
    return finding.expectation.id, finding.subject.key


def _rank(finding: Finding) -> tuple[int, int]:
    return rank_cause(finding.expectation.policy.severity, finding.expectation.condition)


def _build_wake(finding: Finding, next_at: datetime) -> GroupWake:
    ref = finding.expectation
    route = ref.policy.route or ""
    return GroupWake(
        id=derive_group_id(ref.tenant_id, route, ref.id),
        tenant_id=ref.tenant_id,
        route=route,
        expectation_id=ref.id,
        expectation_name=ref.name,
        recovery=ref.policy.recovery,
        next_at=next_at,
    )


def _describe(finding: Finding) -> dict[str, Any]:
    """Return the fields of an incident for events that leave Rota."""
    ref, subject = finding.expectation, finding.subject
    return {
        "title": _shorten(finding.title),
        "condition": ref.condition,
        "severity": ref.policy.severity,
        "subject": {"kind": subject.kind, "id": subject.id, "name": subject.name},
        "job_id": subject.job_id,
        "run_id": finding.run_id,
        "count": finding.repeats,
        "expectation": {"id": ref.id, "name": ref.name},
    }


def _shorten(title: str) -> str:
    return title if len(title) <= TITLE_LENGTH_MAX else f"{title[: TITLE_LENGTH_MAX - 1]}…"


def _describe_length(length: timedelta) -> str:
    return durations.to_words(timedelta(seconds=round(length.total_seconds())))
