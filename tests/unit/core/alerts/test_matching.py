"""Which subjects a rule applies to."""

import fnmatch
import re
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.alerts.conditions import (
    Condition,
    Expectation,
    FailureStreak,
    FiringLag,
    NoWorker,
    StartWithin,
    SubjectSelector,
)
from rota.core.alerts.finding import SubjectKind
from rota.core.alerts.matching import (
    SubjectTraits,
    choose_subject_kind,
    list_effective,
    matches_pattern,
    matches_selector,
)

STREAK = FailureStreak(streak=2)
JOB = SubjectTraits(
    job="nightly report", task="report", queue="slow", labels={"team": "billing", "tier": "1"}
)
STEP = SubjectTraits(job="etl", step="load", task="copy", queue="slow", labels={})


@pytest.mark.parametrize(
    ("selector", "traits", "expected"),
    [
        (SubjectSelector(), JOB, True),
        (SubjectSelector(), STEP, False),
        (SubjectSelector(job="nightly*"), JOB, True),
        (SubjectSelector(job="nightly"), JOB, False),
        (SubjectSelector(job="*report", queue="slow", task="rep*"), JOB, True),
        (SubjectSelector(job="*report", queue="fast"), JOB, False),
        (SubjectSelector(labels={"team": "billing"}), JOB, True),
        (SubjectSelector(labels={"team": "billing", "tier": "2"}), JOB, False),
        (SubjectSelector(job="etl", step="*"), STEP, True),
        (SubjectSelector(step="extract"), STEP, False),
        (SubjectSelector(step="*"), JOB, False),
        (SubjectSelector(job="[n]ightly report"), JOB, False),
    ],
)
def test_all_given_fields_must_match(
    selector: SubjectSelector, traits: SubjectTraits, *, expected: bool
) -> None:
    assert matches_selector(selector, traits) is expected


@given(pattern=st.text("ab*", max_size=8), text=st.text("ab", max_size=10))
def test_a_pattern_matches_as_a_shell_pattern_does(pattern: str, text: str) -> None:
    known = re.fullmatch(fnmatch.translate(pattern), text) is not None

    assert matches_pattern(pattern, text) is known


def test_a_hostile_pattern_takes_linear_time() -> None:
    assert not matches_pattern("*a" * 100 + "b", "a" * 200_000)


@pytest.mark.parametrize(
    ("condition", "selector", "kind"),
    [
        (STREAK, SubjectSelector(), SubjectKind.JOB),
        (STREAK, SubjectSelector(task="send*"), SubjectKind.TASK),
        (STREAK, SubjectSelector(queue="slow"), SubjectKind.QUEUE),
        (STREAK, SubjectSelector(queue="slow", labels={"a": "b"}), SubjectKind.JOB),
        (STREAK, SubjectSelector(job="etl", step="load"), SubjectKind.STEP),
        (StartWithin(within=timedelta(minutes=5)), SubjectSelector(queue="q"), SubjectKind.JOB),
        (NoWorker(), SubjectSelector(), SubjectKind.QUEUE),
        (FiringLag(), SubjectSelector(), SubjectKind.PLATFORM),
    ],
)
def test_a_rule_is_about_what_its_condition_and_selector_say(
    condition: Condition, selector: SubjectSelector, kind: SubjectKind
) -> None:
    assert choose_subject_kind(condition, selector) is kind


def build_rule(name: str, *, is_default: bool = False, is_enabled: bool = True) -> Expectation:
    return Expectation(
        id=uuid4(),
        tenant_id=1,
        name=name,
        condition=STREAK,
        is_default=is_default,
        is_enabled=is_enabled,
    )


def test_a_default_gives_way_to_every_other_expectation_with_its_condition() -> None:
    default, rule = build_rule("default", is_default=True), build_rule("rule")
    off = build_rule("off", is_enabled=False)

    alone = list_effective(JOB, [default, off])
    with_rule = list_effective(JOB, [default, rule])
    with_own = list_effective(JOB, [default], own=[build_rule("own")])

    assert [each.name for each in alone] == ["default"]
    assert [each.name for each in with_rule] == ["rule"]
    assert [each.name for each in with_own] == ["own"]
