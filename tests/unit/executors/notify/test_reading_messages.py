"""What a payload of the kind notify may say, and what becomes of its names in braces (E17)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.errors import InvalidInput
from rota.executors.notify.spec import BODY_MAX_CHARACTERS, RUN_FACTS, RenderedMessage, read_message
from rota.executors.notify.template import parse_template
from rota.sdk.testing import RecordingContext

CHANNELS = {"ops": False, "mail": True}


def written(**payload: Any) -> RenderedMessage:
    """The letter that a payload makes."""
    message = read_message({"channel": "ops", "body": "done", **payload}, CHANNELS)
    return message.render(RecordingContext(attempt=3))


def refusal(**payload: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        written(**payload)
    return raised.value


def test_names_are_filled_with_values_and_facts_of_the_run() -> None:
    letter = written(
        title="{what} of {scheduled_at}",
        body="{what}: {rows} rows, {ratio}, {good}, [{nothing}], attempt {attempt} of {run_id}",
        values={"what": "Backup", "rows": 7, "ratio": 0.5, "good": True, "nothing": None},
    )

    assert letter.title == "Backup of 2030-01-01T09:00:00Z"
    context = RecordingContext()
    assert letter.body == f"Backup: 7 rows, 0.5, true, [], attempt 3 of {context.run_id}"


def test_what_is_filled_in_is_not_looked_at_again() -> None:
    letter = written(body="{a}{{b}} {{{a}}}", values={"a": "{b}", "b": "never"})

    assert letter.body == "{b}{b} {{b}}"


@pytest.mark.parametrize(
    "name",
    ["unknown", "", " ", "a.b", "a[0]", "a!r", "a:>9", "a.__class__", "0", "A", "run_id.hex"],
)
def test_any_other_name_is_refused_with_those_there_are(name: str) -> None:
    refused = refusal(body=f"{{{name}}}", values={"a": 1})

    assert refused.field == "body"
    assert refused.wanted == "unknown name; known names: a, attempt, job_id, run_id, scheduled_at"


@pytest.mark.parametrize("text", ["{", "}", "a } b", "{a", "{a}}", "{{a}"])
def test_a_brace_that_is_left_over_is_refused(text: str) -> None:
    assert "{{ and }}" in refusal(title=text, values={"a": 1}).wanted


@given(st.text("{}ab ", max_size=20))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        template = parse_template(text, field="body", known=("a",))
    except InvalidInput:
        return

    filled = template.fill({"a": "value"})
    assert template.measure({"a": 5}) == len(filled)


def test_values_cannot_bring_html_of_their_own() -> None:
    values = {"who": "<script>alert('x') & more</script>"}

    as_html = written(format="html", body="<b>{who}</b>", values=values).body
    as_markdown = written(format="markdown", body="**{who}**", values=values).body
    as_text = written(format="text", body="{who}", values=values).body

    assert as_html == "<b>&lt;script&gt;alert(&#x27;x&#x27;) &amp; more&lt;/script&gt;</b>"
    assert as_markdown == "**&lt;script&gt;alert('x') &amp; more&lt;/script&gt;**"
    assert as_text == values["who"]


def test_values_cannot_bring_links_into_markdown() -> None:
    letter = written(format="markdown", body="{who}", values={"who": "[pay](https://evil.example)"})

    assert letter.body == r"\[pay\](https://evil.example)"


def test_a_title_stays_one_line() -> None:
    assert (
        written(title="a\n{b}", values={"b": "c\r\nBcc: x@y.example"}).title
        == "a c Bcc: x@y.example"
    )


def test_a_body_that_would_grow_beyond_measure_is_refused_before_it_is_made() -> None:
    refused = refusal(body="{a}" * 80_000, values={"a": "x" * 100_000})

    assert refused.field == "body"
    assert refused.value == "8000000000 characters"
    assert str(BODY_MAX_CHARACTERS) in refused.wanted


def test_channels_are_one_or_several_and_each_once() -> None:
    one = read_message({"channel": "ops", "body": "x"}, CHANNELS)
    several = read_message({"channel": ["mail", "ops", "mail"], "body": "x"}, CHANNELS)

    assert (one.channels, several.channels) == (("ops",), ("mail", "ops"))


@pytest.mark.parametrize(
    ("payload", "field", "wanted"),
    [
        ({"channel": "nobody"}, "channel", "available: mail, ops"),
        ({"channel": ["ops", 7]}, "channel[1]", "text"),
        ({"channel": []}, "channel", "a list of 1 to 16"),
        ({"channel": None}, "channel", "the name of a channel"),
        ({"body": ""}, "body", "text (at least 1 characters)"),
        ({"body": " "}, "body", "must not be blank"),
        ({"body": 7}, "body", "text"),
        ({"title": 7}, "title", "text"),
        ({"title": "x" * 251}, "title", "at most 250 characters"),
        ({"format": "pdf"}, "format", "one of text, markdown, html"),
        ({"level": "loud"}, "level", "one of info, success, warning, failure"),
        ({"values": []}, "values", "an object"),
        ({"values": {"a": {}}}, "values.a", "text, a number"),
        ({"values": {"A b": 1}}, "values", "a name of a-z"),
        ({"values": {"run_id": 1}}, "values.run_id", "use another name"),
        ({"attach": "/etc/passwd"}, "payload.attach", "known fields: channel, title"),
        (
            {"to": "ada@example.org"},
            "to",
            "channel ops accepts no recipients; the operator sets allow_to = true",
        ),
        ({"channel": "mail", "to": []}, "to", "a list of 1 to 100"),
        ({"channel": "mail", "to": "ada"}, "to", "an e-mail address"),
        ({"channel": "mail", "to": "a@b.example\nBcc: c@d.example"}, "to", "an e-mail address"),
        ({"channel": "mail", "to": "a@b.example,c@d.example"}, "to", "an e-mail address"),
        ({"channel": "mail", "to": "<a@b.example>"}, "to", "an e-mail address"),
    ],
)
def test_what_is_wrong_is_refused_in_one_sentence(
    payload: dict[str, Any], field: str, wanted: str
) -> None:
    refused = refusal(**payload)

    assert refused.field == field
    assert wanted in refused.wanted


def test_the_facts_are_those_that_a_letter_has() -> None:
    letter = written(body=" ".join(f"{{{name}}}" for name in RUN_FACTS))

    assert len(letter.body.split()) == len(RUN_FACTS)
