"""Runs the parts of the benchmark one after another."""

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Final, Literal
from uuid import uuid4

from rota.core.errors import RotaError
from rota.runtime.clock import SystemClock
from rota.runtime.garbage_collection import relax_collector
from rota_bench import machine
from rota_bench.errors import JobsWrittenTooLate
from rota_bench.failover import measure_failover
from rota_bench.fleet import open_fleet
from rota_bench.graphs import measure_graphs
from rota_bench.interference import measure_in_flight, measure_neighbour
from rota_bench.maps import measure_map
from rota_bench.measures import compute_medians
from rota_bench.relay import measure_relay
from rota_bench.server import (
    BenchServer,
    BenchServerOptions,
    create_folder,
    open_bench_server,
)
from rota_bench.start_latency import (
    measure_cron,
    measure_herd,
    measure_lag,
    measure_pickup,
)
from rota_bench.submissions import measure_api
from rota_bench.throughput import measure_drain, measure_throughput
from rota_bench.trial import FULL_SIZES, QUICK_SIZES, Trial, WorkloadSizes
from rota_bench.watched import measure_watched

Part = Literal[
    "drain",
    "throughput",
    "lag",
    "pickup",
    "herd",
    "cron",
    "neighbour",
    "inflight",
    "api",
    "graphs",
    "map",
    "relay",
    "watched",
    "failover",
]

PARTS: Final[Mapping[Part, Callable[[Trial], Awaitable[dict[str, float]]]]] = {
    "drain": measure_drain,
    "throughput": measure_throughput,
    "lag": measure_lag,
    "pickup": measure_pickup,
    "herd": measure_herd,
    "cron": measure_cron,
    "neighbour": measure_neighbour,
    "inflight": measure_in_flight,
    "api": measure_api,
    "graphs": measure_graphs,
    "map": measure_map,
    "relay": measure_relay,
    "watched": measure_watched,
    "failover": measure_failover,
}

# Safety factors for the time to write jobs, at the first try and the next ones.
WRITE_TIME_FACTORS: Final = (1.5, 4.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOrder:
    """What to measure, and where. `environment` is passed to the measured processes. `seconds` is
    the length of measurements at a steady rate; None: their own.
    """

    parts: Sequence[Part] = tuple(PARTS)
    server_options: BenchServerOptions = field(default_factory=BenchServerOptions)
    environment: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 1
    is_quick: bool = False
    seconds: int | None = None
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchResult:
    """The results; `failed` maps parts without figures to the reason."""

    figures: Mapping[str, float]
    failed: Mapping[Part, str]
    conditions: str


async def run_bench(order: BenchOrder, *, say: Callable[[str], object]) -> BenchResult:
    """Measure the parts in order; `say` prints one line of progress per part."""
    relax_collector()
    clock = SystemClock()
    before = machine.read_state(clock.monotonic, pids=[os.getpid()])
    figures: dict[str, float] = {}
    failed: dict[Part, str] = {}
    async with open_bench_server(
        order.server_options, id_=uuid4(), today=clock.now().date()
    ) as arena:
        server = f"PostgreSQL {arena.version} with full durability"
        say(f"{server}; {order.repeat} round(s) of {', '.join(order.parts)}")
        for part in order.parts:
            started = clock.monotonic()
            # A failed part must not discard the figures of the others.
            try:
                rounds = [await run_round(order, part, arena) for _ in range(order.repeat)]
                figures |= compute_medians(rounds)
            except RotaError as error:
                failed[part] = str(error)
            say(f"{part}: {clock.monotonic() - started:.0f} s {failed.get(part, '')}".rstrip())
        pids = [os.getpid(), *([arena.postmaster] if arena.postmaster else [])]
        after = machine.read_state(clock.monotonic, pids=pids)
    conditions = machine.describe_conditions(before, after, server=server)
    return BenchResult(figures=figures, failed=failed, conditions=conditions)


async def run_round(order: BenchOrder, part: Part, server: BenchServer) -> dict[str, float]:
    """Measure a part once; on a busy machine, retry with more time to prepare."""
    for patience in WRITE_TIME_FACTORS[:-1]:
        with contextlib.suppress(JobsWrittenTooLate):
            async with open_trial(order, part, server, patience=patience) as trial:
                return await PARTS[part](trial)
    async with open_trial(order, part, server, patience=WRITE_TIME_FACTORS[-1]) as trial:
        return await PARTS[part](trial)


def choose_sizes(order: BenchOrder) -> WorkloadSizes:
    sizes = QUICK_SIZES if order.is_quick else FULL_SIZES
    if order.seconds is None:
        return sizes
    return replace(
        sizes,
        lag_seconds=order.seconds,
        cron_seconds=order.seconds,
        watched_seconds=order.seconds,
    )


@asynccontextmanager
async def open_trial(
    order: BenchOrder, part: Part, server: BenchServer, *, patience: float
) -> AsyncIterator[Trial]:
    """Provide a fresh database and no processes yet; clean up at the end of the block."""
    with create_folder(order.server_options.data) as folder:
        async with (
            server.open_database(part) as access,
            open_fleet(folder, order.environment, url=access.url) as own,
        ):
            yield Trial(
                name=part,
                access=access,
                fleet=own,
                clock=SystemClock(),
                rng=Random(order.seed),
                sizes=choose_sizes(order),
                postmaster=server.postmaster,
                patience=patience,
            )
