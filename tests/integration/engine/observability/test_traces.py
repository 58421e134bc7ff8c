"""Traces: what a collector gets of requests and attempts, and what it costs if it is away (O6).

The whole way, through a real process, is tests/integration/cli/test_traces.py.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.integration.engine.observability import traced_jobs
from tests.support.collecting import Collecting, collecting
from tests.support.serving import serving
from tests.support.shop import CLOCK, Shop, open_shop

from rota.cli.doctor.collector import check_collector
from rota.config.settings import Settings, TraceSettings
from rota.core.errors import InvalidSetting
from rota.core.executor import AttemptContext
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState
from rota.engine.observability.otel.collector import Collector
from rota.engine.observability.otel.span_sender import SpanSender
from rota.engine.observability.otel.span_writer import OtelTraceWriter
from rota.engine.observability.tracing import build_collector_url
from rota.executors.http import HttpExecutor, TargetGuard
from rota.executors.python import PythonExecutor
from rota.executors.python.contexts import BlockingContext
from rota.executors.shell import ShellExecutor
from rota.processes.traces import build_headers, open_traces
from rota.runtime.events import SpansLost
from rota.runtime.service import ServiceContext
from rota.runtime.watchdog import Watchdog

SECRET = "wine-dark-sea"
CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
ONCE_MORE = RetryPolicy(
    max_retries=1, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
)


@pytest.fixture
def collector() -> Iterator[Collecting]:
    with collecting() as made:
        yield made


@pytest.fixture
async def shop(database: str) -> AsyncIterator[Shop]:
    async with open_shop(database) as opened:
        yield opened


@asynccontextmanager
async def traced(url: str, events: list[object], **given: Any) -> AsyncIterator[Any]:
    settings = Settings(traces=TraceSettings(endpoint=url, **given))
    with Watchdog() as watchdog:
        ground = ServiceContext(clock=CLOCK, emit=events.append, rng=Random(), watchdog=watchdog)
        async with open_traces(settings, ground) as traces:
            yield traces


async def test_an_attempt_is_a_span_of_its_runs_trace(shop: Shop, collector: Collecting) -> None:
    @shop.handlers.handler("greet")
    async def greet(_context: AttemptContext, _payload: Any) -> str:
        return SECRET

    run_id = await shop.submit("greet", {"for": SECRET})
    async with (
        traced(collector.url, shop.events, service="ours") as traces,
        shop.worker(traces=traces),
    ):
        run = await shop.ends(run_id)

    (span,) = collector.of(run_id)
    assert (span.name, span.service, span.parent) == ("attempt greet", "ours", "")
    assert span.id == run_id.hex[16:]
    assert not span.is_error
    assert span.ended > span.started
    assert span.said["rota.run.id"] == f"run_{run_id.hex}"
    assert span.said["rota.job.id"] == f"job_{run.job_id.hex}"
    assert (span.said["rota.kind"], span.said["rota.attempt"]) == ("greet", 1)
    assert span.said["rota.queue"] == "default"
    assert (span.said["rota.tenant.id"], span.said["rota.outcome"]) == (1, "succeeded")
    assert span.said["rota.scheduled_at"].endswith("Z")
    assert not any(SECRET.encode() in body for body in collector.bodies)


async def test_a_failed_attempt_says_of_its_error_the_type_and_not_the_words(
    shop: Shop, collector: Collecting
) -> None:
    @shop.handlers.handler("flaky")
    async def flaky(context: AttemptContext, _payload: Any) -> None:
        if context.attempt == 1:
            raise ValueError(SECRET)

    run_id = await shop.submit("flaky", policy=Policy(retries=ONCE_MORE))
    async with traced(collector.url, shop.events) as traces, shop.worker(traces=traces):
        await shop.ends(run_id)

    first, second = collector.of(run_id)
    assert (first.is_error, first.message) == (True, "")
    assert (first.said["rota.outcome"], first.said["error.type"]) == (
        "failed",
        "ValueError",
    )
    assert (second.is_error, second.said["rota.attempt"]) == (False, 2)
    # The second goes on in the trace of the first.
    assert second.parent == first.id
    assert not any(SECRET.encode() in body for body in collector.bodies)


async def test_what_a_handler_traces_itself_is_below_its_attempt(
    shop: Shop, collector: Collecting
) -> None:
    """With a set-up of its own, as a program has it that was traced before it met Rota."""
    kept = InMemorySpanExporter()
    own = TracerProvider(shutdown_on_exit=False)
    own.add_span_processor(SimpleSpanProcessor(kept))

    @shop.handlers.handler("on the loop")
    async def on_the_loop(context: AttemptContext, _payload: Any) -> str | None:
        own.get_tracer("theirs").start_span("async").end()
        return context.traceparent

    @shop.handlers.handler("in a thread")
    def in_a_thread(context: BlockingContext, _payload: Any) -> str | None:
        own.get_tracer("theirs").start_span("sync").end()
        return context.traceparent

    run_ids = [await shop.submit(kind) for kind in ("on the loop", "in a thread")]
    async with traced(collector.url, shop.events) as traces, shop.worker(traces=traces):
        for run_id in run_ids:
            await shop.ends(run_id)

    inner = {span.name: span for span in kept.get_finished_spans()}
    for run_id, name in zip(run_ids, ("async", "sync"), strict=True):
        (attempt,) = collector.of(run_id)
        parent = inner[name].parent
        assert parent is not None
        assert (f"{parent.trace_id:032x}", f"{parent.span_id:016x}") == (attempt.trace, attempt.id)
        assert await result_of(shop, run_id) == f"00-{attempt.trace}-{attempt.id}-03"
    assert trace.get_current_span() is trace.INVALID_SPAN


async def test_a_handler_in_a_process_of_its_own_is_in_the_trace(
    shop: Shop, collector: Collecting
) -> None:
    source = f"{traced_jobs.__name__}:handlers"
    shop.others = (lambda: PythonExecutor(traced_jobs.handlers, source=source),)
    run_ids = [await shop.submit(kind) for kind in ("apart", "apart and async")]
    async with traced(collector.url, shop.events) as traces, shop.worker(traces=traces):
        runs = [await shop.ends(run_id) for run_id in run_ids]

    assert {run.state for run in runs} == {RunState.SUCCEEDED}
    for run_id in run_ids:
        (span,) = collector.of(run_id)
        header = f"00-{span.trace}-{span.id}-03"
        # In its context, its environment, and for what it traces itself.
        assert await result_of(shop, run_id) == [header, header, span.trace, span.id]


async def test_what_a_job_calls_or_starts_is_told_the_trace(
    shop: Shop, collector: Collecting
) -> None:
    port = int(collector.url.rpartition(":")[2])
    guard = TargetGuard(allow_networks=["127.0.0.0/8"], allow_ports=[port])
    shop.others = (lambda: HttpExecutor(guard=guard), lambda: ShellExecutor(allow=("*",)))
    headers = {"Traceparent": CALLER, "tracestate": "a=b"}
    called = await shop.submit("http", {"url": f"{collector.url}/target", "headers": headers})
    started = await shop.submit("shell", {"argv": ["/usr/bin/env"]})
    async with traced(collector.url, shop.events) as traces, shop.worker(traces=traces):
        await shop.ends(called)
        await shop.ends(started)

    (request,) = collector.others
    (call,), (program,) = collector.of(called), collector.of(started)
    assert request["traceparent"] == f"00-{call.trace}-{call.id}-03"
    assert "tracestate" not in request
    assert f"TRACEPARENT=00-{program.trace}-{program.id}-03" in str(await result_of(shop, started))


async def test_attempts_that_end_because_one_of_them_blocks_the_loop_have_spans(
    shop: Shop, collector: Collecting
) -> None:
    freed = threading.Event()

    @shop.handlers.handler("blocking")
    async def blocking(_context: AttemptContext, _payload: Any) -> None:
        freed.wait()

    @shop.handlers.handler("waiting")
    async def waiting(context: AttemptContext, _payload: Any) -> None:
        if context.attempt == 1:
            await asyncio.Event().wait()

    innocent = await shop.submit("waiting")
    async with traced(collector.url, shop.events) as traces, shop.worker(traces=traces):
        await shop.reaches(innocent, RunState.RUNNING)
        culprit = await shop.submit("blocking", policy=Policy(retries=RetryPolicy(max_retries=0)))
        await shop.ends(culprit)
        await shop.ends(innocent)
        freed.set()

    (blamed,) = collector.of(culprit)
    assert (blamed.is_error, blamed.said["error.type"]) == (True, "LoopBlocked")
    outcomes = [span.said["rota.outcome"] for span in collector.of(innocent)]
    assert outcomes == ["released", "succeeded"]


async def test_a_trace_that_is_not_kept_is_handed_on_as_such(
    shop: Shop, collector: Collecting
) -> None:
    @shop.handlers.handler("greet")
    async def greet(context: AttemptContext, _payload: Any) -> str | None:
        return context.traceparent

    run_id = await shop.submit("greet")
    async with (
        traced(collector.url, shop.events, one_in=1_000_000) as traces,
        shop.worker(traces=traces),
    ):
        await shop.ends(run_id)

    assert await result_of(shop, run_id) == f"00-{run_id.hex}-{run_id.hex[16:]}-02"
    assert collector.spans == []


async def test_without_traces_a_handler_is_told_of_none(shop: Shop) -> None:
    @shop.handlers.handler("greet")
    async def greet(context: AttemptContext, _payload: Any) -> str | None:
        return context.traceparent

    run_id = await shop.submit("greet")
    async with shop.worker():
        run = await shop.ends(run_id)

    assert run.state is RunState.SUCCEEDED
    assert await result_of(shop, run_id) is None


async def test_a_request_is_a_span_of_its_callers_trace_and_leads_to_the_runs_it_made(
    database: str, tmp_path: Path, collector: Collecting
) -> None:
    async with (
        traced(collector.url, []) as traces,
        serving(database, tmp_path, traces=traces) as api,
    ):
        made = await api.platform.post("/v1/jobs", {"kind": SECRET}, traceparent=CALLER)
        again = await api.platform.post(f"/v1/jobs/{made.json['job_id']}/runNow")
        await api.platform.get("/healthz")
        await api.platform.get(f"/v1/runs/{SECRET}?token={SECRET}")
        await api.stranger().get("/v1/jobs")
        await api.platform.call("PROPFIND", f"/{SECRET}")

    assert (made.status, again.status) == (201, 202)
    create, now, wrong, refused, strange = collector.spans
    assert (create.name, create.said["http.route"]) == ("POST /v1/jobs", "/v1/jobs")
    assert (create.trace, create.parent) == tuple(CALLER.split("-")[1:3])
    assert create.said["http.response.status_code"] == 201
    assert create.said["rota.tenant.id"] == 1
    assert create.said["rota.request.id"] == made.headers["x-request-id"]
    assert [link[0] for link in create.links] == [made.json["run_id"].removeprefix("run_")]
    assert (now.name, now.parent) == ("POST /v1/jobs/{job_id}/runNow", "")
    assert [link[0] for link in now.links] == [again.json["run_id"].removeprefix("run_")]
    assert (wrong.name, wrong.is_error) == ("GET /v1/runs/{run_id}", False)
    assert (refused.said["http.response.status_code"], refused.is_error) == (401, False)
    assert "rota.tenant.id" not in refused.said
    assert (strange.name, strange.said["http.response.status_code"]) == ("_OTHER", 404)
    assert not any(SECRET.encode() in body for body in collector.bodies)


async def test_a_traceparent_that_is_wrong_is_as_if_it_were_not_there(
    database: str, tmp_path: Path, collector: Collecting
) -> None:
    wrong = [
        "",
        "00",
        "hello",
        CALLER[:-3],
        CALLER.upper().replace("00-", "0G-", 1),
        CALLER.replace("00-", "ff-", 1),
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01",
        CALLER * 100,
    ]
    async with (
        traced(collector.url, []) as traces,
        serving(database, tmp_path, traces=traces) as api,
    ):
        for header in wrong:
            assert (await api.platform.get("/v1/whoami", traceparent=header)).status == 200
        twice = [("traceparent", CALLER), ("traceparent", CALLER)]
        twice.append(("authorization", f"Bearer {api.platform.key}"))
        async with api.session.get(f"{api.url}/v1/whoami", headers=twice) as answer:
            assert answer.status == 200

    assert len(collector.spans) == len(wrong) + 1
    assert {span.parent for span in collector.spans} == {""}
    assert CALLER.split("-")[1] not in {span.trace for span in collector.spans}


async def test_a_collector_that_is_away_costs_spans_and_nothing_else(
    database: str, tmp_path: Path, shop: Shop
) -> None:
    @shop.handlers.handler("greet")
    async def greet(_context: AttemptContext, _payload: Any) -> None:
        pass

    with collecting() as gone:
        pass
    run_id = await shop.submit("greet")
    async with (
        traced(gone.url, shop.events) as traces,
        serving(database, tmp_path, traces=traces) as api,
        shop.worker(traces=traces),
    ):
        assert (await api.platform.get("/v1/whoami")).status == 200
        run = await shop.ends(run_id)

    lost = [event for event in shop.events if isinstance(event, SpansLost)]
    assert run.state is RunState.SUCCEEDED
    assert [(event.count, event.reason) for event in lost] == [
        (2, "the process ended before they were sent")
    ]


async def test_a_collector_that_is_away_for_a_moment_costs_nothing(
    collector: Collecting,
) -> None:
    collector.answers = [503, 429]
    events: list[object] = []
    async with traced(collector.url, events) as traces:
        traces.record_ticks([UUID(int=7)], duration=0.001, late_by=timedelta(0))
        assert traces.provider.force_flush()

    assert [span.name for span in collector.spans] == ["fire"]
    assert events == []


async def test_spans_that_a_collector_refuses_are_counted_and_not_offered_again(
    collector: Collecting,
) -> None:
    collector.answers = [400]
    events: list[object] = []
    async with traced(collector.url, events) as traces:
        traces.record_ticks([UUID(int=7)], duration=0.001, late_by=timedelta(0))

    assert events == [SpansLost(count=1, reason="collector returned HTTP 400")]
    assert collector.spans == []


async def test_a_batch_of_ticks_is_one_span_that_leads_to_their_runs(
    collector: Collecting,
) -> None:
    run_ids = [UUID(int=1 << 63 | number) for number in range(1, 501)]
    async with traced(collector.url, []) as traces:
        traces.record_ticks(run_ids, duration=0.5, late_by=timedelta(seconds=2))

    (span,) = collector.spans
    assert (span.said["rota.runs"], span.said["rota.late_s"]) == (500, 2.0)
    assert span.ended - span.started == 500_000_000
    assert span.links[0] == (run_ids[0].hex, run_ids[0].hex[16:])
    assert len(span.links) == 100


def test_a_queue_that_is_full_drops_what_comes_and_says_how_much() -> None:
    lost: list[tuple[int, str]] = []
    with collecting() as gone:
        pass
    sending = SpanSender(
        Collector.for_endpoint(gone.url, {}),
        on_lost=lambda count, reason: lost.append((count, reason)),
        rng=Random(7),
        queue_max=10,
    )
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(sending)

    for _ in range(25):
        provider.get_tracer("t").start_span("s").end()
    provider.shutdown()

    assert sum(count for count, _ in lost) == 25
    assert {reason for _, reason in lost} >= {"the queue is full"}


def test_the_collector_is_told_the_headers_that_it_wants(collector: Collecting) -> None:
    writing = OtelTraceWriter(
        Collector.for_endpoint(collector.url, {"Authorization": "Bearer abc"}),
        service="rota",
        one_in=1,
        on_lost=lambda *_: None,
        rng=Random(7),
    )
    writing.record_ticks([], duration=0.0, late_by=timedelta(0))
    writing.close()

    assert collector.headers[0]["authorization"] == "Bearer abc"
    assert collector.headers[0]["content-type"] == "application/x-protobuf"


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://host:4318", "http://host:4318/v1/traces"),
        ("http://host:4318/", "http://host:4318/v1/traces"),
        ("https://host/otlp/v1/traces", "https://host/otlp/v1/traces"),
    ],
)
def test_the_address_of_a_collector_may_leave_the_usual_path_out(endpoint: str, url: str) -> None:
    assert build_collector_url(endpoint) == url


def test_the_doctor_says_whether_the_collector_answers(collector: Collecting) -> None:
    with collecting() as gone:
        pass
    here = TraceSettings(endpoint=collector.url, headers=("x-key: ${KEY}",))

    (well,) = check_collector(here, {"KEY": "abc"})
    collector.answers = [403]
    (refused,) = check_collector(here, {"KEY": "abc"})
    (away,) = check_collector(TraceSettings(endpoint=gone.url), {})
    (lacking,) = check_collector(here, {})

    assert collector.headers[0]["x-key"] == "abc"
    assert [each.level for each in (well, refused, away)] == ["ok", "warning", "warning"]
    assert refused.detail.endswith("returned HTTP 403")
    assert (lacking.level, "KEY" in lacking.detail) == ("bad", True)
    assert list(check_collector(TraceSettings(), {})) == []


@pytest.mark.parametrize("environment", [{}, {"KEY": "a\nb: c"}, {"KEY": "ü"}])
def test_a_header_that_cannot_be_sent_keeps_a_process_from_starting(
    environment: dict[str, str],
) -> None:
    with pytest.raises(InvalidSetting, match=r"traces\.headers"):
        build_headers(TraceSettings(headers=("x-key: ${KEY}",)), environment)


def test_who_traces_nothing_loads_nothing_and_who_cannot_is_told_what_to_do() -> None:
    program = """
import asyncio, sys
import rota.processes.all_in_one
from rota.config.settings import Settings, TraceSettings
from rota.core.errors import InvalidSetting
from rota.processes.traces import open_traces

async def main(traces):
    async with open_traces(Settings(traces=traces), None) as opened:
        assert opened is None

asyncio.run(main(TraceSettings()))
print([name for name in sys.modules if name.startswith(("opentelemetry", "google"))])
sys.modules["opentelemetry"] = None  # as if it were not installed
try:
    asyncio.run(main(TraceSettings(endpoint="http://localhost:4318")))
except InvalidSetting as error:
    print(error)
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    loaded, refused = said.splitlines()
    assert loaded == "[]"
    assert "traces.endpoint" in refused
    assert "pip install 'rota[otel]'" in refused


async def result_of(shop: Shop, run_id: UUID) -> Any:
    text = await shop.conn.fetchval("select result from rota.runs where id = $1", run_id)
    return None if text is None else json.loads(text)
