"""Which messages a group of incidents sends, and when."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from rota.core.alert_channels import MessageKind
from rota.core.alerts.finding import Severity
from rota.core.alerts.grouping import (
    LATER_MESSAGE_AFTER,
    SECOND_MESSAGE_AFTER,
    GroupPlan,
    GroupSnapshot,
    GroupState,
    PlannedMessage,
    derive_dedup_key,
    derive_group_id,
    derive_notification_id,
    plan_group,
)
from rota.core.alerts.routes import RouteStep

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
CHAT = RouteStep(channels=("chat",))
ONE = GroupSnapshot(
    firing=1, unannounced=1, unacknowledged=1, repeating=1, severity=Severity.WARNING
)
KNOWN = replace(ONE, unannounced=0)
OVER = GroupSnapshot(ended=1, severity=Severity.WARNING)


def kinds(plan: GroupPlan) -> list[MessageKind]:
    return [message.kind for message in plan.messages]


def begin(route: tuple[RouteStep, ...] = (CHAT,)) -> GroupState:
    return plan_group(GroupState(), route, ONE, now=NOW).state


def test_the_first_message_goes_out_at_once() -> None:
    plan = plan_group(GroupState(), [CHAT], ONE, now=NOW)

    assert (kinds(plan), plan.announces, plan.next_at) == ([MessageKind.OPENED], True, None)
    assert (plan.state.episode, plan.state.messages) == (1, 1)


def test_news_waits_half_a_minute_and_then_five() -> None:
    state = begin()
    waiting = plan_group(state, [CHAT], ONE, now=NOW + timedelta(seconds=10))
    second = plan_group(state, [CHAT], ONE, now=NOW + SECOND_MESSAGE_AFTER)
    third = plan_group(second.state, [CHAT], ONE, now=NOW + MINUTE)

    assert (kinds(waiting), waiting.next_at) == ([], NOW + SECOND_MESSAGE_AFTER)
    assert kinds(second) == [MessageKind.UPDATED]
    assert third.next_at == NOW + SECOND_MESSAGE_AFTER + LATER_MESSAGE_AFTER


def test_a_rise_of_the_severity_does_not_wait_five_minutes() -> None:
    state = replace(begin(), messages=5)
    worse = replace(KNOWN, worse=1, severity=Severity.PAGE)

    plan = plan_group(state, [CHAT], worse, now=NOW + SECOND_MESSAGE_AFTER)

    assert kinds(plan) == [MessageKind.UPDATED]


def test_the_end_of_all_incidents_ends_the_episode() -> None:
    plan = plan_group(begin(), [CHAT], OVER, now=NOW + MINUTE)

    assert kinds(plan) == [MessageKind.RESOLVED]
    assert (plan.state.began_at, plan.state.episode, plan.next_at) == (None, 1, None)


def test_a_step_without_recovery_is_not_told_the_end() -> None:
    quiet = replace(CHAT, recovery=False)
    plan = plan_group(begin((quiet,)), [quiet], OVER, now=NOW + MINUTE)

    assert (kinds(plan), plan.state.began_at) == ([], None)


def test_nobody_is_told_the_end_of_what_nobody_was_told() -> None:
    later = replace(CHAT, after=30 * MINUTE)
    state = begin((later,))
    assert plan_group(GroupState(), [later], ONE, now=NOW).messages == ()

    plan = plan_group(state, [later], OVER, now=NOW + MINUTE)

    assert (kinds(plan), plan.state.began_at) == ([], None)


def test_an_escalation_is_due_after_its_time_unless_acknowledged() -> None:
    route = (CHAT, RouteStep(channels=("oncall",), after=30 * MINUTE, unless_acknowledged=True))
    state = begin(route)
    at = NOW + 30 * MINUTE

    due = plan_group(state, route, KNOWN, now=at)
    before = plan_group(state, route, KNOWN, now=NOW + MINUTE)
    stopped = plan_group(state, route, replace(KNOWN, unacknowledged=0), now=at)

    assert kinds(due) == [MessageKind.ESCALATED]
    assert before.next_at == at
    assert (stopped.messages, stopped.next_at) == ((), None)


def test_a_step_for_pages_ignores_warnings() -> None:
    pager = RouteStep(channels=("pager",), severity=Severity.PAGE)
    state = begin((CHAT, pager))
    worse = replace(KNOWN, worse=1, severity=Severity.PAGE)

    plan = plan_group(state, (CHAT, pager), worse, now=NOW + MINUTE)

    assert state.steps[1] is None
    assert kinds(plan) == [MessageKind.UPDATED, MessageKind.OPENED]


def test_a_step_repeats_until_somebody_acknowledges() -> None:
    repeating = replace(CHAT, repeat=20 * MINUTE)
    state = begin((repeating,))

    plan = plan_group(state, [repeating], KNOWN, now=NOW + 20 * MINUTE)
    quiet = plan_group(state, [repeating], replace(KNOWN, repeating=0), now=NOW + 20 * MINUTE)

    assert (kinds(plan), plan.next_at) == ([MessageKind.REPEATED], NOW + 40 * MINUTE)
    assert (kinds(quiet), quiet.next_at) == ([], None)


def test_a_group_looks_again_when_the_silence_ends() -> None:
    silenced = GroupSnapshot(held=1, held_until=NOW + MINUTE)

    plan = plan_group(GroupState(), [CHAT], silenced, now=NOW)

    assert (plan.messages, plan.next_at, plan.state.episode) == ((), NOW + MINUTE, 0)


def test_an_announced_incident_that_is_silenced_keeps_the_episode() -> None:
    silenced = GroupSnapshot(held=1, held_until=NOW + 60 * MINUTE)

    plan = plan_group(begin(), [CHAT], silenced, now=NOW + MINUTE)

    assert plan.state.began_at == NOW
    assert plan.messages == ()


def test_ids_differ_by_everything_that_makes_a_message_another() -> None:
    groups = {
        derive_group_id(tenant, route, UUID(int=rule))
        for tenant in (1, 2)
        for route in ("", "a")
        for rule in (1, 2)
    }
    messages = {
        derive_notification_id(
            UUID(int=1),
            episode,
            PlannedMessage(step=0, kind=kind, sequence=sequence, channels=()),
            channel,
        )
        for episode in (1, 2)
        for kind in (MessageKind.OPENED, MessageKind.RESOLVED)
        for sequence in (1, 2)
        for channel in ("a", "b")
    }

    assert (len(groups), len(messages)) == (8, 16)
    assert derive_dedup_key(UUID(int=1), 1) != derive_dedup_key(UUID(int=1), 2)


STEPS = st.builds(
    RouteStep,
    channels=st.just(("chat",)),
    after=st.sampled_from([timedelta(0), 10 * MINUTE]),
    repeat=st.sampled_from([None, 20 * MINUTE]),
    unless_acknowledged=st.booleans(),
    severity=st.sampled_from(Severity),
    recovery=st.booleans(),
)


@given(
    st.lists(STEPS, min_size=1, max_size=3),
    st.lists(
        st.tuples(st.integers(1, 600), st.integers(0, 3), st.integers(0, 2), st.booleans()),
        max_size=40,
    ),
)
def test_news_is_never_told_twice_nor_too_often_and_never_forgotten(
    route: list[RouteStep], moves: list[tuple[int, int, int, bool]]
) -> None:
    """A model: open incidents come and go; what a plan announces is no news any more."""
    state, now = GroupState(), NOW
    firing = unannounced = ended = 0
    sent: list[datetime] = []
    for seconds, opens, ends, acknowledged in moves:
        now += timedelta(seconds=seconds)
        firing, unannounced = firing + opens, unannounced + opens
        closing = min(ends, firing - unannounced)
        firing, ended = firing - closing, ended + closing
        snapshot = GroupSnapshot(
            firing=firing,
            unannounced=unannounced,
            ended=ended,
            unacknowledged=0 if acknowledged else firing,
            repeating=0 if acknowledged else firing,
            severity=Severity.WARNING,
        )
        plan = plan_group(state, route, snapshot, now=now)
        if plan.announces:
            unannounced = ended = 0
        if unannounced or ended:
            assert plan.next_at is not None
            assert plan.next_at > now
        news = [each for each in plan.messages if each.kind is MessageKind.UPDATED]
        if news and sent:
            assert now - sent[-1] >= SECOND_MESSAGE_AFTER
        if plan.messages:
            sent.append(now)
        if firing == 0 and not ended:
            assert plan.state.began_at is None
        state = plan.state
