"""Signed requests: what is right passes, and nothing else (S10 of the security tests)."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.core import signatures
from rota.core.errors import InvalidInput, InvalidSignature
from rota.core.signatures import build_headers, format_secret, parse_secret, verify_request

NOW = datetime(2030, 1, 1, 9, tzinfo=UTC)
KEY, OLDER = bytes(range(32)), bytes(range(32, 64))
BODY = b'{"type":"invoice.paid"}'
HEADERS = build_headers(BODY, [KEY], id="run-1", at=NOW)


def refusal(headers: dict[str, str], body: bytes = BODY, now: datetime = NOW) -> InvalidSignature:
    with pytest.raises(InvalidSignature) as raised:
        verify_request(headers, body, [KEY], now=now)
    return raised.value


def test_the_example_of_standard_webhooks_has_the_signature_that_is_published() -> None:
    key = parse_secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    at = datetime.fromtimestamp(1614265330, UTC)

    headers = build_headers(
        b'{"test": 2432232314}', [key], id="msg_p5jXN8AQM9LWM0D4loKWxJek", at=at
    )

    assert headers == {
        "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "webhook-timestamp": "1614265330",
        "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    }


def test_what_was_signed_is_verified_however_its_headers_are_spelt() -> None:
    spelt = {name.title(): value for name, value in HEADERS.items()}

    received = verify_request(spelt, BODY, [KEY], now=NOW)

    assert (received.id, received.sent_at) == ("run-1", NOW)
    assert received.json() == {"type": "invoice.paid"}


@pytest.mark.parametrize(
    "changed",
    [
        {"webhook-id": "run-2"},
        {"webhook-timestamp": str(int(NOW.timestamp()) + 1)},
        {"webhook-signature": "v1," + b64encode(bytes(32)).decode()},
        {"webhook-signature": HEADERS["webhook-signature"].replace("v1,", "v2,")},
        {"webhook-signature": HEADERS["webhook-signature"].removeprefix("v1,")},
        {"webhook-signature": "ü"},
    ],
)
def test_whatever_is_changed_is_noticed(changed: dict[str, str]) -> None:
    assert refusal(HEADERS | changed).field == "webhook-signature"


def test_another_body_or_secret_is_refused() -> None:
    assert refusal(HEADERS, BODY + b" ").field == "webhook-signature"
    assert refusal(build_headers(BODY, [OLDER], id="run-1", at=NOW)).field == "webhook-signature"


@pytest.mark.parametrize("missing", HEADERS)
def test_a_header_that_is_missing_is_named(missing: str) -> None:
    left = {name: value for name, value in HEADERS.items() if name != missing}

    assert refusal(left).field == missing
    assert refusal(HEADERS | {missing: ""}).field == missing


@pytest.mark.parametrize(
    "late", [timedelta(minutes=5, seconds=1), -timedelta(minutes=5, seconds=1)]
)
def test_what_was_sent_long_ago_or_in_the_future_is_refused(late: timedelta) -> None:
    refused = refusal(HEADERS, now=NOW + late)

    assert refused.field == "webhook-timestamp"
    assert "within 300 seconds" in refused.wanted


@pytest.mark.parametrize("seconds", ["soon", "1.5", "-1", "٣", "9" * 12])
def test_a_timestamp_that_is_no_number_of_seconds_is_refused(seconds: str) -> None:
    assert refusal(HEADERS | {"webhook-timestamp": seconds}).field == "webhook-timestamp"


def test_while_a_secret_is_replaced_both_sides_may_know_both() -> None:
    both = build_headers(BODY, [KEY, OLDER], id="run-1", at=NOW)

    assert verify_request(both, BODY, [OLDER], now=NOW).id == "run-1"
    assert verify_request(HEADERS, BODY, [OLDER, KEY], now=NOW).id == "run-1"


def test_no_end_of_signatures_is_not_read_to_the_end() -> None:
    right = HEADERS["webhook-signature"]
    many = " ".join(["v1,x"] * signatures.SIGNATURES_MAX + [right])

    assert refusal(HEADERS | {"webhook-signature": many}).field == "webhook-signature"


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "short", "whsec_!!!", "ü" * 40, "A" * 28, "A" * 92]
)
def test_a_secret_that_is_none_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_secret(secret)

    assert "whsec_ and the base64 of 24 to 64 random bytes" in str(refused.value)
    assert refused.value.value == "***"


def test_a_secret_is_read_as_it_was_written_with_and_without_its_prefix() -> None:
    assert parse_secret(format_secret(KEY)) == KEY
    assert parse_secret(format_secret(KEY).removeprefix("whsec_")) == KEY


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from([*HEADERS, "x"]), st.text(max_size=30), max_size=4),
    st.binary(max_size=50),
)
def test_nothing_that_anybody_makes_up_is_verified_or_breaks_it(
    headers: dict[str, str], body: bytes
) -> None:
    with pytest.raises(InvalidSignature):
        verify_request(headers, body, [KEY], now=NOW)
