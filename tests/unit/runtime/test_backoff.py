"""Pauses while the database is away (F48)."""

from datetime import timedelta
from random import Random

from rota.runtime.backoff import Backoff

CEILINGS = [0.2, 0.4, 0.8, 1.6, 2.0, 2.0]


def test_each_pause_lies_between_the_shortest_and_a_doubling_ceiling():
    for seed in range(200):
        backoff = Backoff(rng=Random(seed))

        pauses = [backoff.next_pause().total_seconds() for _ in CEILINGS]

        assert all(0.1 <= pause <= top for pause, top in zip(pauses, CEILINGS, strict=True))


def test_the_pauses_of_many_nodes_are_spread_over_the_whole_range():
    nodes = [Backoff(rng=Random(seed), failures=10) for seed in range(1000)]

    pauses = [node.next_pause() for node in nodes]

    tenths = {int((pause - timedelta(seconds=0.1)) / timedelta(seconds=0.19)) for pause in pauses}
    assert tenths >= set(range(10))


def test_an_outage_of_days_does_not_overflow():
    backoff = Backoff(rng=Random(1), failures=10**6)

    assert backoff.next_pause() <= timedelta(seconds=2)


def test_a_success_starts_it_anew():
    backoff = Backoff(rng=Random(1), failures=10)

    backoff.reset()

    assert backoff.next_pause() <= timedelta(seconds=0.2)
    assert backoff.failures == 1
