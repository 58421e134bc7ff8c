"""Which silence holds back the messages about a subject."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from rota.core.alerts.conditions import SubjectSelector
from rota.core.alerts.finding import AlertSubject, SubjectKind
from rota.core.alerts.silencing import ActiveSilence, choose_silence

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
JOB = AlertSubject(
    kind=SubjectKind.JOB,
    id="1",
    name="nightly report",
    queue="slow",
    task="report",
    labels={"app": "shop", "team": "billing"},
)
STEP = AlertSubject(kind=SubjectKind.STEP, id="1/load", name="nightly report / load")
QUEUE = AlertSubject(kind=SubjectKind.QUEUE, id="slow", name="slow")
TASK = AlertSubject(kind=SubjectKind.TASK, id="send_mail", name="send_mail")


def build_silence(number: int = 1, minutes: int = 10, **match: object) -> ActiveSilence:
    return ActiveSilence(
        id=UUID(int=number),
        tenant_id=1,
        selector=SubjectSelector(**match),  # type: ignore[arg-type]
        until=NOW + timedelta(minutes=minutes),
    )


@pytest.mark.parametrize(
    ("subject", "match", "is_silenced"),
    [
        (JOB, {}, True),
        (JOB, {"job": "nightly*"}, True),
        (JOB, {"job": "daily*"}, False),
        (JOB, {"labels": {"app": "shop"}}, True),
        (JOB, {"labels": {"app": "shop", "team": "sales"}}, False),
        (JOB, {"queue": "slow", "task": "rep*"}, True),
        (JOB, {"step": "load"}, False),
        (STEP, {"job": "nightly report"}, True),
        (STEP, {"step": "load"}, True),
        (STEP, {"step": "extract"}, False),
        (QUEUE, {"queue": "slow"}, True),
        (QUEUE, {"job": "*"}, False),
        (TASK, {"task": "send_*"}, True),
    ],
)
def test_a_silence_matches_by_name_queue_task_and_labels(
    subject: AlertSubject, match: dict[str, Any], is_silenced: bool
) -> None:
    found = choose_silence([build_silence(**match)], 1, subject)

    assert (found is not None) is is_silenced


def test_the_longest_silence_counts_and_other_tenants_do_not() -> None:
    silences = [build_silence(1), build_silence(2, minutes=20)]

    longest = choose_silence(silences, 1, JOB)

    assert longest is not None
    assert longest.id == UUID(int=2)
    assert choose_silence(silences, 2, JOB) is None
