"""Runs the parts of the benchmark one after another."""

import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Final, Literal
from uuid import uuid4

from rota.core.errors import RotaError
from rota.node.bench import machine
from rota.node.bench.arena import Arena, Wishes, new_folder, open_arena
from rota.node.bench.calling import api
from rota.node.bench.draining import drain, throughput
from rota.node.bench.failing_over import failover
from rota.node.bench.failure import WrittenTooLate
from rota.node.bench.figures import medians
from rota.node.bench.fleet import fleet
from rota.node.bench.graphs import graphs
from rota.node.bench.lagging import cron, herd, lag, pickup
from rota.node.bench.mapping import map_members
from rota.node.bench.sharing import in_flight, neighbour
from rota.node.bench.trial import FULL, QUICK, Trial
from rota.runtime.clock import SystemClock
from rota.runtime.garbage_collection import relax_collector

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
    "failover",
]

PARTS: Final[Mapping[Part, Callable[[Trial], Awaitable[dict[str, float]]]]] = {
    "drain": drain,
    "throughput": throughput,
    "lag": lag,
    "pickup": pickup,
    "herd": herd,
    "cron": cron,
    "neighbour": neighbour,
    "inflight": in_flight,
    "api": api,
    "graphs": graphs,
    "map": map_members,
    "failover": failover,
}

# Safety factors for the time to write jobs, at the first try and the next ones.
PATIENCE: Final = (1.5, 4.0, 10.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to measure, and where. `environment` is passed to the measured processes."""

    parts: Sequence[Part] = tuple(PARTS)
    wishes: Wishes = field(default_factory=Wishes)
    environment: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 1
    is_quick: bool = False
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The results; `failed` maps parts without figures to the reason."""

    figures: Mapping[str, float]
    failed: Mapping[Part, str]
    conditions: str


async def run_bench(order: Order, *, say: Callable[[str], object]) -> Measured:
    """Measure the parts in order; `say` prints one line of progress per part."""
    relax_collector()
    clock = SystemClock()
    before = machine.look(clock.monotonic, pids=[os.getpid()])
    figures: dict[str, float] = {}
    failed: dict[Part, str] = {}
    async with open_arena(order.wishes, id_=uuid4(), today=clock.now().date()) as arena:
        server = f"PostgreSQL {arena.version} with full durability"
        say(f"{server}; {order.repeat} round(s) of {', '.join(order.parts)}")
        for part in order.parts:
            started = clock.monotonic()
            # A failed part must not discard the figures of the others.
            try:
                rounds = [await one_round(order, part, arena) for _ in range(order.repeat)]
                figures |= medians(rounds)
            except RotaError as error:
                failed[part] = str(error)
            say(f"{part}: {clock.monotonic() - started:.0f} s {failed.get(part, '')}".rstrip())
        pids = [os.getpid(), *([arena.postmaster] if arena.postmaster else [])]
        after = machine.look(clock.monotonic, pids=pids)
    conditions = machine.describe(before, after, server=server)
    return Measured(figures=figures, failed=failed, conditions=conditions)


async def one_round(order: Order, part: Part, arena: Arena) -> dict[str, float]:
    """Measure a part once; on a busy machine, retry with more time to prepare."""
    for patience in PATIENCE[:-1]:
        with contextlib.suppress(WrittenTooLate):
            async with trial_of(order, part, arena, patience=patience) as trial:
                return await PARTS[part](trial)
    async with trial_of(order, part, arena, patience=PATIENCE[-1]) as trial:
        return await PARTS[part](trial)


@asynccontextmanager
async def trial_of(
    order: Order, part: Part, arena: Arena, *, patience: float
) -> AsyncIterator[Trial]:
    """Provide a fresh database and no processes yet; clean up at the end of the block."""
    with new_folder(order.wishes.data) as folder:
        async with (
            arena.database(part) as access,
            fleet(folder, order.environment, url=access.url) as own,
        ):
            yield Trial(
                name=part,
                access=access,
                fleet=own,
                clock=SystemClock(),
                chance=Random(order.seed),
                sizes=QUICK if order.is_quick else FULL,
                postmaster=arena.postmaster,
                patience=patience,
            )
