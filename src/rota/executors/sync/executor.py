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
from rota.executors.sync.copier import Copier
from rota.executors.sync.folder_tree import FolderTree
from rota.executors.sync.object_tree import ObjectTree
from rota.executors.sync.places import FILES, SFTP, PlaceFolder, SyncPlace
from rota.executors.sync.planner import (
    DeleteStep,
    SyncComparison,
    SyncPlan,
    SyncPlanner,
    new_listing,
)
from rota.executors.sync.sftp_tree import SftpTree
from rota.executors.sync.spec import SyncOrder, read_order
from rota.executors.sync.spool import Sorter
from rota.executors.sync.tally import SyncTally, build_failed
from rota.executors.sync.thread_pool import SyncThreadPool
from rota.executors.sync.tree import (
    FileFailure,
    FileMissing,
    FileTree,
    SyncBroken,
    TemporaryNames,
    TreeEntry,
    is_safe_path,
    printable,
)
from rota.runtime.clock import AlarmClock, SystemClock

KIND = "sync"
T = TypeVar("T")


class SyncExecutor:
    """Reads and writes below `places` only; if it is empty, the kind is off."""

    def __init__(
        self, places: Iterable[SyncPlace] = (), *, clock: AlarmClock | None = None
    ) -> None:
        self._places: Mapping[str, SyncPlace] = {place.name: place for place in places}
        self._clock = clock or SystemClock()
        self._threads: SyncThreadPool | None = None

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,) if self._places else ()

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(SyncPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(text="Copies files that have changed from one place to another.")

    def read(self, kind: str, payload: Any) -> SyncOrder:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> SyncOrder:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        return read_order(payload, places=select_open(self._places, tenant), tenant=tenant)

    async def open(self) -> None:
        self._threads = SyncThreadPool()

    async def close(self) -> None:
        if self._threads is not None:
            self._threads.close()

    async def run(self, spec: SyncOrder, context: AttemptContext) -> Outcome:
        if self._threads is None:
            raise RuntimeError("call open() before the first run")
        tally = SyncTally(context=context, monotonic=self._clock.monotonic)
        names = TemporaryNames(context.run_id, context.attempt)
        source, target = self._tree(spec.source, names), self._tree(spec.target, names)
        attempt = SyncAttempt(spec, source, target, tally, self._threads)
        try:
            return await attempt.run()
        except SyncBroken as broken:
            return build_failed(broken.type, str(broken), final=broken.final)
        except BaseExceptionGroup as group:
            if (reason := find_broken(group)) is None:
                raise
            return build_failed(reason.type, str(reason), final=reason.final)

    def _tree(self, location: PlaceFolder, names: TemporaryNames) -> FileTree:
        threads = self._threads or SyncThreadPool()
        if location.place.scheme == FILES:
            return FolderTree(location=location, names=names, threads=threads, now=self._now)
        if location.place.scheme == SFTP:
            return SftpTree(location=location, names=names, threads=threads, now=self._now)
        return ObjectTree(location=location, threads=threads)

    def _now(self) -> float:
        return self._clock.now().timestamp()


class SyncAttempt:
    """The state of one attempt of a sync job."""

    def __init__(
        self,
        order: SyncOrder,
        source: FileTree,
        target: FileTree,
        tally: SyncTally,
        threads: SyncThreadPool,
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
                return build_failed("too much to delete", refusal, final=True)
            await self._carry_out(plan)
            self._tally.end()
        if self._tally.error_count:
            return self._tally.build_failed()
        if self._order.dry_run:
            return Succeeded(result=self._tally.build_dry_run_result(refusal))
        return Succeeded(result={**self._tally.build_result(), "links": self._source.seen.links})

    # --- planning: changes nothing

    async def _survey(self, stack: contextlib.AsyncExitStack) -> SyncPlan:
        if not await self._source.open(make=False):
            raise SyncBroken("no such folder", f"{self._source.shown} does not exist", final=True)
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
        planner = SyncPlanner(
            SyncComparison(
                mirror=self._order.mirror,
                checksum=self._order.checksum,
                nests=self._target.nests,
                grain=max(self._source.grain, self._target.grain),
            )
        )
        stack.callback(planner.plan.close)
        steps = planner.build_plan(sources, targets)
        while await self._threads.run(next, steps, steps) is None:
            pass
        self._tally.expect(planner.plan)
        return planner.plan

    async def _list(self, tree: FileTree, into: Sorter[TreeEntry]) -> None:
        async with contextlib.aclosing(tree.files()) as batches:
            async for batch in batches:
                await self._threads.run(self._choose, tree, batch, into)

    def _choose(self, tree: FileTree, batch: list[TreeEntry], into: Sorter[TreeEntry]) -> None:
        """Add the selected files; a server may send names that would lead out of the target."""
        for entry in batch:
            if not is_safe_path(entry.path):
                tree.seen.unlisted.append((entry.path, "invalid file name"))
        takes = self._order.choice.includes
        into.add(entry for entry in batch if is_safe_path(entry.path) and takes(entry.path))

    def _report_unlisted(self, tree: FileTree) -> None:
        seen = tree.seen
        for path, reason in seen.unlisted:
            self._tally.record_error(path, f"cannot be listed in {tree.shown}: {reason}")
        if seen.links or seen.specials:
            kinds = f"{seen.links} links and {seen.specials} special files"
            self._tally.log_line(f"skipped in {tree.shown}: {kinds}")

    def _refuse_overlap(self) -> None:
        """Refuse overlapping folders: their names differ, but links may make them the same."""
        source, target = self._source, self._target
        if isinstance(source, FolderTree) and isinstance(target, FolderTree):
            here, there = source.real_path(), target.real_path()
            if here == there or here in there.parents or there in here.parents:
                message = f"{source.shown} and {target.shown} overlap on disk"
                raise SyncBroken("folders overlap", message, final=True)

    def _refusal(self, plan: SyncPlan) -> str | None:
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

    async def _carry_out(self, plan: SyncPlan) -> None:
        if not self._order.dry_run:
            await self._sweep()
        copy, remove = self._copier.copy_file, self._remove
        await self._run_parallel(plan.steps, copy)
        # A file of the target may be the last copy of a file that was not listed or not copied.
        if not self._tally.error_count:
            await self._run_parallel(plan.obstacles, remove)
            await self._run_parallel(plan.late, copy)
        if not self._tally.error_count:
            await self._run_parallel(plan.removals, remove)
        elif plan.removals.count:
            self._tally.log_line("nothing more was deleted, because some files could not be copied")

    async def _remove(self, removal: DeleteStep) -> None:
        await self._copier.delete_file(removal.path)

    async def _sweep(self) -> None:
        """Delete temporary files that a crashed attempt left in the target."""
        for path in self._target.seen.leftovers:
            with contextlib.suppress(FileFailure, FileMissing):
                await self._target.delete(path)
                self._tally.log_line(f"removed leftover {printable(path)}")

    async def _run_parallel(self, items: Iterable[T], act: Callable[[T], Awaitable[None]]) -> None:
        """Call `act` for all items, up to `parallel` at a time."""
        shared = iter(items)

        async def work() -> None:
            for item in shared:
                await act(item)

        async with asyncio.TaskGroup() as group:
            for _ in range(self._order.parallel):
                group.create_task(work())


def find_broken(group: BaseExceptionGroup[BaseException]) -> SyncBroken | None:
    """Return the first `Broken` of a group that contains nothing else."""
    broken, rest = group.split(SyncBroken)
    if rest is not None or broken is None:
        return None
    first: BaseException = broken
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first if isinstance(first, SyncBroken) else None
