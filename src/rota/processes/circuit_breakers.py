"""Builds the circuit breakers of a worker from its settings."""

from random import Random

from rota.config.settings import Settings
from rota.core.breaker import BreakerRule
from rota.engine.execution.breakers import Breakers
from rota.runtime.service import ServiceContext


def build_breakers(settings: Settings, context: ServiceContext) -> Breakers:
    worker = settings.worker
    rule = BreakerRule(
        after=worker.breaker_after, pause=worker.breaker_pause, longest=worker.breaker_longest
    )
    # A separate random generator: the attempt thread uses it.
    return Breakers(
        rule,
        monotonic=context.clock.monotonic,
        rng=Random(context.rng.getrandbits(64)),
        emit=context.emit,
    )
