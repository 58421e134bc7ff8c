"""What is tried again, when, and what never is. Proves a part of I3."""

from random import Random
from types import NoneType
from typing import Any, Literal

import pytest

from rota.sdk.client.errors import ApiError, Unreachable
from rota.sdk.client.requests import ApiRequest, Repeat
from rota.sdk.client.retry_policy import RETRY_AFTER_MAX_S, CallRetries

REFUSED = Unreachable(url="http://there", reason="connection refused")
CUT = Unreachable(url="http://there", reason="connection reset", may_have_happened=True)


def patience(retries: int = 4) -> CallRetries:
    return CallRetries(retries=retries, rng=Random(7))


def request(
    method: Literal["GET", "POST", "DELETE", "PUT"] = "GET", repeat: Repeat = "freely", **given: Any
) -> ApiRequest[None]:
    return ApiRequest(method=method, path="/x", response_type=NoneType, repeat=repeat, **given)


def answer(status: int, **given: Any) -> ApiError:
    return ApiError(status=status, **given)


def test_pauses_grow_and_end_with_the_retries() -> None:
    waiting = patience(retries=3)

    pauses = [waiting.next_pause(request(), REFUSED) for _ in range(4)]

    assert pauses[3] is None
    for pause, longest in zip(pauses[:3], (0.2, 0.4, 0.8), strict=True):
        assert pause is not None
        assert 0.1 <= pause <= longest


def test_what_came_in_between_makes_the_next_failure_the_first() -> None:
    waiting = patience(retries=1)
    assert waiting.next_pause(request(), CUT) is not None

    waiting.reset()

    assert waiting.next_pause(request(), CUT) is not None


def test_nothing_is_tried_again_without_retries() -> None:
    assert patience(retries=0).next_pause(request(), REFUSED) is None


def test_who_is_told_to_wait_waits_at_least_that_long() -> None:
    pause = patience().next_pause(request(), answer(503, retry_after=7.0))

    assert pause is not None
    assert 7.0 < pause < 8.0


def test_nobody_waits_for_ever_because_a_server_says_so() -> None:
    assert patience().next_pause(request(), answer(503, retry_after=RETRY_AFTER_MAX_S + 1)) is None


@pytest.mark.parametrize("status", [502, 503, 504])
def test_what_passes_is_tried_again(status: int) -> None:
    assert patience().next_pause(request(), answer(status)) is not None


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 409, 412, 422, 500])
def test_what_does_not_pass_is_not(status: int) -> None:
    assert patience().next_pause(request(), answer(status)) is None


def test_a_quota_that_waiting_does_not_lift_is_told_at_once() -> None:
    assert patience().next_pause(request(), answer(429, code="quota_exceeded")) is None
    assert patience().next_pause(request(), answer(429, retry_after=1.0)) is not None


def test_the_same_request_that_is_still_under_way_is_waited_for() -> None:
    busy = answer(409, code="idempotency_in_progress", retry_after=1.0)

    assert patience().next_pause(request("POST", "by_key"), busy) is not None


def test_what_nobody_could_tell_from_a_second_one_is_not_sent_twice() -> None:
    asked = request("POST", "never")

    assert patience().next_pause(asked, CUT) is None
    assert patience().next_pause(asked, answer(503)) is None
    assert patience().next_pause(asked, REFUSED) is not None
    assert patience().next_pause(asked, answer(429, retry_after=1.0)) is not None


def test_a_change_of_a_version_is_not_repeated_in_doubt() -> None:
    asked = request("PUT", if_match=3)

    assert patience().next_pause(asked, CUT) is None
    assert patience().next_pause(asked, REFUSED) is not None


def test_what_is_gone_after_a_lost_answer_was_deleted_by_us() -> None:
    gone = answer(404, code="not_found")
    waiting = patience()
    assert not waiting.is_already_deleted(request("DELETE"), gone)

    waiting.next_pause(request("DELETE"), CUT)

    assert waiting.is_already_deleted(request("DELETE"), gone)
    assert not waiting.is_already_deleted(request("GET"), gone)
