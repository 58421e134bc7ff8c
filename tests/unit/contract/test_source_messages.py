"""What a source found becomes an event, or it is said why not."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rota.contract.source_messages import MessageFormat, build_event, decode_data, derive_event_id
from rota.core.errors import InvalidInput
from rota.core.event_rules.event import check_event
from rota.core.ids import build_id
from rota.core.source import Message

NOW = datetime(2026, 7, 1, tzinfo=UTC)
PLAIN = MessageFormat(source="/sources/orders", type="order")
CLOUD = MessageFormat(source="/sources/orders", type="order", is_cloudevents=True)
EVENT = {"specversion": "1.0", "id": "7", "source": "/shop", "type": "order.paid"}


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b'{"n": 1}', {"n": 1}),
        ('["a"]', ["a"]),
        ("plain words", "plain words"),
        (b"plain bytes", "plain bytes"),
        (b"\xff\xfe", {"base64": "//4="}),
        ("NaN", "NaN"),
        ('{"n": Infinity}', '{"n": Infinity}'),
        ("", ""),
        (None, None),
        ({"n": 1}, {"n": 1}),
    ],
)
def test_json_is_data_other_texts_are_texts_and_other_bytes_base64(
    body: object, data: object
) -> None:
    assert decode_data(body) == data


def test_a_message_says_its_type_or_has_that_of_its_source() -> None:
    plain = build_event(Message(id="1", body="x"), PLAIN)
    typed = build_event(Message(id="1", body="x", type="order.paid", subject="7"), PLAIN)

    assert (plain.type, plain.source, plain.id) == ("order", "/sources/orders", "1")
    assert (typed.type, typed.subject) == ("order.paid", "7")


@pytest.mark.parametrize(
    "message",
    [
        Message(id="1", body=json.dumps({**EVENT, "data": {"n": 1}})),
        Message(id="1", body={**EVENT, "data": {"n": 1}}),
        Message(
            id="1",
            body='{"n": 1}',
            headers={f"ce_{name}": value for name, value in EVENT.items()},
        ),
        Message(
            id="1",
            body=b'{"n": 1}',
            headers={f"Ce-{name.title()}": value for name, value in EVENT.items()},
        ),
    ],
    ids=["text", "value", "headers of Kafka", "headers of NATS"],
)
def test_a_cloudevent_keeps_its_own_id_source_and_type(message: Message) -> None:
    event = build_event(message, CLOUD)

    assert (event.id, event.source, event.type, event.data) == (
        "7",
        "/shop",
        "order.paid",
        {"n": 1},
    )


@pytest.mark.parametrize("body", ["words", "[]", '{"id": "7"}', None, b"\xff", "[" * 5000])
def test_what_is_no_cloudevent_is_refused(body: object) -> None:
    with pytest.raises(InvalidInput):
        build_event(Message(id="1", body=body), CLOUD)


def test_ids_that_an_event_cannot_have_become_hashes_and_stay_apart() -> None:
    long, composed, decomposed = "x" * 600, "e\u0301", "\u00e9"

    assert derive_event_id("orders/0/7") == "orders/0/7"
    assert derive_event_id(long).startswith("sha256:")
    assert (
        len({derive_event_id(each) for each in (composed, decomposed, long, f"{long}x", "a\nb")})
        == 5
    )


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    id_=st.text(min_size=1, max_size=600),
    subject=st.none() | st.text(max_size=600),
    body=st.binary(max_size=40) | st.text(max_size=40),
)
def test_any_message_with_any_key_is_an_event_unless_its_data_cannot_be_stored(
    id_: str, subject: str | None, body: bytes | str
) -> None:
    event = build_event(Message(id=id_, body=body, subject=subject), PLAIN)

    try:
        check_event(event, event_id=build_id(NOW, bytes(10)), now=NOW)
    except InvalidInput as error:
        assert error.field.startswith("data")
