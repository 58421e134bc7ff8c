"""The timing wheel gives back what was put in, at its time and in order (P2)."""

from rota.engine.scheduling.agenda import TimingWheel

NOON = 17_000_000_000_000


def test_nothing_is_taken_before_its_time() -> None:
    wheel: TimingWheel[str] = TimingWheel(NOON)
    wheel.add(NOON + 10, "item")

    early = wheel.take(NOON + 9, limit=10)
    on_time = wheel.take(NOON + 10, limit=10)

    assert (early, on_time) == ([], ["item"])


def test_items_come_in_the_order_of_their_times_however_far_apart() -> None:
    wheel: TimingWheel[int] = TimingWheel(NOON)
    distances = [5, 63, 64, 65, 4095, 4096, 300_000, 20_000_000, 3_000_000_000]
    for distance in reversed(distances):
        wheel.add(NOON + distance, distance)

    assert wheel.take(NOON + 3_000_000_000, limit=100) == distances


def test_thousands_at_one_instant_come_in_the_order_of_adding() -> None:
    wheel: TimingWheel[int] = TimingWheel(NOON)
    for number in range(10_000):
        wheel.add(NOON + 5000, number)

    first = wheel.take(NOON + 5000, limit=500)
    rest = wheel.take(NOON + 5000, limit=100_000)

    assert first == list(range(500))
    assert rest == list(range(500, 10_000))


def test_an_item_that_is_late_already_is_due_at_once() -> None:
    wheel: TimingWheel[str] = TimingWheel(NOON)

    wheel.add(NOON - 1000, "late")

    assert wheel.find_next_at() == NOON
    assert wheel.take(NOON, limit=1) == ["late"]


def test_the_next_time_is_never_later_than_the_first_item() -> None:
    wheel: TimingWheel[str] = TimingWheel(NOON)
    wheel.add(NOON + 5000, "item")

    looks = 0
    while not wheel.take(at := wheel.find_next_at() or 0, limit=1):
        looks += 1

    # Once a level: nobody who rests until `next_at` wakes for every unit on the way.
    assert at == NOON + 5000
    assert looks <= 3


def test_time_that_goes_back_changes_nothing() -> None:
    wheel: TimingWheel[str] = TimingWheel(NOON)
    wheel.add(NOON + 10, "item")
    wheel.take(NOON + 5, limit=1)

    assert wheel.take(NOON - 100, limit=1) == []
    assert wheel.take(NOON + 10, limit=1) == ["item"]


def test_an_empty_wheel_has_no_next_time() -> None:
    wheel: TimingWheel[str] = TimingWheel(NOON)

    assert wheel.find_next_at() is None
    assert wheel.take(NOON + 1_000_000, limit=10) == []
    assert len(wheel) == 0
