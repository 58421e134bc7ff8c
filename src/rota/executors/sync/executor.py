"""One attempt of a sync job: plan, guard, copy, delete. Room: executors/sync.

Both sides are listed, the plan is judged before anything is touched, files are copied side by side,
and only if every one of them arrived a mirror deletes. A later attempt finds what has arrived and
goes on with the rest. Nothing about a job says how a place is reached; that is places.py.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from rota.contract.payloads.sync import SyncPayload
from rota.contract.schemas import render_schema
from rota.core.describing import TaskDescription
from rota.core.errors import InvalidInput
from rota.core.executor import Context
from rota.core.outcome import Outcome, Succeeded
from rota.core.tenancy import DEFAULT_TENANT, select_open
from rota.executors.sync.copying import Copier
from rota.executors.sync.folders import FolderTree
from rota.executors.sync.objects import ObjectTree
from rota.executors.sync.places import FILES, SFTP, Location, Place
from rota.executors.sync.planning import Comparison, Plan, Planner, Removal, new_listing
from rota.executors.sync.sftp import SftpTree
from rota.executors.sync.spec import Order, read_order
from rota.executors.sync.spool import Sorter
from rota.executors.sync.tally import Tally, failed
from rota.executors.sync.threads import Threads
from rota.executors.sync.tree import (
    Broken,
    Entry,
    Gone,
    TemporaryNames,
    Tree,
    Trouble,
    is_plain,
    printable,
)
from rota.runtime.clock import AlarmClock, SystemClock

KIND = "sync"
T = TypeVar("T")


class SyncExecutor:
    """Reads and writes below `places` only; without any, the kind is off."""

    def __init__(self, places: Iterable[Place] = (), *, clock: AlarmClock | None = None) -> None:
        self._places: Mapping[str, Place] = {place.name: place for place in places}
        self._clock = clock or SystemClock()
        self._threads: Threads | None = None

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._places else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one
        return render_schema(SyncPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one
        return TaskDescription(text="Copies files that have changed from one place to another.")

    def read(self, kind: str, payload: Any) -> Order:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> Order:
        if kind != KIND:
            raise InvalidInput("kind", kind, KIND)
        return read_order(payload, places=select_open(self._places, tenant), tenant=tenant)

    async def open(self) -> None:
        self._threads = Threads()

    async def close(self) -> None:
        if self._threads is not None:
            self._threads.close()

    async def run(self, spec: Order, context: Context) -> Outcome:
        if self._threads is None:
            raise RuntimeError("open() comes before the first run")
        tally = Tally(context=context, monotonic=self._clock.monotonic)
        names = TemporaryNames(context.run_id, context.attempt)
        source, target = self._tree(spec.source, names), self._tree(spec.target, names)
        attempt = Attempt(spec, source, target, tally, self._threads)
        try:
            return await attempt.run()
        except Broken as broken:
            return failed(broken.type, str(broken), final=broken.final)
        except BaseExceptionGroup as group:
            if (reason := first_broken(group)) is None:
                raise
            return failed(reason.type, str(reason), final=reason.final)

    def _tree(self, location: Location, names: TemporaryNames) -> Tree:
        threads = self._threads or Threads()
        if location.place.scheme == FILES:
            return FolderTree(location=location, names=names, threads=threads, now=self._now)
        if location.place.scheme == SFTP:
            return SftpTree(location=location, names=names, threads=threads, now=self._now)
        return ObjectTree(location=location, threads=threads)

    def _now(self) -> float:
        return self._clock.now().timestamp()


class Attempt:
    """What one run of the job needs while it lasts."""

    def __init__(
        self, order: Order, source: Tree, target: Tree, tally: Tally, threads: Threads
    ) -> None:
        self._order = order
        self._source = source
        self._target = target
        self._tally = tally
        self._threads = threads
        self._copier = Copier(
            source=source,
            target=target,
            tally=tally,
            threads=threads,
            checksum=order.checksum,
            dry_run=order.dry_run,
        )

    async def run(self) -> Outcome:
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(self._source.close)
            stack.push_async_callback(self._target.close)
            plan = await self._survey(stack)
            refusal = self._refusal(plan)
            if refusal is not None and not self._order.dry_run:
                return failed("too much to delete", refusal, final=True)
            await self._carry_out(plan)
            self._tally.end()
        if self._tally.troubles:
            return self._tally.failed()
        if self._order.dry_run:
            return Succeeded(result=self._tally.foretold(refusal))
        return Succeeded(result={**self._tally.result(), "links": self._source.seen.links})

    # --- before anything is touched

    async def _survey(self, stack: contextlib.AsyncExitStack) -> Plan:
        if not await self._source.open(make=False):
            raise Broken("no such folder", f"there is no folder {self._source.shown}", final=True)
        has_target = await self._target.open(make=not self._order.dry_run)
        self._refuse_overlap()
        sources, targets = new_listing(), new_listing()
        stack.callback(sources.close)
        stack.callback(targets.close)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._list(self._source, sources))
            if has_target:
                group.create_task(self._list(self._target, targets))
        for tree in (self._source, self._target):
            self._tell_unlisted(tree)
        planner = Planner(
            Comparison(
                mirror=self._order.mirror,
                checksum=self._order.checksum,
                nests=self._target.nests,
                grain=max(self._source.grain, self._target.grain),
            )
        )
        stack.callback(planner.plan.close)
        steps = planner.steps(sources, targets)
        while await self._threads.run(next, steps, steps) is None:
            pass
        self._tally.expect(planner.plan)
        return planner.plan

    async def _list(self, tree: Tree, into: Sorter[Entry]) -> None:
        async with contextlib.aclosing(tree.files()) as batches:
            async for batch in batches:
                await self._threads.run(self._choose, tree, batch, into)

    def _choose(self, tree: Tree, batch: list[Entry], into: Sorter[Entry]) -> None:
        """A server may say anything, also a name that would lead out of the target."""
        for entry in batch:
            if not is_plain(entry.path):
                tree.seen.closed.append((entry.path, "no file can have this name"))
        chosen = self._order.choice.takes
        into.add(entry for entry in batch if is_plain(entry.path) and chosen(entry.path))

    def _tell_unlisted(self, tree: Tree) -> None:
        seen = tree.seen
        for path, reason in seen.closed:
            self._tally.trouble(path, f"it cannot be listed in {tree.shown}: {reason}")
        if seen.links or seen.specials:
            kinds = f"{seen.links} links and {seen.specials} special files"
            self._tally.say(f"left alone in {tree.shown}: {kinds}")

    def _refuse_overlap(self) -> None:
        """Names told that the two are apart; links of the operator's may say otherwise."""
        source, target = self._source, self._target
        if isinstance(source, FolderTree) and isinstance(target, FolderTree):
            here, there = source.real_path(), target.real_path()
            if here == there or here in there.parents or there in here.parents:
                message = f"{source.shown} and {target.shown} are one folder, or one in the other"
                raise Broken("folders overlap", message, final=True)

    def _refusal(self, plan: Plan) -> str | None:
        """Why a mirror may not do what it would (an unmounted disk looks like an empty folder)."""
        many = plan.deletions
        if not many:
            return None
        if plan.sources == 0 and not self._order.allow_empty:
            return (
                f"{self._source.shown} has no files and {many} of {self._target.shown} would be "
                "deleted; allow_empty permits that"
            )
        if many > self._order.max_delete:
            return (
                f"{many} files of {self._target.shown} would be deleted and max_delete is "
                f"{self._order.max_delete}"
            )
        return None

    # --- then

    async def _carry_out(self, plan: Plan) -> None:
        if not self._order.dry_run:
            await self._sweep()
        copy, remove = self._copier.carry, self._remove
        await self._each(plan.steps, copy)
        # What was not listed or not copied may be what a file of the target is the last copy of.
        if not self._tally.troubles:
            await self._each(plan.obstacles, remove)
            await self._each(plan.late, copy)
        if not self._tally.troubles:
            await self._each(plan.removals, remove)
        elif plan.removals.count:
            self._tally.say("the rest was not deleted, because not everything could be copied")

    async def _remove(self, removal: Removal) -> None:
        await self._copier.remove(removal.path)

    async def _sweep(self) -> None:
        """What a crashed attempt left in the target."""
        for path in self._target.seen.leftovers:
            with contextlib.suppress(Trouble, Gone):
                await self._target.delete(path)
                self._tally.say(f"removed a leftover, {printable(path)}")

    async def _each(self, items: Iterable[T], act: Callable[[T], Awaitable[None]]) -> None:
        """Act on all of them, a few at the same time."""
        feed = iter(items)

        async def take_turns() -> None:
            for item in feed:
                await act(item)

        async with asyncio.TaskGroup() as group:
            for _ in range(self._order.parallel):
                group.create_task(take_turns())


def first_broken(group: BaseExceptionGroup[BaseException]) -> Broken | None:
    """The reason why the attempt ended, if there is nothing else in the group."""
    broken, rest = group.split(Broken)
    if rest is not None or broken is None:
        return None
    found: BaseException = broken
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found if isinstance(found, Broken) else None
