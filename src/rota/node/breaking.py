"""Builds the circuit breakers of a worker from its settings."""

from random import Random

from rota.config.settings import Settings
from rota.core.breaker import BreakerRule
from rota.flow.execute.breakers import Breakers
from rota.runtime.service import Ground


def breakers_of(settings: Settings, ground: Ground) -> Breakers:
    worker = settings.worker
    rule = BreakerRule(
        after=worker.breaker_after, pause=worker.breaker_pause, longest=worker.breaker_longest
    )
    # A separate random generator: the attempt thread uses it.
    return Breakers(
        rule,
        monotonic=ground.clock.monotonic,
        chance=Random(ground.chance.getrandbits(64)),
        emit=ground.emit,
    )
