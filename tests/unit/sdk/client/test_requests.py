"""Calls in the spelling of the API. Proves a part of I3."""

from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import msgspec
import pytest
from msgspec import UNSET

from rota.core.errors import InvalidInput
from rota.core.time import durations, moments
from rota.sdk.client.client_base import add_idempotency_key
from rota.sdk.client.generated.schemas import LimitDraft, RateDraft, UniqueDraft
from rota.sdk.client.requests import ApiRequest

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


def request(**given: Any) -> ApiRequest[dict[str, Any]]:
    usual: dict[str, Any] = {"method": "POST", "path": "/x", "response_type": dict}
    return ApiRequest(**usual | given)


def sent(**body: Any) -> Any:
    content = request(body=body).content()
    assert content is not None
    return msgspec.json.decode(content)


def asked(**query: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(request(query=query).target).query)


def test_what_was_not_given_is_not_sent_and_null_is() -> None:
    assert sent(name="a", kind=UNSET, user_id=None) == {"name": "a", "user_id": None}


def test_a_body_that_may_be_left_out_is_left_out_when_nothing_was_given() -> None:
    nothing = {"reason": UNSET}

    assert request(body=nothing, body_required=False).content() is None
    assert request(body=nothing).content() == b"{}"
    assert request().content() is None


def test_times_and_durations_are_read_by_the_api_as_they_were_meant() -> None:
    length = timedelta(days=1, minutes=15, microseconds=500)

    body = sent(schedule_time=NOON, timeout=length)

    assert moments.parse(body["schedule_time"]) == NOON
    assert durations.parse(body["timeout"]) == length


def test_shapes_are_sent_with_what_was_said_in_them() -> None:
    limit = LimitDraft(key="mail", rate=RateDraft(count=5, per=timedelta(minutes=1)))
    unique = UniqueDraft(key="{args.id}", held_while="queued")

    assert sent(limits=[limit], unique=unique) == {
        "limits": [{"key": "mail", "rate": {"count": 5, "per": "PT60S"}}],
        "unique": {"key": "{args.id}", "while": "queued"},
    }


def test_a_payload_may_be_what_python_has_for_json() -> None:
    id_ = UUID(int=1)

    body = sent(payload=MappingProxyType({"id": id_, "at": NOON, "range": range(2)}))

    assert body["payload"] == {"id": str(id_), "at": "2026-07-01T12:00:00Z", "range": [0, 1]}


def test_what_is_no_json_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidInput, match="expected values that JSON can represent"):
        sent(payload=object())


def test_a_list_is_a_parameter_that_is_given_several_times() -> None:
    assert asked(status=["dead", "lost"], kind=None) == {"status": ["dead", "lost"]}
    assert asked(status="dead", with_dead=True) == {"status": ["dead"], "with_dead": ["true"]}
    assert moments.parse(asked(created_after=NOON)["created_after"][0]) == NOON


def test_a_name_in_a_path_stays_one_name() -> None:
    target = request(path="/v1/jobs/by-name/{}", path_arguments=("50% of a/b?",)).target

    assert target == "/v1/jobs/by-name/50%25%20of%20a%2Fb%3F"


@pytest.mark.parametrize("place", ["", ".", ".."])
def test_a_place_in_a_path_cannot_lead_elsewhere(place: str) -> None:
    with pytest.raises(InvalidInput, match="an id or a name"):
        _ = request(path="/v1/jobs/{}", path_arguments=(place,)).target


def test_every_call_has_a_key_of_its_own_and_keeps_the_one_it_was_given() -> None:
    first, second = (
        add_idempotency_key(request(repeat="by_key")).idempotency_key for _ in range(2)
    )

    assert first
    assert first != second
    assert (
        add_idempotency_key(request(repeat="by_key", idempotency_key="mine")).idempotency_key
        == "mine"
    )
    assert add_idempotency_key(request()).idempotency_key is None


def test_a_key_that_would_be_two_headers_is_refused() -> None:
    with pytest.raises(InvalidInput, match="idempotency_key"):
        add_idempotency_key(request(idempotency_key="a\r\nb: c"))
