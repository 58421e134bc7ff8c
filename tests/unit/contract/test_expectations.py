"""Documents of expectations: strict input, one stored form, lenient reading."""

from datetime import time, timedelta
from typing import Any
from uuid import UUID

import pytest

from rota.contract.documents import read_input
from rota.contract.expectation_values import (
    build_job_expectations,
    format_share,
    parse_share,
    read_stored_conditions,
    read_stored_policy,
    read_stored_selector,
    read_stored_steps,
    to_alert_policy,
    to_conditions,
    to_route_steps,
    to_rule_condition,
    write_alert,
    write_conditions,
    write_expect,
    write_policy,
    write_route_steps,
    write_selector,
)
from rota.contract.expectations import (
    AlertDraft,
    ExpectDraft,
    RouteStepDraft,
    RuleCondition,
    RuleDraft,
)
from rota.core.alerts.conditions import (
    AtRisk,
    DeadLetterCount,
    FailureRate,
    FailureStreak,
    FinishBy,
    FiringLag,
    MaxDuration,
    MissedTickCount,
    NoWorker,
    OldestWait,
    StartWithin,
    SubjectSelector,
    SucceedEvery,
)
from rota.core.alerts.finding import AlertPolicy, Severity
from rota.core.alerts.routes import RouteStep
from rota.core.errors import InvalidInput

HOUR = timedelta(hours=1)
DOCUMENTS: list[tuple[dict[str, Any], Any]] = [
    ({"start_within": "5m"}, StartWithin(within=timedelta(minutes=5))),
    ({"finish_by": "06:00"}, FinishBy(time_of_day=time(6))),
    ({"finish_by": "23:59:30"}, FinishBy(time_of_day=time(23, 59, 30))),
    ({"finish_by": "+3h30m"}, FinishBy(after=timedelta(hours=3, minutes=30))),
    ({"at_risk": True}, AtRisk()),
    ({"at_risk": {"probability": "5%"}}, AtRisk(probability=0.05)),
    ({"succeed_every": "26h"}, SucceedEvery(every=26 * HOUR)),
    ({"max_duration": "40m"}, MaxDuration(limit=timedelta(minutes=40))),
    ({"max_duration": {"times": 2}}, MaxDuration(times=2)),
    (
        {"max_duration": {"times": 1.5, "at_least": "5m"}},
        MaxDuration(times=1.5, at_least=timedelta(minutes=5)),
    ),
    ({"failures": {"streak": 2}}, FailureStreak(streak=2)),
    ({"failures": {"rate": 0.1}}, FailureRate(rate=0.1, over=HOUR)),
    (
        {"failures": {"rate": "2.5%", "over": "2h", "at_least": 5}},
        FailureRate(rate=0.025, over=2 * HOUR, at_least=5),
    ),
    ({"dead_letters": 3}, DeadLetterCount(count=3)),
    ({"dead_letters": {"over": "1d"}}, DeadLetterCount(count=1, over=timedelta(days=1))),
    ({"missed_ticks": 1}, MissedTickCount(count=1)),
    ({"no_worker": "2m"}, NoWorker(within=timedelta(minutes=2))),
    ({"oldest_wait": "10m"}, OldestWait(limit=timedelta(minutes=10))),
    ({"lag": "10s"}, FiringLag(limit=timedelta(seconds=10))),
]


@pytest.mark.parametrize(("document", "condition"), DOCUMENTS)
def test_a_condition_is_read_and_its_stored_form_reads_back_as_the_same(
    document: dict[str, Any], condition: Any
) -> None:
    found = to_rule_condition(read_input(RuleCondition, document))
    stored = write_conditions([found])

    assert found == condition
    assert read_stored_conditions(stored) == (condition,)
    # The stored form is valid input, and its own stored form.
    assert write_conditions(to_conditions(read_input(RuleCondition, stored))) == stored


def test_a_streak_and_a_rate_share_one_field() -> None:
    draft = read_input(ExpectDraft, {"failures": {"streak": 2, "rate": "10%"}})

    assert [condition.code for condition in to_conditions(draft)] == [
        "failure_streak",
        "failure_rate",
    ]
    assert write_expect(draft) == {
        "failures": {"streak": 2, "rate": "10%", "over": "PT1H", "at_least": 20}
    }


def test_nothing_expected_is_stored_as_null() -> None:
    assert write_expect(read_input(ExpectDraft, {})) is None
    assert write_expect(read_input(ExpectDraft, {"at_risk": False})) is None
    assert write_alert(read_input(AlertDraft, {"severity": "warning", "clear": 1})) is None


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"start_within": "0s"}, "expect.start_within"),
        ({"start_within": "400d"}, "expect.start_within"),
        ({"finish_by": "24:00"}, "expect.finish_by"),
        ({"finish_by": "6:00"}, "expect.finish_by"),
        ({"at_risk": {"probability": 1.0}}, "expect.at_risk.probability"),
        ({"failures": {"rate": "101%"}}, "expect.failures.rate"),
        ({"failures": {"rate": "10%", "over": "31d"}}, "expect.failures.over"),
        ({"dead_letters": {"over": "0s"}}, "expect.dead_letters.over"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_its_path(
    document: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        write_expect(read_input(ExpectDraft, document))

    assert caught.value.field == field


@pytest.mark.parametrize(
    ("value", "share"),
    [("10%", 0.1), (0.1, 0.1), ("0.5 %", 0.005), (1, 1.0), ("33.3333%", 0.333333)],
)
def test_a_share_is_a_percentage_or_a_number(value: Any, share: float) -> None:
    assert parse_share(value, "x") == pytest.approx(share)
    assert parse_share(format_share(share), "x") == pytest.approx(share)


def test_an_unknown_condition_of_a_newer_release_is_ignored() -> None:
    found = read_stored_conditions({"missed_ticks": 1, "quantum": {"level": 3}})

    assert found == (MissedTickCount(count=1),)


def test_a_policy_reads_back_as_the_same() -> None:
    document = {"to": "team", "severity": "page", "for": "2m", "clear": 2, "recovery": False}
    policy = to_alert_policy(read_input(AlertDraft, document))

    assert policy == AlertPolicy(
        severity=Severity.PAGE,
        route="team",
        hold_for=timedelta(minutes=2),
        clear_successes=2,
        recovery=False,
    )
    assert read_stored_policy(write_policy(policy)) == policy
    assert read_stored_policy(None) == AlertPolicy()
    assert read_stored_policy({"severity": "apocalypse"}).severity is Severity.WARNING


def test_a_selector_and_a_route_read_back_as_the_same() -> None:
    selector = SubjectSelector(job="n*", labels={"team": "billing"})
    step = RouteStep(
        channels=("chat", "mail"),
        after=timedelta(minutes=30),
        repeat=4 * HOUR,
        unless_acknowledged=True,
        severity=Severity.PAGE,
        recovery=False,
    )

    assert read_stored_selector(write_selector(selector)) == selector
    assert read_stored_steps(write_route_steps([step])) == (step,)
    assert write_route_steps([RouteStep(channels=("chat",))]) == [{"to": ["chat"]}]


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"to": ["chat"], "repeat": "10s"}, "steps[0].repeat"),
        ({"to": ["chat"], "after": "31d"}, "steps[0].after"),
        ({"to": ["ch\u202eat"]}, "steps[0].to"),
    ],
)
def test_a_step_of_a_route_is_checked(document: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        to_route_steps([read_input(RouteStepDraft, document)])

    assert caught.value.field == field


def test_an_expectation_of_a_job_keeps_its_id_when_its_value_changes() -> None:
    job_id = UUID(int=7)

    def build(expect: dict[str, Any], name: str = "nightly") -> Any:
        return build_job_expectations(
            job_id=job_id, tenant_id=1, job_name=name, expect=expect, alert={"to": "chat"}
        )[0]

    first, second = build({"missed_ticks": 1}), build({"missed_ticks": 5}, "renamed")

    assert first.id == second.id
    assert (first.name, first.policy.route) == ("nightly: missed_ticks", "chat")


def test_a_rule_has_the_fields_of_an_alert() -> None:
    draft = read_input(
        RuleDraft, {"name": "r", "when": {"dead_letters": 1}, "for": "2m", "severity": "info"}
    )

    assert to_alert_policy(draft).hold_for == timedelta(minutes=2)
