"""Everything that is handed in is checked, with the field, the value and what is right (I1, E7)."""

import json
import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.contract.limits import read_stored_limit, write_limit
from rota.core.errors import InvalidInput
from rota.core.limits import JobLimit, RateLimit
from rota.core.submissions import (
    PAYLOAD_DEPTH_MAX,
    check_labels,
    check_limits,
    check_name,
    check_visible_name,
    encode_json,
    fill_key,
    prefix_errors,
)

TEXT = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]))
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**63), 10**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
    max_leaves=20,
)


@given(PLAIN)
def test_what_json_can_hold_comes_back_as_it_was(value: object) -> None:
    text = encode_json(value, "payload")

    assert value is None if text is None else json.loads(text) == value


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        10**64,
        -(10**6000),
        "a\x00b",
        {"a\x00b": 1},
        "\ud800",
        {1: "a"},
        {"when": object()},
        b"bytes",
        nested(PAYLOAD_DEPTH_MAX),
        {str(n): n for n in range(1001)},
        [[0] * 300] * 300,
        "x" * (256 * 1024),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_or_the_database_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        encode_json(value, "payload")

    assert refused.value.field == "payload"
    assert len(str(refused.value)) < 300


def test_a_value_that_holds_itself_is_refused_and_not_walked_for_ever() -> None:
    value: list[object] = []
    value.append(value)

    with pytest.raises(InvalidInput):
        encode_json(value, "payload")


def test_the_deepest_value_that_is_allowed_passes() -> None:
    assert encode_json(nested(PAYLOAD_DEPTH_MAX - 1), "payload") is not None


@pytest.mark.parametrize("value", ["", "  ", "x" * 201, "a\nb", "a\x00", "a\u2028b", 7, None])
def test_a_name_that_nobody_could_read_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_name(value, "name")

    assert refused.value.field == "name"


@pytest.mark.parametrize(
    "value",
    [
        "gpj.\u202etxt",
        "a\u2066b\u2069",
        "a\u200bb",
        "a\u200db",
        "\u200dé",
        "a\u200fb",
        "\ufeffa",
        "soft\u00adhyphen",
        "tag\U000e0041",
    ],
)
def test_a_name_with_characters_that_nobody_sees_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="remove U\\+") as refused:
        check_visible_name(value, "name")

    assert refused.value.field == "name"
    assert str(refused.value).isprintable()
    with pytest.raises(InvalidInput):
        check_labels({"team": value})


@pytest.mark.parametrize("value", ["Grüße", "می\u200cخواهم", "👩\u200d💻 deploy", "شلام", "שלום"])
def test_a_name_of_any_script_stays(value: str) -> None:
    assert check_visible_name(value, "name") == value


def test_a_name_is_composed_the_usual_way() -> None:
    assert check_name("cafe\u0301", "name") == "caf\u00e9"


def test_labels_have_bounds() -> None:
    assert check_labels({"b": "2", "a": "1"}) == '{"a":"1","b":"2"}'
    for wrong in ({"k": "v" * 65}, {"k" * 65: "v"}, {str(n): "v" for n in range(33)}, {"k": ""}):
        with pytest.raises(InvalidInput):
            check_labels(wrong)


def test_a_key_is_filled_from_the_payload() -> None:
    payload = {"id": 42, "who": {"region": "eu", "vip": True}}

    assert fill_key("customer:{args.id}", payload, "key") == "customer:42"
    assert fill_key("{args.who.region}-{args.who.vip}", payload, "key") == "eu-true"
    assert fill_key("plain", None, "key") == "plain"


@pytest.mark.parametrize(
    ("template", "payload"),
    [
        ("customer:{args.id}", None),
        ("customer:{args.id}", {}),
        ("customer:{args.id}", {"id": None}),
        ("customer:{args.id}", {"id": 1.5}),
        ("customer:{args.id}", {"id": [1]}),
        ("customer:{args.id.of}", {"id": 1}),
        ("customer:{args.id}", {"id": "x" * 200}),
        ("customer:{args.id}", {"id": "a\nb"}),
        ("customer:{id}", {"id": 1}),
        ("customer:{args.}", {"id": 1}),
        ("customer:{args.id", {"id": 1}),
        ("customer:{}", {"id": 1}),
    ],
)
def test_a_key_that_cannot_be_filled_is_refused(template: str, payload: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        fill_key(template, payload, "limits[0].key")

    assert refused.value.field == "limits[0].key"


def test_limits_are_stored_and_read_back() -> None:
    rate = RateLimit(count=5, per=timedelta(seconds=90), burst=2)
    for limit in (JobLimit(key="k", max_running=3), JobLimit(key="{args.id}", rate=rate)):
        assert read_stored_limit(json.loads(json.dumps(write_limit(limit)))) == limit


def test_a_job_has_a_bounded_number_of_limits() -> None:
    with pytest.raises(InvalidInput):
        check_limits(tuple(JobLimit(key=str(n), max_running=1) for n in range(9)))
    with pytest.raises(InvalidInput):
        JobLimit(key="k")


def test_an_error_says_where_it_lies() -> None:
    with (
        pytest.raises(InvalidInput) as refused,
        prefix_errors("jobs[3]"),
        prefix_errors("schedule"),
    ):
        raise InvalidInput("cron", "* *", "five fields")

    assert refused.value.field == "jobs[3].schedule.cron"
