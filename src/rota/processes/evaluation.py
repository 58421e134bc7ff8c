"""Builds the services that evaluate expectations."""

import os
import socket
from datetime import timedelta
from typing import Final, NamedTuple

from rota.config.alerts import AlertSettings
from rota.core.ids import build_id
from rota.engine.alerting.deadline_checker import DeadlineChecker
from rota.engine.alerting.endings import EndingEvaluator
from rota.engine.alerting.expectation_book import ExpectationBook
from rota.engine.alerting.state_checker import StateChecker
from rota.engine.alerting.watch_scheduler import WatchScheduler
from rota.runtime.service import Duty, Pulse, ServiceContext
from rota.store.driver import ConnectionSource

# A pass over a page of jobs, or over all queues, ends long before this.
PASS_MAX: Final = timedelta(minutes=2)


class EvaluationServices(NamedTuple):
    """The consumer of the relay, and the services beside it."""

    consumer: EndingEvaluator
    duties: list[Duty]


def build_evaluation(
    settings: AlertSettings, source: ConnectionSource, context: ServiceContext
) -> EvaluationServices:
    """Build what evaluates expectations. Each service has its own cache of rules, because they run
    independently of each other.
    """
    clock = context.database_clock
    holder = f"{socket.gethostname()}:{os.getpid()}"

    def build_book() -> ExpectationBook:
        return ExpectationBook(clock=clock, has_defaults=settings.defaults)

    scheduler = WatchScheduler(
        source=source,
        clock=clock,
        book=build_book(),
        holder=holder,
        new_id=lambda: build_id(context.clock.now(), context.rng.randbytes(10)),
    )
    states = StateChecker(
        source=source,
        clock=clock,
        book=build_book(),
        holder=holder,
        new_id=lambda: build_id(context.clock.now(), context.rng.randbytes(10)),
        read_clock_offset=lambda: measure_clock_offset(context),
    )
    checker = DeadlineChecker(source=source, clock=clock)
    return EvaluationServices(
        consumer=EndingEvaluator(book=build_book(), clock=clock),
        duties=[
            Duty("scheduling watches", scheduler.tick, Pulse(), context, limit=PASS_MAX),
            Duty("checking deadlines", checker.tick, Pulse(), context, limit=PASS_MAX),
            Duty("checking states", states.tick, Pulse(), context, limit=PASS_MAX),
        ],
    )


def measure_clock_offset(context: ServiceContext) -> timedelta | None:
    """Return how far the clock of this machine is ahead of the database's; None if unknown."""
    database_time = context.database_clock.offset.database_time_at(context.clock.monotonic())
    return None if database_time is None else context.clock.now() - database_time
