"""How a policy is written and read (E8)."""

import json
from typing import Any, cast

import pytest

from rota.contract.job import JobEdit
from rota.contract.policy import change_policy, read_policy, read_stored_policy, write_policy
from rota.contract.retries import RetriesDraft
from rota.core.errors import InvalidInput
from rota.core.policy import DEFAULT_POLICY, Policy
from rota.core.submissions import encode_canonical

EXPONENTIAL = (
    '"retries":{"base":"PT1S","cap":"PT1H","delays":[],"jitter":"full",'
    '"kind":"exponential","max":3}'
)
# As releases before the contract wrote them: policies are interned by this text.
STORED: list[tuple[dict[str, Any], str]] = [
    (
        {},
        (
            f'{{"deadline":"none","grace":"PT10S","guarantee":"at_least_once",{EXPONENTIAL},'
            '"timeout":"PT15M"}'
        ),
    ),
    (
        {"timeout": "none", "target": "example.org:443"},
        (
            f'{{"deadline":"none","grace":"PT10S","guarantee":"at_least_once",{EXPONENTIAL},'
            '"target":"example.org:443","timeout":"none"}'
        ),
    ),
    (
        {"timeout": "5m", "deadline": "1d", "grace": "0s", "guarantee": "at_most_once"},
        (
            f'{{"deadline":"P1D","grace":"PT0S","guarantee":"at_most_once",{EXPONENTIAL},'
            '"timeout":"PT5M"}'
        ),
    ),
    (
        {"retries": {"max": 2, "kind": "list", "delays": ["1s", "2m30s"], "jitter": "none"}},
        (
            '{"deadline":"none","grace":"PT10S","guarantee":"at_least_once","retries":{"base":"PT1S",'
            '"cap":"PT1H","delays":["PT1S","PT2M30S"],"jitter":"none","kind":"list","max":2},'
            '"timeout":"PT15M"}'
        ),
    ),
    (
        {
            "retries": {"base": "1500ms", "cap": "1h30m", "kind": "linear", "jitter": "equal"},
            "guarantee": "exactly_once",
        },
        (
            '{"deadline":"none","grace":"PT10S","guarantee":"exactly_once","retries":{"base":"PT1.5S",'
            '"cap":"PT1H30M","delays":[],"jitter":"equal","kind":"linear","max":3},"timeout":"PT15M"}'
        ),
    ),
]


@pytest.mark.parametrize(("said", "text"), STORED, ids=str)
def test_the_stored_text_of_a_policy_is_that_of_earlier_releases(
    said: dict[str, Any], text: str
) -> None:
    policy = read_policy(said)

    assert encode_canonical(write_policy(policy)) == text
    assert read_stored_policy(json.loads(text)) == policy


@pytest.mark.parametrize(
    ("retries", "stored"),
    [(5, {"max": 5, "moon": True}), (RetriesDraft(max=5), {"max": 5})],
    ids=["a number", "an object"],
)
def test_a_change_of_the_retries_keeps_what_only_newer_code_knows_unless_it_replaces_them(
    retries: Any, stored: dict[str, Any]
) -> None:
    before = read_stored_policy({"retries": {"max": 2, "moon": True}, "colour": "blue"})

    after = write_policy(change_policy(before, JobEdit(retries=retries)))

    assert after["colour"] == "blue"
    assert stored.items() <= cast("dict[str, Any]", after["retries"]).items()
    assert ("moon" in cast("dict[str, Any]", after["retries"])) is ("moon" in stored)


@pytest.mark.parametrize("target", ["payments", "example.org:443", "connection:shop", "a/b_c-d.e"])
def test_a_target_is_kept_as_it_was_said(target: str) -> None:
    assert read_policy(write_policy(Policy(target=target))).target == target


@pytest.mark.parametrize("said", [None, "none"])
def test_no_target_can_be_said_too(said: str | None) -> None:
    assert read_policy({"target": said}) == DEFAULT_POLICY


@pytest.mark.parametrize("said", ["", " a", "two words", "-a", "a\n", "ä", "a" * 254, 7, ["a"], {}])
def test_a_target_that_is_no_name_is_refused(said: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        read_policy({"target": said})

    assert refused.value.field == "target"
