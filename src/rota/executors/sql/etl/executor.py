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
from rota.executors.sql.connections import SqlConnections
from rota.executors.sql.data_folder import DataFolder
from rota.executors.sql.etl.object_store import EtlObjectStore
from rota.executors.sql.etl.spec import (
    EtlPlan,
    EtlResources,
    ExtractStep,
    FileSet,
    LoadTable,
    QuerySource,
    read_etl,
)
from rota.executors.sql.etl.table_loader import LoadResult, TableLoader
from rota.executors.sql.etl.transform_database import (
    EtlLimits,
    TransformDatabase,
    open_transform_database,
    open_work_folder,
    remove_abandoned_folders,
)
from rota.executors.sql.faults import SqlFault
from rota.executors.sql.row_staging import RowStaging
from rota.executors.sql.row_writer import stage_rows
from rota.executors.sql.session_opener import open_session

KIND: Final = "etl"
# Progress after extracting and after transforming, as fractions of the attempt.
EXTRACTED_PROGRESS: Final = 0.4
TRANSFORMED_PROGRESS: Final = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedSource:
    """An extracted source: staged rows, or files."""

    extract: ExtractStep
    staging: RowStaging | None = None
    paths: Sequence[Path] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EtlExecutor:
    connections: SqlConnections = field(default_factory=SqlConnections)
    folder: DataFolder = field(default_factory=lambda: DataFolder(None))
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

    def read(self, kind: str, payload: Any) -> EtlPlan:
        return self.read_for(DEFAULT_TENANT, kind, payload)

    def read_for(self, tenant: str, kind: str, payload: Any) -> EtlPlan:
        if kind != KIND:
            raise InvalidInput("kind", kind, f"expected {KIND}")
        connections = self.connections.for_tenant(tenant)
        return read_etl(
            payload, EtlResources(connections=connections, folder=self.folder, tenant=tenant)
        )

    def target_of(self, spec: EtlPlan) -> str | None:
        """Return the database if there is only one; of several, the faulty one is unknown."""
        sources = [extract.source for extract in spec.extracts]
        connections = {source.connection for source in sources if isinstance(source, QuerySource)}
        if isinstance(spec.target, LoadTable):
            connections.add(spec.target.connection)
        targets = {connection.target for connection in connections}
        return targets.pop() if len(targets) == 1 else None

    async def open(self) -> None:
        await asyncio.to_thread(remove_abandoned_folders, self.limits)

    async def close(self) -> None:
        pass

    async def run(self, spec: EtlPlan, context: AttemptContext) -> Outcome:
        seconds = None if spec.timeout is None else spec.timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds) as limit:
                async with open_work_folder(self.limits) as work:
                    return Succeeded(result=await self._carry_out(spec, context, work))
        except SqlFault as fault:
            return fault.to_failed()
        except OSError as error:
            if isinstance(error, TimeoutError) and limit.expired() and spec.timeout is not None:
                message = f"exceeded its timeout of {to_words(spec.timeout)}"
                failure = Failure(type="timeout", message=message)
                return Failed(failure=failure, timed_out=True)
            failure = Failure(type="no file", message=f"file error: {error.strerror or error}")
            return Failed(failure=failure)

    async def _carry_out(
        self, spec: EtlPlan, context: AttemptContext, work: Path
    ) -> dict[str, Any]:
        if (earlier := await self._find_earlier_load(spec, context)) is not None:
            return earlier
        sources = []
        for number, extract in enumerate(spec.extracts, 1):
            sources.append(await self._extract(extract, context, work))
            report_progress(
                context,
                EXTRACTED_PROGRESS * number / len(spec.extracts),
                f"extracted {extract.name}",
            )
        readable = [path for source in sources for path in source.paths]
        async with open_transform_database(work, self.limits, readable) as bench:
            counts = {source.extract.name: await add_source(bench, source) for source in sources}
            rows = 0
            for step in spec.steps:
                rows = await bench.run_step(step, context)
            report_progress(context, TRANSFORMED_PROGRESS, f"transformed into {rows} rows")
            loaded = await self._load(spec, bench, context, work, rows)
        report_progress(context, 1.0, f"loaded {rows} rows")
        return {"extracted": counts, **loaded}

    async def _find_earlier_load(
        self, spec: EtlPlan, context: AttemptContext
    ) -> dict[str, Any] | None:
        """Return the result of an earlier attempt whose worker died between commit and report.

        The run does not extract again: its sources may be gone by now.
        """
        if context.attempt == 1 or not isinstance(spec.target, LoadTable):
            return None
        async with open_session(spec.target.connection) as session:
            loaded = await TableLoader(session, spec.target, (), context).find_finished()
        return None if loaded is None else {"extracted": {}, **summarize_load(loaded, spec.target)}

    async def _extract(
        self, extract: ExtractStep, context: AttemptContext, work: Path
    ) -> ExtractedSource:
        match extract.source:
            case QuerySource() as source:
                return await self._extract_rows(extract, source, context, work)
            case FileSet(store=None) as files:
                name = files.name.fill(context)
                paths = await asyncio.to_thread(self.folder.find_files, name)
            case FileSet(store=store) as files:
                name = files.name.fill(context)
                within = work / extract.name
                within.mkdir()
                assert store is not None  # noqa: S101 - see the case above; for mypy
                paths = await EtlObjectStore(store).fetch(name, within, self.limits)
        return ExtractedSource(extract=extract, paths=paths)

    async def _extract_rows(
        self, extract: ExtractStep, source: QuerySource, context: AttemptContext, work: Path
    ) -> ExtractedSource:
        async with open_session(source.connection) as session:
            await session.begin(read_only=True)
            answer = await session.run(*source.statement.bind(session.dialect, context))
            if not answer.columns:
                message = f"the query of {extract.name} returns no rows"
                raise SqlFault(type_="no rows", message=message, final=True)
            path = work / f"{extract.name}.rows"
            types = dict(extract.types)
            staging = await stage_rows(
                answer, path, answer.columns, types=types, max_bytes=self.limits.disk_bytes
            )
        return ExtractedSource(extract=extract, staging=staging)

    async def _load(
        self,
        spec: EtlPlan,
        bench: TransformDatabase,
        context: AttemptContext,
        work: Path,
        rows: int,
    ) -> dict[str, Any]:
        columns = await bench.read_columns()
        if isinstance(spec.target, LoadTable):
            target = spec.target
            async with open_session(target.connection) as session:
                loading = TableLoader(session, target, columns, context)
                loaded = await loading.load(bench, total=rows, chunk_rows=spec.chunk_rows)
            if loaded.resumed:
                note = f"resumed after {loaded.resumed} chunks of an earlier attempt\n"
                context.write(Stream.ROTA, note.encode())
            return summarize_load(loaded, target)
        name = spec.target.name.fill(context)
        await self._load_file(spec.target, name, bench, context, work)
        return {"rows": rows, "file": name}

    async def _load_file(
        self,
        target: FileSet,
        name: str,
        bench: TransformDatabase,
        context: AttemptContext,
        work: Path,
    ) -> None:
        result = work / "rota.out"
        await bench.write_file(result, target)
        if target.store is not None:
            await EtlObjectStore(target.store).put(result, name)
            return
        async with self.folder.write_file(name, context) as part:
            await asyncio.to_thread(shutil.copyfile, result, part)


def summarize_load(loaded: LoadResult, target: LoadTable) -> dict[str, Any]:
    return {
        "rows": loaded.rows,
        "chunks": loaded.chunks,
        "resumed_after": loaded.resumed,
        "table": target.name,
    }


async def add_source(bench: TransformDatabase, found: ExtractedSource) -> int:
    if found.staging is not None:
        return await bench.add_rows(found.extract.name, found.staging)
    source = cast("FileSet", found.extract.source)
    return await bench.add_files(found.extract.name, source, found.paths)


def report_progress(context: AttemptContext, fraction: float, message: str) -> None:
    context.progress(fraction, message)
    context.write(Stream.ROTA, f"{message}\n".encode())
