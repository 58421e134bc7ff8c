"""What a node remembers of graph runs that could not be advanced (F08)."""

from uuid import UUID

from rota.flow.graphs.faltering import MOST, PAUSE, Faltering


def test_it_waits_after_each_try_and_counts_them() -> None:
    now = [0.0]
    faltering = Faltering(monotonic=lambda: now[0])
    one, other = UUID(int=1), UUID(int=2)

    tries = [faltering.note(one), faltering.note(one)]

    assert tries == [1, 2]
    assert faltering.ready([one, other]) == [other]
    now[0] = PAUSE
    assert faltering.ready([one, other]) == [one, other]
    faltering.forget([one])
    assert faltering.note(one) == 1


def test_it_remembers_a_bounded_number_of_them_and_forgets_the_oldest() -> None:
    faltering = Faltering(monotonic=lambda: 0.0)

    for number in range(MOST + 1):
        faltering.note(UUID(int=number))

    assert faltering.note(UUID(int=MOST)) == 2
    assert faltering.note(UUID(int=0)) == 1
