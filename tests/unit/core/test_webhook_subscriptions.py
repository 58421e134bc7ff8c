"""Which events an endpoint gets, and what the relay must read for it (I7)."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from rota.core.errors import InvalidInput
from rota.core.outgoing_events import EVENT_TYPES, OutgoingEvent, RelayInterests
from rota.core.webhook_subscriptions import (
    WebhookEventFilter,
    WebhookSubscription,
    check_patterns,
    collect_interests,
    describe_load,
    expand_patterns,
)

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
ENDPOINT = UUID(int=7)


def subscribe(*events: str, tenant_id: int = 1, **conditions: Any) -> WebhookSubscription:
    return WebhookSubscription(
        endpoint_id=ENDPOINT,
        tenant_id=tenant_id,
        types=expand_patterns(events),
        event_filter=WebhookEventFilter(**conditions),
        include=(),
        created_at=NOW,
    )


def event(type_: str = "run.failed", **given: Any) -> OutgoingEvent:
    values: dict[str, Any] = {
        "id": UUID(int=1),
        "type": type_,
        "tenant_id": 1,
        "at": NOW,
        "job_name": "nightly report",
        "task": "reports.nightly",
        "queue": "slow",
        "labels": {"team": "billing", "app": "shop"},
    }
    return OutgoingEvent(**values | given)


@pytest.mark.parametrize(
    ("patterns", "size"),
    [
        (["*"], len(EVENT_TYPES)),
        (["run.failed"], 1),
        (["run.*", "run.failed"], 7),
        (["*.failed"], 3),
    ],
)
def test_a_pattern_stands_for_the_types_it_matches(patterns: list[str], size: int) -> None:
    assert len(expand_patterns(patterns)) == size


@pytest.mark.parametrize(
    "pattern", ["run.faild", "Run.failed", "run", "run.?ailed", "webhook.test"]
)
def test_a_pattern_that_matches_no_type_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidInput, match=r"events\[1\].*unknown event type"):
        check_patterns(["run.failed", pattern])


def test_a_refusal_names_near_types() -> None:
    with pytest.raises(InvalidInput, match=r"did you mean run\.failed"):
        check_patterns(["run.faild"])


@pytest.mark.parametrize(
    ("conditions", "matches"),
    [
        ({}, True),
        ({"job": "nightly report"}, True),
        ({"job": "nightly *"}, True),
        ({"job": "*"}, True),
        ({"job": "nightly"}, False),
        ({"job": "Nightly *"}, False),
        ({"job": "nightly.report"}, False),
        ({"task": "reports.*"}, True),
        ({"queue": "fast"}, False),
        ({"labels": {"team": "billing"}}, True),
        ({"labels": {"team": "billing", "app": "other"}}, False),
        ({"labels": {"missing": "x"}}, False),
        ({"severity": "page"}, True),
    ],
)
def test_all_conditions_of_a_filter_must_hold(conditions: dict[str, Any], matches: bool) -> None:
    assert subscribe("run.*", **conditions).matches(event()) is matches


def test_a_job_filter_does_not_match_an_event_without_a_job() -> None:
    assert not subscribe("*", job="*").matches(event("endpoint.failing", job_name=None))


@pytest.mark.parametrize(
    ("found", "matches"), [("info", False), ("warning", True), ("page", True), (None, False)]
)
def test_a_severity_is_the_lowest_of_incident_events(found: str | None, matches: bool) -> None:
    opened = event("incident.opened", details={"severity": found})

    assert subscribe("incident.*", severity="warning").matches(opened) is matches


def test_an_endpoint_gets_nothing_from_before_it_nor_of_others_nor_about_itself() -> None:
    subscription = subscribe("*")

    assert not subscription.matches(event(at=NOW - timedelta(microseconds=1)))
    assert not subscription.matches(event(tenant_id=2))
    about = f"whe_{ENDPOINT.hex}"
    assert not subscription.matches(event("endpoint.failing", details={"thing_id": about}))
    assert subscription.matches(event("endpoint.failing", details={"thing_id": "whe_other"}))


def test_without_subscriptions_the_relay_reads_nothing_more() -> None:
    assert collect_interests([], {}) == RelayInterests()
    assert collect_interests([subscribe("run.failed", "graph.failed")], {}) == RelayInterests()


def test_the_relay_reads_only_what_is_subscribed() -> None:
    job_id = UUID(int=5)
    interests = collect_interests(
        [
            subscribe("run.succeeded", tenant_id=1),
            subscribe("run.succeeded", tenant_id=2, job="report"),
            subscribe("attempt.failed", tenant_id=3),
            subscribe("job.*", tenant_id=4),
            subscribe("endpoint.disabled", tenant_id=5),
            subscribe("incident.*", tenant_id=6),
            subscribe("backfill.ended", tenant_id=7),
            subscribe("graph.*", tenant_id=8, job="unknown"),
        ],
        {(2, "report"): {job_id}},
    )

    assert interests == RelayInterests(
        succeeded_tenants=frozenset({1, 8}),
        succeeded_jobs=frozenset({job_id}),
        attempt_tenants=frozenset({3}),
        audit_tenants=frozenset({4, 5, 7}),
        incident_tenants=frozenset({6}),
    )


def test_only_a_subscription_to_all_successes_is_a_load() -> None:
    every = expand_patterns(["run.*"])

    assert describe_load(every, WebhookEventFilter()) is not None
    assert describe_load(every, WebhookEventFilter(severity="page")) is not None
    assert describe_load(every, WebhookEventFilter(job="a*")) is None
    assert describe_load(expand_patterns(["run.failed"]), WebhookEventFilter()) is None
