"""The client of a chaos run: asks for things all the time and writes down what it was answered.

`ok` means acknowledged, `fail` refused, and `info` that the connection broke: it may have happened
or not. It uses the same functions as every client of Rota, on one connection that is opened anew
whenever it broke.
"""

import json
from asyncio import Event
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from time import monotonic_ns
from typing import Any, Final
from uuid import UUID

from rota.core.errors import RotaError, StoreUnavailable
from rota.core.ids import build_id, rebuild_id
from rota.core.limits import JobLimit
from rota.core.overlap import Overlap
from rota.core.submissions import JobSpec, RunSpec
from rota.engine.submission.job_changes import JobChanges, edit_job, pause_job, resume_job
from rota.engine.submission.job_submission import submit_jobs
from rota.engine.submission.run_triggers import run_now, submit_runs
from rota.runtime.clock import SystemClock
from rota.store import live_runs
from rota.store.driver import Connection
from rota.store.pool import DatabaseAccess, DedicatedConnection
from tests.chaos.history import Operation, Plan
from tests.chaos.menu import BY_HAND, HALF, MENU, RESTLESS, Dish

MOST_AT_ONCE: Final = 12
RECENT: Final = 40
LONGEST_PAUSE: Final = 0.12

Ask = Callable[[Connection], Awaitable[str]]


@dataclass(kw_only=True)
class Load:
    url: str
    chance: Random
    log: Path
    clock: SystemClock = field(default_factory=SystemClock)
    operations: list[Operation] = field(default_factory=list)
    plans: dict[UUID, Plan] = field(default_factory=dict)
    is_ready: Event = field(default_factory=Event)
    is_over: bool = False
    by_hand: list[UUID] = field(default_factory=list)
    restless: list[UUID] = field(default_factory=list)
    runs: list[RunSpec] = field(default_factory=list)
    line: DedicatedConnection = field(init=False)

    async def run(self) -> None:
        self.line = DedicatedConnection(
            DatabaseAccess(
                url=self.url, name="chaos client", statement_timeout=timedelta(seconds=3)
            )
        )
        await self._create_all(MENU)
        self.restless = await self._create_all([RESTLESS])
        self.by_hand = await self._create_all(BY_HAND)
        self.is_ready.set()
        wishes = (self._bulk, self._bulk, self._again, self._cancel, self._cancel, self._hold)
        while not self.is_over:
            await self.chance.choice((*wishes, self._once, self._now, self._edit))()
            await self.clock.sleep(self.chance.random() * LONGEST_PAUSE)
        self.line.close()
        self._keep()

    async def _create_all(self, dishes: Sequence[Dish]) -> list[UUID]:
        return [await self._create(dish) for dish in dishes for _ in range(dish.number)]

    async def _create(self, dish: Dish) -> UUID:
        """Ask for a job, or with a time for a submission; what is expected of it is known before
        the answer. The id of a submission begins with its time.
        """
        now = self.clock.now()
        job_id = self._new_id() if dish.at is None else rebuild_id(self._new_id(), dish.at)
        anchor = dish.at or (now.replace(microsecond=0) if dish.every else None)
        spec = JobSpec(
            name=f"{dish.name} {job_id}",
            kind=dish.kind,
            schedule=scheduled(dish, anchor),
            payload=dish.payload,
            graph=dish.graph,
            policy=dish.policy,
            overlap=Overlap(dish.overlap),
            limits=() if dish.key is None else (JobLimit(key=dish.key, max_running=dish.most),),
        )
        self.plans[job_id] = planned(dish, job_id, now, anchor)

        async def ask(conn: Connection) -> str:
            await submit_jobs(conn, [spec], now=now, new_id=lambda: job_id)
            return ""

        await self._ask("create" if dish.at is None else "submit", [job_id], ask)
        return job_id

    async def _once(self) -> None:
        """A submission for an instant of the next few seconds."""
        at = self.clock.now() + timedelta(seconds=self.chance.randint(1, 4))
        await self._create(Dish(name="once", kind="chaos.quick", at=at.replace(microsecond=0)))

    async def _bulk(self) -> None:
        now = self.clock.now()
        specs = [
            RunSpec(
                job_id=self.chance.choice(self.by_hand),
                id=self._new_id(),
                due_at=now + self.chance.choice((0, 0, 1)) * HALF,
            )
            for _ in range(self.chance.randint(1, MOST_AT_ONCE))
        ]
        self.runs = [*self.runs, *specs][-RECENT:]
        await self._submit(specs)

    async def _again(self) -> None:
        """The same request again, as after a lost answer."""
        if self.runs:
            await self._submit(self.chance.sample(self.runs, min(3, len(self.runs))))

    async def _submit(self, specs: list[RunSpec]) -> None:
        async def ask(conn: Connection) -> str:
            await submit_runs(conn, specs, now=self.clock.now(), new_id=self._new_id)
            return ""

        await self._ask("submit", [spec.id for spec in specs if spec.id is not None], ask)

    async def _now(self) -> None:
        spec = RunSpec(job_id=self.chance.choice(self.by_hand), id=self._new_id())

        async def ask(conn: Connection) -> str:
            done = await run_now(conn, spec, now=self.clock.now(), new_id=self._new_id)
            return done.refused or ""

        assert spec.id is not None
        await self._ask("submit", [spec.id], ask)

    async def _cancel(self) -> None:
        if not self.runs:
            return
        run_id = self.chance.choice(self.runs).id
        assert run_id is not None

        async def ask(conn: Connection) -> str:
            moved = await live_runs.cancel_runs(conn, ids=[run_id])
            return moved[0].state.value if moved else "too late"

        await self._ask("cancel", [run_id], ask)

    async def _hold(self) -> None:
        """Pause a restless job, or let it go on."""
        job_id = self.chance.choice(self.restless)
        verb = self.chance.choice(("pause", "resume"))

        async def ask(conn: Connection) -> str:
            if verb == "pause":
                await pause_job(conn, job_id, by="chaos", now=self.clock.now())
            else:
                await resume_job(conn, job_id, now=self.clock.now())
            return ""

        await self._ask(verb, [job_id], ask)

    async def _edit(self) -> None:
        """Another payload: the version rises while ticks are on their way, the schedule stays."""
        job_id = self.chance.choice(self.restless)

        async def ask(conn: Connection) -> str:
            changed = JobChanges(payload={"edited": self.chance.random()})
            await edit_job(conn, job_id, changed, now=self.clock.now())
            return ""

        await self._ask("edit", [job_id], ask)

    async def _ask(self, verb: str, things: list[UUID], ask: Ask) -> None:
        """Ask, and write down how it was answered."""
        invoked, invoked_wall = monotonic_ns(), self.clock.now()
        outcome, answer = "ok", ""
        try:
            async with self.line.acquire() as conn:
                answer = await ask(conn)
        except StoreUnavailable as error:
            outcome, answer = "info", str(error)
        except RotaError as error:
            outcome, answer = "fail", str(error)
        for thing in things:
            self.operations.append(
                Operation(
                    verb=verb,
                    thing=thing,
                    invoked=invoked,
                    returned=monotonic_ns(),
                    invoked_wall=invoked_wall,
                    returned_wall=self.clock.now(),
                    outcome=outcome,
                    answer=answer,
                )
            )

    def _new_id(self) -> UUID:
        return build_id(self.clock.now(), self.chance.randbytes(10))

    def _keep(self) -> None:
        with self.log.open("w", encoding="utf-8") as lines:
            for each in self.operations:
                told = {name: getattr(each, name) for name in Operation.__slots__}
                lines.write(json.dumps(told, default=str) + "\n")


def scheduled(dish: Dish, anchor: datetime | None) -> dict[str, Any]:
    """The schedule as it is handed in, with everything said that the checker counts on."""
    if anchor is None:
        return dish.schedule
    if dish.every is None:
        return {"at": anchor.isoformat()}
    return {"every": {"interval": f"{dish.every.total_seconds()}s", "anchor": anchor.isoformat()}}


def planned(dish: Dish, job_id: UUID, now: datetime, anchor: datetime | None) -> Plan:
    """What is due is due from the time of asking on, however late the answer came."""
    has_ticks = dish.cron_step is not None or anchor is not None
    return Plan(
        job_id=job_id,
        kind=dish.kind,
        cron_step=dish.cron_step,
        anchor=anchor,
        every=dish.every,
        may_from=now if has_ticks else None,
        must_from=now if has_ticks else None,
        overlap=dish.overlap,
        guarantee=dish.guarantee.value,
        retries=dish.policy.retries.max_retries,
        least_delay=HALF,
        key=dish.key,
        most=dish.most,
        has_effects=dish.kind == "chaos.effect",
    )
