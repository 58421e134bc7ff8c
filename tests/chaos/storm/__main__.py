"""A storm: many schedulers, workers and reapers against one PostgreSQL, with leases of tens of
milliseconds, frozen and killed at random, for a few seconds.

    python -m tests.chaos.storm URL SEED SECONDS [late]

It uses whatever `rota` it finds on its path, which may be a copy that was broken on purpose, and
prints one JSON object: which invariants were violated, the first example of each, and counts. With
`late` there is an epilogue: a run that is committed long after it was written.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from rota.core.errors import RotaError, StoreUnavailable
from rota.store.driver import Connection
from rota.store.partitions import create_ahead
from rota.store.pool import DatabaseAccess, open_connection
from rota.store.schema_migration import migrate
from tests.chaos.checker import judge
from tests.chaos.history import History
from tests.chaos.menu import NEEDS
from tests.chaos.storm.client import Canceller, Latecomer, Pauser, Submitter
from tests.chaos.storm.duel import Duels
from tests.chaos.storm.graphs import Advancer, definition
from tests.chaos.storm.ledger import Ledger
from tests.chaos.storm.scheduler import Scheduler
from tests.chaos.storm.sea import Sea
from tests.chaos.storm.worker import Reaper, Worker
from tests.chaos.tables import read_tables

SCHEDULERS, WORKERS, REAPERS, ADVANCERS = 5, 10, 2, 2
KILL_EVERY = 0.1
# Every few seconds a claim looks everywhere; what that does not find, nobody will.
STANDSTILL = 5.0
LONGEST_DRAIN = 20.0
LEAST_DUELS = 9
LEFT = "select count(*), sum(attempt), sum(losses), sum(failures) from rota.live_runs"
BEHIND = """
select count(*), max(tick_at), min(tick_at) from rota.cursors
where fire_at is not null and tick_at <= $1
"""

Role = Callable[[], Awaitable[None]]


async def storm(url: str, seed: int, seconds: float, *, late: bool) -> dict[str, Any]:
    ledger = Ledger(chance=Random(seed))
    sea = Sea(access=DatabaseAccess(url=url, name="storm"), ledger=ledger)
    async with open_connection(sea.access) as conn:
        await migrate(conn)
        await create_ahead(conn, today=ledger.wall().date(), ahead=1)
        await sea.fill(conn)
        await sea.fill_graph(conn, definition("storm"))
        await blow(sea, conn, seconds, late=late)
        history = await told(sea, conn)
        deadlocks = await conn.fetchval(
            "select deadlocks from pg_stat_database where datname = current_database()"
        )
    verdict = judge(history)
    return {
        "violated": sorted(verdict.violated),
        "verdict": str(verdict).splitlines(),
        "surprises": ledger.surprises[:5],
        "counts": ledger.counts | {"deadlocks": deadlocks},
    }


async def blow(sea: Sea, conn: Connection, seconds: float, *, late: bool) -> None:
    submitter = Submitter(sea=sea)
    mortal = [lambda: Scheduler(sea=sea).live()] * SCHEDULERS
    mortal += [lambda: Worker(sea=sea).live()] * WORKERS
    mortal += [lambda: Advancer(sea=sea).live()] * ADVANCERS
    others: list[Role] = [lambda: Reaper(sea=sea).live()] * REAPERS
    others += [submitter.live, Canceller(sea=sea, submitter=submitter).live, Pauser(sea=sea).live]
    duels = Duels(sea=sea, submitter=submitter)
    others.append(duels.live)
    async with asyncio.TaskGroup() as group:
        for role in others:
            group.create_task(keep_alive(sea, role))
        lives = [group.create_task(keep_alive(sea, role)) for role in mortal]
        nemesis = group.create_task(kill_some(sea, lives))
        await sea.ledger.clock.sleep(seconds)
        await enough(sea, duels)
        sea.calm_at = sea.ledger.wall()
        sea.is_calm = True
        await nemesis
        if late:
            await Latecomer(sea=sea, submitter=submitter).come()
        await drain(sea, conn)
        sea.is_over = True


async def enough(sea: Sea, duels: Duels) -> None:
    """On a slow machine the storm goes on until it deserves the name."""
    end = sea.ledger.clock.monotonic() + LONGEST_DRAIN
    while duels.fought < LEAST_DUELS and sea.ledger.clock.monotonic() < end:
        if sea.ledger.surprises:
            return
        await sea.ledger.clock.sleep(0.05)
    sea.ledger.count("duels", duels.fought)


async def keep_alive(sea: Sea, role: Role) -> None:
    """Start a role again whenever it dies, as a supervisor does."""
    while not sea.is_over:
        try:
            await role()
        except StoreUnavailable:
            sea.ledger.count("unavailable")
        except RotaError as error:
            sea.ledger.surprises.append(f"{type(error).__name__}: {error}")
        except Exception:
            # The storm itself is broken: let all of it end, and say why.
            sea.is_over = True
            raise
        except asyncio.CancelledError:
            if not forget_cancelling():
                raise
            sea.ledger.count("kills")
        else:
            return


def forget_cancelling() -> bool:
    """A kill is a cancelled task whose connection is cut; the role then begins anew."""
    task = asyncio.current_task()
    return task is not None and task.uncancel() == 0


async def kill_some(sea: Sea, lives: list["asyncio.Task[None]"]) -> None:
    while not sea.is_calm:
        await sea.ledger.pause(2 * KILL_EVERY)
        sea.ledger.chance.choice(lives).cancel()


async def drain(sea: Sea, conn: Connection) -> None:
    """Let the schedulers come up to date, then everything end that can end."""
    await until_none(sea, conn, BEHIND, sea.calm_at)
    await conn.execute("update rota.cursors set fire_at = null")
    await until_none(sea, conn, LEFT)


async def until_none(sea: Sea, conn: Connection, question: str, *values: object) -> None:
    """Ask until nothing is left, or nothing moves any more. The machine may be slow; but there is
    no need to be patient with an engine that is known to be broken.
    """
    clock = sea.ledger.clock
    end = clock.monotonic() + (1.0 if sea.ledger.surprises else LONGEST_DRAIN)
    seen, since = None, clock.monotonic()
    while clock.monotonic() < min(end, since + STANDSTILL):
        left = await conn.fetchrow(question, *values)
        if left is None or left[0] == 0:
            return
        if left != seen:
            seen, since = left, clock.monotonic()
        await clock.sleep(0.05)


async def told(sea: Sea, conn: Connection) -> History:
    ledger = sea.ledger
    history = History(
        marks=ledger.marks,
        operations=ledger.operations,
        plans=ledger.plans,
        grants=ledger.grants(),
        uses=ledger.uses,
        needs=NEEDS,
    )
    await read_tables(conn, history)
    history.effects = [row[0] for row in await conn.fetch("select run_id from rota.storm_effects")]
    history.ended = sea.calm_at
    return history


def main() -> None:
    url, seed, seconds, *more = sys.argv[1:]
    found = asyncio.run(storm(url, int(seed), float(seconds), late="late" in more))
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
