"""How a policy is written and read (E8)."""

import json

import pytest

from rota.core.errors import InvalidInput
from rota.core.policy import USUAL, Policy, from_plain, to_plain


def test_what_jobs_said_before_there_were_targets_is_still_the_same_text() -> None:
    assert json.dumps(to_plain(USUAL), sort_keys=True) == (
        '{"deadline": "none", "grace": "PT10S", "guarantee": "at_least_once", "retries": {"base": '
        '"PT1S", "cap": "PT1H", "delays": [], "jitter": "full", "kind": "exponential", "max": 3}, '
        '"timeout": "PT15M"}'
    )


@pytest.mark.parametrize("target", ["payments", "example.org:443", "connection:shop", "a/b_c-d.e"])
def test_a_target_is_kept_as_it_was_said(target: str) -> None:
    assert from_plain(to_plain(Policy(target=target))).target == target


@pytest.mark.parametrize("said", [None, "none"])
def test_no_target_can_be_said_too(said: str | None) -> None:
    assert from_plain({"target": said}) == USUAL


@pytest.mark.parametrize("said", ["", " a", "two words", "-a", "a\n", "ä", "a" * 254, 7, ["a"], {}])
def test_a_target_that_is_no_name_is_refused(said: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        from_plain({"target": said})

    assert refused.value.field == "target"
