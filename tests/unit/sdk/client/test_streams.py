"""Server-sent events, however the network cuts them. Proves a part of I3."""

from datetime import UTC, datetime

import pytest
from tests.support.moved_clock import MovedClock

from rota.sdk.client.streams import FeedStream, LogStream, ServerSentEventParser

LINE = (
    b'id: 1.0\nevent: line\ndata: {"attempt_number":1,"seq":0,"stream":"stdout",'
    b'"at":"2026-07-01T12:00:00Z","text":"h\xc3\xa9llo\\n"}\n\n'
)
END = b"event: end\ndata: {}\n\n"
MADE = b'id: 7-1\nevent: run.made\ndata: {"type":"run.made","at":"2026-07-01T12:00:00Z"}\n\n'
QUIET = b'id: 8-1\nevent: quiet\ndata: {"type":"quiet","at":"2026-07-01T12:00:00Z"}\n\n'


def clock() -> MovedClock:
    return MovedClock(datetime(2026, 7, 1, tzinfo=UTC))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_events_are_the_same_wherever_they_are_cut(size: int) -> None:
    text = b": hello\n\nid: a\r\nevent: b\r\ndata: 1\r\ndata: 2\r\n\r\ndata:3\n\n"
    reader = ServerSentEventParser()

    found = [
        event
        for start in range(0, len(text), size)
        for event in reader.feed_bytes(text[start : start + size])
    ]

    assert found == [("a", "b", b"1\n2"), ("a", "message", b"3")]


def test_lines_end_when_the_run_has_ended() -> None:
    stream = LogStream(None)

    (line,) = stream.feed_bytes(LINE)
    assert (line.text, line.at) == ("héllo\n", datetime(2026, 7, 1, 12, tzinfo=UTC))
    assert not stream.is_over

    assert list(stream.feed_bytes(END)) == []
    assert stream.is_over


def test_a_new_connection_goes_on_after_the_last_event_that_came_whole() -> None:
    stream = LogStream(None)
    assert stream.start_connection() == {}
    list(stream.feed_bytes(LINE + b"id: 1.1\nevent: li"))

    assert stream.start_connection() == {"Last-Event-ID": "1.0"}
    assert [line.seq for line in stream.feed_bytes(LINE)] == [0]


def test_silence_moves_the_place_and_is_not_told() -> None:
    stream = FeedStream(None, clock())

    assert [(event.type, event.id) for event in stream.feed_bytes(MADE + QUIET)] == [
        ("run.made", "7-1")
    ]
    assert stream.start_connection() == {"Last-Event-ID": "8-1"}


def test_who_is_cut_off_before_the_first_event_is_told_that_something_may_be_missing() -> None:
    stream = FeedStream(None, clock())
    assert [event.type for event in stream.on_disconnect()] == ["lagged"]

    list(stream.feed_bytes(MADE))

    assert list(stream.on_disconnect()) == []
