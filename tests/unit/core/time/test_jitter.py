"""Jitter is deterministic, spread and bounded (S10)."""

from datetime import UTC, datetime, timedelta

from rota.core.time.jitter import TickJitter

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
WINDOW = timedelta(minutes=5)


def test_the_same_tick_of_the_same_job_always_gets_the_same_offset() -> None:
    first = TickJitter(window=WINDOW).offset("acme/report", NOON, room=None)
    again = TickJitter(window=WINDOW).offset("acme/report", NOON, room=None)

    assert first == again
    # A known value: a change of the hash would move every jittered job of every user at once.
    assert first == timedelta(seconds=24, milliseconds=21)


def test_ticks_of_one_job_get_different_offsets_unless_it_is_stable() -> None:
    days = [NOON + timedelta(days=n) for n in range(50)]
    moving, stable = TickJitter(window=WINDOW), TickJitter(window=WINDOW, stable=True)

    assert len({moving.offset("acme/report", day, room=None) for day in days}) > 45
    assert len({stable.offset("acme/report", day, room=None) for day in days}) == 1


def test_a_thousand_jobs_at_one_instant_are_spread_over_the_window() -> None:
    offsets = [TickJitter(window=WINDOW).offset(f"job-{n}", NOON, room=None) for n in range(1000)]

    assert all(timedelta(0) <= offset < WINDOW for offset in offsets)
    per_minute = [sum(offset // timedelta(minutes=1) == n for offset in offsets) for n in range(5)]
    assert min(per_minute) > 150


def test_an_offset_stays_inside_the_room_there_is() -> None:
    room = timedelta(seconds=3)
    offsets = [TickJitter(window=WINDOW).offset(f"job-{n}", NOON, room=room) for n in range(200)]

    assert all(offset < room for offset in offsets)
    assert TickJitter(window=WINDOW).offset("job", NOON, room=timedelta(0)) == timedelta(0)
