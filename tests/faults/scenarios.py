"""The faults, one by one: what is done to the database, to a process or to the network.

A scenario is a name, a coroutine that carries it out, and the rules that it must keep to. `missing`
tells what this machine lacks for it, if anything.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import aiohttp

from tests.faults.client import UNAVAILABLE
from tests.faults.figures import Figures, measure_trial
from tests.faults.rules import Rules
from tests.faults.trial import Load, Trial
from tests.faults.up import ROUNDS, kill_everything
from tests.support.clocks import find_faketime, shift_clock
from tests.support.postgres import PostgresServer, running_postgres
from tests.support.silent_proxy import running_silent_proxy
from tests.support.small_disk import SmallDisk, can_mount, small_disk

Say = Callable[[str], object]
Run = Callable[[Path, Say], Coroutine[Any, Any, Figures]]
Strike = Callable[[Trial, PostgresServer], Awaitable[object]]
OUTAGE: Final = Rules(outage=True)
# Attempts that are under way when the database goes outlast the outage by this much.
LONGER_S: Final = 8.0
# Longer than the lease of a worker: such an attempt could meet its successor.
EXCLUSIVE_S: Final = 14.0


def need_nothing() -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    name: str
    title: str
    run: Run
    rules: Rules
    missing: Callable[[], str | None] = need_nothing


def on_server(
    strike: Strike,
    *,
    load: Load | None = None,
    variables: Mapping[str, Mapping[str, str]] | None = None,
) -> Run:
    """A trial on a server of its own, which the strike may stop."""

    async def run(folder: Path, say: Say) -> Figures:
        with running_postgres(folder) as server:
            trial = Trial(
                folder=folder,
                url=server.url,
                load=load or Load(),
                variables=variables or {},
                say=say,
            )
            await trial.run(lambda trial: strike(trial, server))
            return measure_trial(trial, violations=trial.violations)

    return run


def stop_server(mode: signal.Signals | None, away_s: float) -> Strike:
    """Stop the server in this mode, or kill it if there is none, and start it again later."""

    async def strike(trial: Trial, server: PostgresServer) -> None:
        if mode is None:
            await asyncio.to_thread(server.kill)
        else:
            await asyncio.to_thread(server.stop, mode)
        await trial.clock.sleep(away_s)
        await asyncio.to_thread(server.start)

    return strike


def freeze_server(seconds: float) -> Strike:
    async def strike(trial: Trial, server: PostgresServer) -> None:
        assert server.tree is not None
        server.tree.freeze()
        try:
            await trial.clock.sleep(seconds)
        finally:
            server.tree.thaw()

    return strike


async def leave_alone(trial: Trial, _server: PostgresServer) -> None:
    """The fault is there from the start: a clock that is off."""
    await trial.clock.sleep(10)


async def check_readiness(trial: Trial, server: PostgresServer) -> None:
    """An API whose clock is off by more than 30 s must report that it is not ready."""
    url = f"{trial.fleet.api_url}/readyz"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        if response.status != UNAVAILABLE:
            trial.violations.append(f"/readyz answered {response.status}, not {UNAVAILABLE}")
    await leave_alone(trial, server)


async def roll_all(trial: Trial, _server: PostgresServer) -> None:
    """SIGTERM to every process in turn, each started again when it has ended."""
    for member in trial.fleet.cluster.members:
        trial.say(f"SIGTERM to {member.name}")
        await trial.fleet.roll(member.name)
        await trial.clock.sleep(1)


def cut_worker(seconds: float, *, handler_s: float) -> Run:
    """One of two workers loses its way to the database: nothing arrives, nothing is refused."""

    async def run(folder: Path, say: Say) -> Figures:
        with (
            running_postgres(folder) as server,
            running_silent_proxy(folder, server.port) as proxy,
        ):
            url = server.url.replace(f":{server.port}/", f":{proxy.port}/")
            trial = Trial(
                folder=folder,
                url=server.url,
                load=Load(rate=15, after_s=25, long_s=seconds + LONGER_S, exclusive_s=EXCLUSIVE_S),
                variables={"worker-1": {"ROTA_DATABASE_URL": url}},
                once_s=handler_s,
                say=say,
            )

            async def strike(trial: Trial) -> None:
                proxy.tree.freeze()
                try:
                    await trial.clock.sleep(seconds)
                finally:
                    proxy.tree.thaw()

            await trial.run(strike)
            return measure_trial(trial)

    return run


async def fill_disk(folder: Path, say: Say) -> Figures:
    """The volume of the data is full for 20 s."""

    async def strike(trial: Trial, server: PostgresServer, disk: SmallDisk) -> None:
        try:
            for _ in range(20):
                disk.fill()
                await trial.clock.sleep(1)
        finally:
            disk.free()
        if server.tree is None or not server.tree.is_alive:
            trial.say("PostgreSQL ended; it is started again")
            await asyncio.to_thread(server.start)

    with small_disk(folder / "disk") as disk, running_postgres(disk.folder) as server:
        trial = Trial(folder=folder, url=server.url, say=say)
        await trial.run(lambda trial: strike(trial, server, disk))
        return measure_trial(trial)


def need_faketime() -> str | None:
    return None if find_faketime() else "libfaketime (apt-get install libfaketime)"


def need_mount() -> str | None:
    return None if can_mount() else "the right to mount a tmpfs"


def database_outages() -> list[Scenario]:
    def outage(name: str, title: str, strike: Strike, away_s: float) -> Scenario:
        run = on_server(strike, load=Load(long_s=away_s + LONGER_S))
        return Scenario(name=name, title=title, run=run, rules=OUTAGE)

    fast, immediate = signal.SIGINT, signal.SIGQUIT
    return [
        outage("restart", "restart, fast, at once", stop_server(fast, 0), 0),
        outage("stop-fast-5", "stop fast, away 5 s", stop_server(fast, 5), 5),
        outage("kill-5", "kill -9, away 5 s", stop_server(None, 5), 5),
        outage("kill-20", "kill -9, away 20 s", stop_server(None, 20), 20),
        outage("stop-immediate-60", "stop immediate, away 60 s", stop_server(immediate, 60), 60),
        outage("frozen-20", "database frozen 20 s", freeze_server(20), 20),
    ]


def worker_cuts() -> list[Scenario]:
    rules = Rules(may_end=frozenset({"worker-1"}))
    return [
        Scenario(
            name=f"cut-{seconds}",
            title=f"1 of 2 workers cut off {seconds} s",
            run=cut_worker(seconds, handler_s=handler_s),
            rules=rules,
        )
        for seconds, handler_s in ((5, 1.0), (15, 3.0), (60, 2.0))
    ]


def wrong_clocks() -> list[Scenario]:
    shifts = {
        # One of two: a scheduler whose clock is that far off leaves the ticks to the others.
        "clocks-ahead": {"scheduler-0": "+1h", "worker-0": "-1h"},
        "clocks-behind": {"scheduler-0": "-1h", "worker-0": "+1h"},
        "clock-api": {"api": "+1h"},
    }
    return [
        Scenario(
            name=name,
            title=", ".join(f"{who} {by}" for who, by in shift.items()),
            run=on_server(
                check_readiness if "api" in shift else leave_alone,
                load=Load(after_s=5),
                variables={who: shift_clock(by) for who, by in shift.items()},
            ),
            # Marks of a worker with another clock have another wall time.
            rules=Rules(not_judged=frozenset({"I4", "I5"})),
            missing=need_faketime,
        )
        for name, shift in shifts.items()
    ]


def others() -> list[Scenario]:
    return [
        Scenario(
            name="rota-up",
            title=f"`rota up`, kill -9 × {ROUNDS}",
            run=kill_everything,
            rules=Rules(),
        ),
        Scenario(
            name="disk-full",
            title="data disk full 20 s",
            run=fill_disk,
            rules=OUTAGE,
            missing=need_mount,
        ),
        Scenario(
            name="sigterm",
            title="SIGTERM of all in turn",
            run=on_server(roll_all, load=Load(rate=30, after_s=5)),
            rules=Rules(),
        ),
    ]


def list_scenarios() -> list[Scenario]:
    return [*database_outages(), *worker_cuts(), *wrong_clocks(), *others()]
