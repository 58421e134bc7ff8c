"""Decides which messages a group of incidents sends, and when.

A group has the incidents of one tenant, route and expectation. Its first message goes out at once,
the second at least 30 seconds later, and later ones at least 5 minutes apart; a rise of the
severity and the end of all incidents wait 30 seconds at most. An episode lasts from the first open
incident to the end of the last. A message names a limited number of incidents and counts the rest.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid5

from rota.core.alert_channels import MessageKind
from rota.core.alerts.finding import ALERT_NAMESPACE, Severity
from rota.core.alerts.lifecycle import is_at_least
from rota.core.alerts.routes import RouteStep

ITEMS_MAX: Final = 20
SECOND_MESSAGE_AFTER: Final = timedelta(seconds=30)
LATER_MESSAGE_AFTER: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSnapshot:
    """The incidents of a group now.

    `firing` counts open incidents that messages may name, `unannounced` those of them that no
    message named yet, `worse` those whose severity rose since, `flapping` those that began to flap
    since, `steady` those that ceased to. `ended` counts announced incidents whose end no message
    named. `repeating` counts open ones that are neither acknowledged nor flapping. `held` counts
    open ones that a silence or another incident holds back, `held_until` is when the first silence
    ends.
    """

    firing: int = 0
    unannounced: int = 0
    worse: int = 0
    flapping: int = 0
    steady: int = 0
    ended: int = 0
    unacknowledged: int = 0
    repeating: int = 0
    held: int = 0
    held_until: datetime | None = None
    severity: Severity = Severity.INFO

    @property
    def news(self) -> int:
        """How many incidents have something that no message said yet."""
        return self.unannounced + self.worse + self.flapping + self.steady + self.ended

    @property
    def is_over(self) -> bool:
        return self.firing == 0 and self.held == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StepProgress:
    """When a step of the route got its first and its last message of the episode."""

    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupState:
    """`began_at` is None between episodes. `messages` counts those of the episode."""

    episode: int = 0
    began_at: datetime | None = None
    last_message_at: datetime | None = None
    messages: int = 0
    steps: tuple[StepProgress | None, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMessage:
    """A message to the channels of one step, with the number of the pass within its episode."""

    step: int
    kind: MessageKind
    sequence: int
    channels: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """What to send and the state afterwards. `announces`: all incidents count as announced now."""

    state: GroupState
    messages: tuple[PlannedMessage, ...] = ()
    announces: bool = False
    next_at: datetime | None = None


def plan_group(
    state: GroupState, route: Sequence[RouteStep], snapshot: GroupSnapshot, *, now: datetime
) -> GroupPlan:
    """Decide what a group sends now and when to look again."""
    if state.began_at is None:
        if snapshot.firing == 0:
            rest = replace(state, steps=())
            return GroupPlan(
                state=rest, announces=snapshot.ended > 0, next_at=_wait_for_silence(snapshot)
            )
        begins_at = _allow_message(state, snapshot)
        if begins_at is not None and begins_at > now:
            return GroupPlan(state=state, next_at=begins_at)
        state = replace(state, episode=state.episode + 1, began_at=now, messages=0, steps=())
    state = _fit_steps(state, len(route))
    if snapshot.is_over and not any(state.steps):
        return GroupPlan(state=_end_episode(state), announces=True)
    messages, announces, waits_until = _choose_messages(state, route, snapshot, now)
    if messages:
        state = _record_messages(state, messages, now)
    if snapshot.is_over and (announces or snapshot.ended == 0):
        return GroupPlan(state=_end_episode(state), messages=messages, announces=True)
    next_at = _find_next(state, route, snapshot, now)
    return GroupPlan(
        state=state,
        messages=messages,
        announces=announces,
        next_at=min((at for at in (next_at, waits_until) if at is not None), default=None),
    )


def derive_group_id(tenant_id: int, route: str, expectation_id: UUID) -> UUID:
    return uuid5(ALERT_NAMESPACE, f"group/{tenant_id}/{expectation_id.hex}/{route}")


def derive_dedup_key(group_id: UUID, episode: int) -> str:
    """Return the key that all messages of one episode share."""
    return f"rota-{group_id.hex}-{episode}"


def derive_notification_id(
    group_id: UUID, episode: int, message: PlannedMessage, channel: str
) -> UUID:
    """Return the id of a message to one channel, equal on every node that plans it."""
    name = f"{group_id.hex}/{episode}/{message.sequence}/{message.kind}/{channel}"
    return uuid5(ALERT_NAMESPACE, name)


def _choose_messages(
    state: GroupState, route: Sequence[RouteStep], snapshot: GroupSnapshot, now: datetime
) -> tuple[tuple[PlannedMessage, ...], bool, datetime | None]:
    """Return the messages, whether they announce what is new, and until when news waits."""
    allowed_at = _allow_message(state, snapshot) if snapshot.news else None
    may_announce = bool(snapshot.news) and (allowed_at is None or allowed_at <= now)
    kinds: list[tuple[int, MessageKind]] = []
    for index, step in enumerate(route):
        told = state.steps[index]
        if told is None:
            if _is_due(state, step, snapshot, now):
                escalates = step.after > timedelta(0)
                kinds.append((index, MessageKind.ESCALATED if escalates else MessageKind.OPENED))
        elif may_announce and (step.recovery or not _is_recovery(snapshot)):
            kinds.append((index, _name_news(snapshot)))
        elif _repeats_at(told, step, snapshot, now) == now:
            kinds.append((index, MessageKind.REPEATED))
    sequence = state.messages + 1
    messages = tuple(
        PlannedMessage(step=index, kind=kind, sequence=sequence, channels=route[index].channels)
        for index, kind in kinds
    )
    # The first message to the first steps names all incidents too.
    announces = may_announce or (state.messages == 0 and bool(messages))
    return messages, announces, None if may_announce else allowed_at


def _allow_message(state: GroupState, snapshot: GroupSnapshot) -> datetime | None:
    """Return when news may be sent; None: at once."""
    if state.last_message_at is None:
        return None
    is_urgent = (
        state.began_at is None or state.messages <= 1 or snapshot.worse > 0 or snapshot.is_over
    )
    return state.last_message_at + (SECOND_MESSAGE_AFTER if is_urgent else LATER_MESSAGE_AFTER)


def _is_due(state: GroupState, step: RouteStep, snapshot: GroupSnapshot, now: datetime) -> bool:
    """Return whether a step that was not told yet gets its first message now."""
    if state.began_at is None or snapshot.firing == 0:
        return False
    return now >= state.began_at + step.after and _is_eligible(step, snapshot)


def _is_eligible(step: RouteStep, snapshot: GroupSnapshot) -> bool:
    is_stopped = step.unless_acknowledged and snapshot.unacknowledged == 0
    return is_at_least(snapshot.severity, step.severity) and not is_stopped


def _is_recovery(snapshot: GroupSnapshot) -> bool:
    """Return whether all news is that incidents ended."""
    return snapshot.news == snapshot.ended


def _name_news(snapshot: GroupSnapshot) -> MessageKind:
    if snapshot.is_over:
        return MessageKind.RESOLVED
    if snapshot.news == snapshot.flapping:
        return MessageKind.FLAPPING
    return MessageKind.UPDATED


def _repeats_at(
    told: StepProgress, step: RouteStep, snapshot: GroupSnapshot, now: datetime
) -> datetime | None:
    """Return when a step gets its message again, at the earliest now; None: never."""
    if step.repeat is None or snapshot.repeating == 0:
        return None
    return max(told.last_at + step.repeat, now)


def _find_next(
    state: GroupState, route: Sequence[RouteStep], snapshot: GroupSnapshot, now: datetime
) -> datetime | None:
    times: list[datetime | None] = [_wait_for_silence(snapshot)]
    for step, told in zip(route, state.steps, strict=True):
        if told is not None:
            times.append(_repeats_at(told, step, snapshot, now))
        elif state.began_at is not None and snapshot.firing and _is_eligible(step, snapshot):
            times.append(state.began_at + step.after)
    return min((at for at in times if at is not None), default=None)


def _wait_for_silence(snapshot: GroupSnapshot) -> datetime | None:
    return snapshot.held_until if snapshot.held else None


def _record_messages(
    state: GroupState, messages: Sequence[PlannedMessage], now: datetime
) -> GroupState:
    steps = list(state.steps)
    for message in messages:
        told = steps[message.step]
        steps[message.step] = StepProgress(
            first_at=now if told is None else told.first_at, last_at=now
        )
    return replace(state, steps=tuple(steps), messages=messages[0].sequence, last_message_at=now)


def _fit_steps(state: GroupState, number: int) -> GroupState:
    """Forget the progress of steps that an edit of the route removed."""
    kept = state.steps[:number]
    return replace(state, steps=(*kept, *(None,) * (number - len(kept))))


def _end_episode(state: GroupState) -> GroupState:
    return replace(state, began_at=None, messages=0, steps=())
