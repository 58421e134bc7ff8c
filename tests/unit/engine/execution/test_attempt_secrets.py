"""What an attempt says passes the veil, in pieces and from several streams (5.6)."""

import json

import pytest

from rota.core.errors import InvalidInput
from rota.core.executor import Stream
from rota.core.outcome import Failed, Failure, Succeeded
from rota.core.secret_masking import SecretMask
from rota.engine.execution.attempt_secrets import AttemptMask


@pytest.fixture
def veil() -> AttemptMask:
    return AttemptMask(SecretMask(["hunter2-and-more"]))


def test_streams_are_held_back_each_for_itself(veil: AttemptMask) -> None:
    said = [
        veil.mask_output(Stream.STDOUT, b"a hunter2-"),
        veil.mask_output(Stream.STDERR, b"b and-more\n"),
        veil.mask_output(Stream.STDOUT, b"and-more\n"),
    ]

    assert said == [b"a ", b"b and-more\n", b"***\n"]
    assert veil.flush_output() == []


@pytest.mark.parametrize(("last", "told"), [(b"a hunt", b"hunt"), (b"a hunter2-and", b"***")])
def test_what_is_left_at_the_end_is_told_unless_a_value_had_begun(
    veil: AttemptMask, last: bytes, told: bytes
) -> None:
    assert veil.mask_output(Stream.STDOUT, last) == b"a "

    assert veil.flush_output() == [(Stream.STDOUT, told)]
    assert veil.flush_output() == []


def test_an_ending_is_told_without_values_and_keeps_the_rest(veil: AttemptMask) -> None:
    failed = Failed(failure=Failure(type="E hunter2-and-more", message="m"), final=True)

    assert veil.mask_ending(failed, None) == (
        Failed(failure=Failure(type="E ***", message="m"), final=True),
        None,
    )
    assert veil.mask_ending(Succeeded(), '["hunter2-and-more",1]') == (Succeeded(), '["***",1]')


def test_a_result_that_is_too_deep_to_look_into_is_hidden_whole(veil: AttemptMask) -> None:
    deep = "[" * 800 + "]" * 800

    assert json.loads(veil.mask_json(deep) or "") == "***"


def test_what_must_stay_unchanged_is_refused_if_it_holds_a_value(veil: AttemptMask) -> None:
    veil.reject_secrets({"page": 7}, "checkpoint")

    with pytest.raises(InvalidInput) as caught:
        veil.reject_secrets({"page": ["hunter2-and-more"]}, "checkpoint")

    assert "hunter2" not in str(caught.value)
