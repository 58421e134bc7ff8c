"""Runs one attempt of a sync job: plan, check, copy, delete.

The attempt lists both sides, checks the plan before it changes anything, and copies files in
parallel. A mirror deletes only if every file was copied. A later attempt skips files that have
arrived and continues with the rest. The settings define how to reach a place, never the job.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from rota.contract.payloads.sync import SyncPayload
from rota.contract.schemas import render_schema
from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext
from rota.core.kind_descriptions import TaskDescription
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
    """Reads and writes below `places` only; if it is empty, the kind is off."""

    def __init__(self, places: Iterable[Place] = (), *, clock: AlarmClock | None = None) -> None:
        self._places: Mapping[str, Place] = {place.name: place for place in places}
        self._clock = clock or SystemClock()
        self._threads: Threads | None = None

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._places else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(SyncPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Copies files that have changed from one place to another.")

    def read(self, kind: str, payload: Any) -> Order:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> Order:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        return read_order(payload, places=select_open(self._places, tenant), tenant=tenant)

    async def open(self) -> None:
        self._threads = Threads()

    async def close(self) -> None:
        if self._threads is not None:
            self._threads.close()

    async def run(self, spec: Order, context: AttemptContext) -> Outcome:
        if self._threads is None:
            raise RuntimeError("call open() before the first run")
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
    """The state of one attempt of a sync job."""

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

    # --- planning: changes nothing

    async def _survey(self, stack: contextlib.AsyncExitStack) -> Plan:
        if not await self._source.open(make=False):
            raise Broken("no such folder", f"{self._source.shown} does not exist", final=True)
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
            self._report_unlisted(tree)
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
        """Add the selected files; a server may send names that would lead out of the target."""
        for entry in batch:
            if not is_plain(entry.path):
                tree.seen.closed.append((entry.path, "invalid file name"))
        takes = self._order.choice.takes
        into.add(entry for entry in batch if is_plain(entry.path) and takes(entry.path))

    def _report_unlisted(self, tree: Tree) -> None:
        seen = tree.seen
        for path, reason in seen.closed:
            self._tally.trouble(path, f"cannot be listed in {tree.shown}: {reason}")
        if seen.links or seen.specials:
            kinds = f"{seen.links} links and {seen.specials} special files"
            self._tally.say(f"skipped in {tree.shown}: {kinds}")

    def _refuse_overlap(self) -> None:
        """Refuse overlapping folders: their names differ, but links may make them the same."""
        source, target = self._source, self._target
        if isinstance(source, FolderTree) and isinstance(target, FolderTree):
            here, there = source.real_path(), target.real_path()
            if here == there or here in there.parents or there in here.parents:
                message = f"{source.shown} and {target.shown} overlap on disk"
                raise Broken("folders overlap", message, final=True)

    def _refusal(self, plan: Plan) -> str | None:
        """Return why a mirror may not delete: an unmounted disk looks like an empty folder."""
        count = plan.deletions
        if not count:
            return None
        if plan.sources == 0 and not self._order.allow_empty:
            return (
                f"{self._source.shown} has no files, so {count} files of {self._target.shown} "
                "would be deleted; set allow_empty to permit that"
            )
        if count > self._order.max_delete:
            return (
                f"{count} files of {self._target.shown} would be deleted, but max_delete is "
                f"{self._order.max_delete}"
            )
        return None

    # --- execution

    async def _carry_out(self, plan: Plan) -> None:
        if not self._order.dry_run:
            await self._sweep()
        copy, remove = self._copier.carry, self._remove
        await self._run_parallel(plan.steps, copy)
        # A file of the target may be the last copy of a file that was not listed or not copied.
        if not self._tally.troubles:
            await self._run_parallel(plan.obstacles, remove)
            await self._run_parallel(plan.late, copy)
        if not self._tally.troubles:
            await self._run_parallel(plan.removals, remove)
        elif plan.removals.count:
            self._tally.say("nothing more was deleted, because some files could not be copied")

    async def _remove(self, removal: Removal) -> None:
        await self._copier.remove(removal.path)

    async def _sweep(self) -> None:
        """Delete temporary files that a crashed attempt left in the target."""
        for path in self._target.seen.leftovers:
            with contextlib.suppress(Trouble, Gone):
                await self._target.delete(path)
                self._tally.say(f"removed leftover {printable(path)}")

    async def _run_parallel(self, items: Iterable[T], act: Callable[[T], Awaitable[None]]) -> None:
        """Call `act` for all items, up to `parallel` at a time."""
        shared = iter(items)

        async def work() -> None:
            for item in shared:
                await act(item)

        async with asyncio.TaskGroup() as group:
            for _ in range(self._order.parallel):
                group.create_task(work())


def first_broken(group: BaseExceptionGroup[BaseException]) -> Broken | None:
    """Return the first `Broken` of a group that contains nothing else."""
    broken, rest = group.split(Broken)
    if rest is not None or broken is None:
        return None
    first: BaseException = broken
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, Broken) else None
