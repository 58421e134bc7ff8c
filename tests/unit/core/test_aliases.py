"""Words of other schedulers mean states and kinds of Rota's (E17, I1)."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest

from rota.api.schemas.field_types import Status, StatusAlias
from rota.api.schemas.runs import RunStatus
from rota.core.aliases import (
    CUSTOM_JOB_TYPE,
    JOB_STATUSES,
    JOB_TYPES,
    RUN_STATUSES,
    resolve_job_type,
    resolve_statuses,
)
from rota.core.errors import InvalidInput
from rota.core.states import JobState, RunState

PAGE = Path(__file__).parents[3] / "tools" / "reference" / "introduction.md"
JOB_WORDS = {*JobState, "pending", "running"}


def rows() -> list[list[str]]:
    """The lines of the tables of the page."""
    part = PAGE.read_text().partition("## Names from other schedulers")[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_word_that_is_accepted_means_states_that_there_are() -> None:
    for word in get_args(RunStatus):
        assert {RunState(each) for each in resolve_statuses([word], RUN_STATUSES)}
    for word in get_args(Status):
        assert set(resolve_statuses([word], JOB_STATUSES)) <= JOB_WORDS


def test_every_state_and_every_alias_is_accepted() -> None:
    assert {each.value for each in RunState} <= set(get_args(RunStatus))
    assert set(get_args(Status)) >= JOB_WORDS
    for aliases in (RUN_STATUSES, JOB_STATUSES):
        assert aliases.keys() <= {word.lower() for word in get_args(StatusAlias)}


def test_words_mean_their_states_in_any_case_and_once() -> None:
    assert resolve_statuses(["FAILED", "dead", "Failed"], RUN_STATUSES) == [
        "dead",
        "lost",
        "quarantined",
    ]
    assert resolve_statuses(["Completed", "SUCCESS"], RUN_STATUSES) == ["succeeded"]
    assert resolve_statuses(["SCHEDULED", "paused"], JOB_STATUSES) == ["paused", "pending"]


def test_the_page_has_the_same_table() -> None:
    said = {word: row[1:] for row in rows() for word in re.findall(r"`([A-Z_]+)`", row[0])}

    for word in {alias.upper() for alias in get_args(StatusAlias)}:
        job, run = said[word]
        assert set(re.findall(r"`(\w+)`", job)) == set(resolve_statuses([word], JOB_STATUSES))
        assert set(re.findall(r"`(\w+)`", run)) == set(resolve_statuses([word], RUN_STATUSES))
    for word, kind in JOB_TYPES.items():
        assert said[word] == [f"`{kind}`"]
    assert CUSTOM_JOB_TYPE in said


@pytest.mark.parametrize(
    ("job_type", "payload", "name", "kind"),
    [
        ("HTTP_REQUEST", None, None, "http"),
        ("DATABASE_QUERY", None, "x", "sql"),
        ("ETL_TASK", None, None, "etl"),
        ("NOTIFICATION", None, None, "notify"),
        ("DATA_SYNC", None, None, "sync"),
        ("CUSTOM", {"argv": ["/bin/true"]}, "x", "shell"),
        ("CUSTOM", {"day": 1}, "billing.report", "billing.report"),
        ("CUSTOM", None, "billing.report", "billing.report"),
        ("email", None, None, "email"),
        ("http_request", None, None, "http_request"),
    ],
)
def test_a_job_type_means_a_kind(job_type: str, payload: Any, name: Any, kind: str) -> None:
    assert resolve_job_type(job_type, payload=payload, name=name) == kind


def test_a_custom_job_without_a_program_and_a_name_is_refused_with_the_choices() -> None:
    with pytest.raises(InvalidInput, match=r"`argv` in the payload .* `name` or `kind`"):
        resolve_job_type("CUSTOM", payload={"day": 1})
