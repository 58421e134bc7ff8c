"""How many messages a channel gets in a storm."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rota.core.alerts.finding import Severity
from rota.core.alerts.pacing import (
    BACKLOG_MAX,
    BURST_MAX,
    DIGEST_INTERVAL,
    HOUR,
    RETRY_MAX,
    ChannelPace,
    compute_retry_delay,
    find_next_turn,
    is_digest_due,
    take_message,
)

NOW = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


@given(
    st.lists(st.tuples(st.integers(0, 120), st.sampled_from(Severity)), max_size=300),
    st.integers(1, 40),
    st.integers(0, 10),
)
def test_no_hour_has_more_messages_than_allowed(
    asked: list[tuple[int, Severity]], per_hour: int, pages: int
) -> None:
    pace = ChannelPace(messages_per_hour=per_hour, pages_per_hour=pages)
    now, sent, plain = NOW, [], []
    for seconds, severity in asked:
        now += seconds * SECOND
        taken = take_message(pace, severity, now=now)
        if taken is None:
            assert severity is not Severity.PAGE or len(pace.forget_old(now).pages) >= pages
            continue
        pace = taken
        sent.append(now)
        if severity is not Severity.PAGE:
            plain.append(now)
        assert len([at for at in sent if now - at < HOUR]) <= per_hour + pages
        assert len([at for at in plain if now - at < 30 * SECOND]) <= BURST_MAX


def test_a_burst_of_three_and_then_one_in_ten_seconds_on_average() -> None:
    pace = ChannelPace()
    for _ in range(BURST_MAX):
        taken = take_message(pace, Severity.WARNING, now=NOW)
        assert taken is not None
        pace = taken

    assert take_message(pace, Severity.WARNING, now=NOW) is None
    assert find_next_turn(pace, now=NOW) == NOW + 30 * SECOND
    assert take_message(pace, Severity.WARNING, now=NOW + 30 * SECOND) is not None


def test_a_page_has_a_reserve() -> None:
    pace = ChannelPace(sent=(NOW,) * 30, pages_per_hour=1)

    taken = take_message(pace, Severity.PAGE, now=NOW)

    assert taken is not None
    assert taken.pages == (NOW,)
    assert take_message(taken, Severity.PAGE, now=NOW) is None


@pytest.mark.parametrize(
    ("pace", "waiting", "is_due"),
    [
        (ChannelPace(), 0, False),
        (ChannelPace(), BACKLOG_MAX, False),
        (ChannelPace(), BACKLOG_MAX + 1, True),
        (ChannelPace(sent=(NOW,) * 30), 1, True),
        (ChannelPace(sent=(NOW,) * 30, digest_at=NOW - 10 * SECOND), 1, False),
        (ChannelPace(sent=(NOW,) * 30, digest_at=NOW - DIGEST_INTERVAL), 1, True),
    ],
)
def test_a_digest_is_due_in_a_storm_and_every_quarter_of_an_hour(
    pace: ChannelPace, waiting: int, is_due: bool
) -> None:
    assert is_digest_due(pace, waiting=waiting, now=NOW) is is_due


def test_retries_wait_longer_each_time_and_follow_the_receiver() -> None:
    delays = [compute_retry_delay(attempts).total_seconds() for attempts in range(1, 12)]

    assert delays[:4] == [10, 20, 40, 80]
    assert delays[-1] == RETRY_MAX.total_seconds()
    assert compute_retry_delay(1, 120) == timedelta(seconds=120)
    assert compute_retry_delay(1, 1) == timedelta(seconds=10)
    assert compute_retry_delay(1, 10**9) == RETRY_MAX
