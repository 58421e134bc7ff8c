"""The codes of problems: one set for alerts, explanations and the list of problems."""

from datetime import UTC, datetime
from typing import get_args

from rota.core.alerts.conditions import Condition
from rota.core.alerts.finding import Severity
from rota.core.problem_codes import (
    PROBLEM_CODES,
    ProblemSubject,
    build_problem,
    fill_names,
    find_problem_code,
    rank_problem,
)
from rota.engine.alerting.ping_checker import PING_CONDITION
from rota.engine.alerting.state_checker import STATE_CODES
from rota.engine.observability.problems import INCIDENT_SYNONYMS

SUBJECT = ProblemSubject(kind="queue", id="mail", name="mail")
NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def test_every_condition_of_an_alert_is_a_code() -> None:
    conditions = {condition.code for condition in get_args(Condition)}

    assert conditions | STATE_CODES | {PING_CONDITION} <= PROBLEM_CODES.keys()
    assert {code for codes in INCIDENT_SYNONYMS.values() for code in codes} <= PROBLEM_CODES.keys()


def test_meanings_and_remedies_are_sentences() -> None:
    for code, known in PROBLEM_CODES.items():
        for text in (known.meaning, known.remedy):
            assert text[0].isupper(), code
            assert text.endswith("."), code


def test_a_name_is_filled_in_once_and_its_braces_stay() -> None:
    assert fill_names("Resume {queue}.", {"queue": "a{b}"}) == "Resume a{b}."
    assert fill_names("Resume {queue}.", {}) == "Resume QUEUE."


def test_the_code_of_a_newer_version_has_a_default() -> None:
    problem = build_problem("from the future", "It is wrong.", SUBJECT)

    assert find_problem_code("from the future").remedy == problem.remedy
    assert problem.severity is Severity.WARNING


def test_the_most_severe_comes_first_and_then_the_oldest() -> None:
    info = build_problem("in_order", "i", SUBJECT)
    old = build_problem("queue_paused", "o", SUBJECT, since=NOON)
    new = build_problem("queue_paused", "n", SUBJECT, since=NOON.replace(hour=13))
    page = build_problem("no_scheduler", "p", SUBJECT, since=NOON.replace(hour=14))

    assert sorted([info, new, old, page], key=rank_problem) == [page, old, new, info]
