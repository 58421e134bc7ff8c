"""The timing wheel gives back what was put in, at its time and in order (P2)."""

from rota.core.wheel import Wheel

NOON = 17_000_000_000_000


def test_nothing_is_taken_before_its_time() -> None:
    wheel: Wheel[str] = Wheel(NOON)
    wheel.add(NOON + 10, "item")

    early = wheel.take(NOON + 9, most=10)
    on_time = wheel.take(NOON + 10, most=10)

    assert (early, on_time) == ([], ["item"])


def test_items_come_in_the_order_of_their_times_however_far_apart() -> None:
    wheel: Wheel[int] = Wheel(NOON)
    distances = [5, 63, 64, 65, 4095, 4096, 300_000, 20_000_000, 3_000_000_000]
    for distance in reversed(distances):
        wheel.add(NOON + distance, distance)

    assert wheel.take(NOON + 3_000_000_000, most=100) == distances


def test_thousands_at_one_instant_come_in_the_order_of_adding() -> None:
    wheel: Wheel[int] = Wheel(NOON)
    for number in range(10_000):
        wheel.add(NOON + 5000, number)

    first = wheel.take(NOON + 5000, most=500)
    rest = wheel.take(NOON + 5000, most=100_000)

    assert first == list(range(500))
    assert rest == list(range(500, 10_000))


def test_an_item_that_is_late_already_is_due_at_once() -> None:
    wheel: Wheel[str] = Wheel(NOON)

    wheel.add(NOON - 1000, "late")

    assert wheel.next_at() == NOON
    assert wheel.take(NOON, most=1) == ["late"]


def test_the_next_time_is_never_later_than_the_first_item() -> None:
    wheel: Wheel[str] = Wheel(NOON)
    wheel.add(NOON + 5000, "item")

    looks = 0
    while not wheel.take(at := wheel.next_at() or 0, most=1):
        looks += 1

    # Once a level: nobody who rests until `next_at` wakes for every unit on the way.
    assert at == NOON + 5000
    assert looks <= 3


def test_time_that_goes_back_changes_nothing() -> None:
    wheel: Wheel[str] = Wheel(NOON)
    wheel.add(NOON + 10, "item")
    wheel.take(NOON + 5, most=1)

    assert wheel.take(NOON - 100, most=1) == []
    assert wheel.take(NOON + 10, most=1) == ["item"]


def test_an_empty_wheel_has_no_next_time() -> None:
    wheel: Wheel[str] = Wheel(NOON)

    assert wheel.next_at() is None
    assert wheel.take(NOON + 1_000_000, most=10) == []
    assert len(wheel) == 0
