"""Runs one attempt of an ETL job: extract, transform, load.

All extracted data is copied to a work folder first; the transform sees nothing else. A retry after
an interruption extracts and transforms again, and continues loading after the last chunk that the
target's progress record counts (loading.py). A file appears under its name when it is complete.
"""

import asyncio
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from rota.contract.payloads.etl import EtlPayload
from rota.contract.schemas import render_schema
from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Stream
from rota.core.kind_descriptions import TaskDescription
from rota.core.outcome import Failed, Failure, Outcome, Succeeded
from rota.core.tenancy import DEFAULT_TENANT
from rota.core.time.durations import to_words
from rota.executors.sql.connections import Connections
from rota.executors.sql.etl.loading import Loaded, Loading
from rota.executors.sql.etl.spec import Etl, Extract, Files, Reach, Rows, Table, read_etl
from rota.executors.sql.etl.stores import Store
from rota.executors.sql.etl.workbench import (
    EtlLimits,
    Workbench,
    remove_abandoned,
    work_folder,
    workbench,
)
from rota.executors.sql.faults import Fault
from rota.executors.sql.folder import Folder
from rota.executors.sql.opening import session_of
from rota.executors.sql.staging import Staging
from rota.executors.sql.writing import stage

KIND: Final = "etl"
# Progress after extracting and after transforming, as fractions of the attempt.
EXTRACTED: Final = 0.4
TRANSFORMED: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """An extracted source: staged rows, or files."""

    extract: Extract
    staging: Staging | None = None
    paths: Sequence[Path] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EtlExecutor:
    connections: Connections = field(default_factory=Connections)
    folder: Folder = field(default_factory=lambda: Folder(None))
    limits: EtlLimits = field(default_factory=EtlLimits)

    @property
    def kinds(self) -> Sequence[str]:
        return (KIND,)

    def payload_schema(self, kind: str) -> Mapping[str, Any]:  # noqa: ARG002 — it has one kind
        return render_schema(EtlPayload)

    def describe_task(self, kind: str) -> TaskDescription:  # noqa: ARG002 — it has one kind
        return TaskDescription(
            text="Extracts rows or files, transforms them with SQL and loads the result."
        )

    def read(self, kind: str, payload: Any) -> Etl:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> Etl:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        connections = self.connections.of_tenant(tenant)
        return read_etl(payload, Reach(connections=connections, folder=self.folder, tenant=tenant))

    def target_of(self, spec: Etl) -> str | None:
        """Return the database if there is only one; of several, the faulty one is unknown."""
        sources = [extract.source for extract in spec.extracts]
        connections = {source.connection for source in sources if isinstance(source, Rows)}
        if isinstance(spec.target, Table):
            connections.add(spec.target.connection)
        targets = {connection.target for connection in connections}
        return targets.pop() if len(targets) == 1 else None

    async def open(self) -> None:
        await asyncio.to_thread(remove_abandoned, self.limits)

    async def close(self) -> None:
        pass

    async def run(self, spec: Etl, context: AttemptContext) -> Outcome:
        seconds = None if spec.timeout is None else spec.timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds) as limit:
                async with work_folder(self.limits) as work:
                    return Succeeded(result=await self._carry_out(spec, context, work))
        except Fault as fault:
            return fault.failed()
        except OSError as error:
            if isinstance(error, TimeoutError) and limit.expired() and spec.timeout is not None:
                message = f"exceeded its timeout of {to_words(spec.timeout)}"
                failure = Failure(type="timeout", message=message)
                return Failed(failure=failure, timed_out=True)
            failure = Failure(type="no file", message=f"file error: {error.strerror or error}")
            return Failed(failure=failure)

    async def _carry_out(self, spec: Etl, context: AttemptContext, work: Path) -> dict[str, Any]:
        if (earlier := await self._find_earlier_load(spec, context)) is not None:
            return earlier
        sources = []
        for number, extract in enumerate(spec.extracts, 1):
            sources.append(await self._extract(extract, context, work))
            tell(context, EXTRACTED * number / len(spec.extracts), f"extracted {extract.name}")
        readable = [path for source in sources for path in source.paths]
        async with workbench(work, self.limits, readable) as bench:
            counts = {source.extract.name: await lay_out(bench, source) for source in sources}
            rows = 0
            for step in spec.steps:
                rows = await bench.take(step, context)
            tell(context, TRANSFORMED, f"transformed into {rows} rows")
            loaded = await self._load(spec, bench, context, work, rows)
        tell(context, 1.0, f"loaded {rows} rows")
        return {"extracted": counts, **loaded}

    async def _find_earlier_load(self, spec: Etl, context: AttemptContext) -> dict[str, Any] | None:
        """Return the result of an earlier attempt whose worker died between commit and report.

        The run does not extract again: its sources may be gone by now.
        """
        if context.attempt == 1 or not isinstance(spec.target, Table):
            return None
        async with session_of(spec.target.connection) as session:
            loaded = await Loading(session, spec.target, (), context).finished()
        return None if loaded is None else {"extracted": {}, **summary(loaded, spec.target)}

    async def _extract(self, extract: Extract, context: AttemptContext, work: Path) -> Extracted:
        match extract.source:
            case Rows() as source:
                return await self._extract_rows(extract, source, context, work)
            case Files(store=None) as files:
                name = files.name.filled(context)
                paths = await asyncio.to_thread(self.folder.found, name)
            case Files(store=store) as files:
                name = files.name.filled(context)
                within = work / extract.name
                within.mkdir()
                assert store is not None  # noqa: S101 - see the case above; for mypy
                paths = await Store(store).fetch(name, within, self.limits)
        return Extracted(extract=extract, paths=paths)

    async def _extract_rows(
        self, extract: Extract, source: Rows, context: AttemptContext, work: Path
    ) -> Extracted:
        async with session_of(source.connection) as session:
            await session.begin(read_only=True)
            answer = await session.run(*source.statement.bound(session.dialect, context))
            if not answer.columns:
                message = f"the query of {extract.name} returns no rows"
                raise Fault(type_="no rows", message=message, final=True)
            path = work / f"{extract.name}.rows"
            types = dict(extract.types)
            staging = await stage(
                answer, path, answer.columns, types=types, most=self.limits.disk_bytes
            )
        return Extracted(extract=extract, staging=staging)

    async def _load(
        self, spec: Etl, bench: Workbench, context: AttemptContext, work: Path, rows: int
    ) -> dict[str, Any]:
        columns = await bench.columns()
        if isinstance(spec.target, Table):
            target = spec.target
            async with session_of(target.connection) as session:
                loading = Loading(session, target, columns, context)
                loaded = await loading.load(bench, total=rows, chunk_rows=spec.chunk_rows)
            if loaded.resumed:
                note = f"resumed after {loaded.resumed} chunks of an earlier attempt\n"
                context.write(Stream.ROTA, note.encode())
            return summary(loaded, target)
        name = spec.target.name.filled(context)
        await self._load_file(spec.target, name, bench, context, work)
        return {"rows": rows, "file": name}

    async def _load_file(
        self, target: Files, name: str, bench: Workbench, context: AttemptContext, work: Path
    ) -> None:
        result = work / "rota.out"
        await bench.write(result, target)
        if target.store is not None:
            await Store(target.store).put(result, name)
            return
        async with self.folder.writing(name, context) as part:
            await asyncio.to_thread(shutil.copyfile, result, part)


def summary(loaded: Loaded, target: Table) -> dict[str, Any]:
    return {
        "rows": loaded.rows,
        "chunks": loaded.chunks,
        "resumed_after": loaded.resumed,
        "table": target.name,
    }


async def lay_out(bench: Workbench, found: Extracted) -> int:
    if found.staging is not None:
        return await bench.add_rows(found.extract.name, found.staging)
    source = cast("Files", found.extract.source)
    return await bench.add_files(found.extract.name, source, found.paths)


def tell(context: AttemptContext, fraction: float, message: str) -> None:
    context.progress(fraction, message)
    context.write(Stream.ROTA, f"{message}\n".encode())
