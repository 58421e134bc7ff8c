"""Every example of docs/reference/api.md is carried out, in its order, against a real API (I1).

To record the answers that the page shows anew:
`RECORD=1 .venv/bin/pytest tests/integration/api/test_reference.py`, then `make generate`.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import aiohttp
import pytest
from tests.support.examples import PAGE, Example, examples
from tests.support.serving import Answer, Served
from tests.support.shop import Shop, open_shop
from tools.reference.api_page import EXCERPT_FIELDS, RecordedResponse, build_heading

from rota.api import resources
from rota.api.operations import Operation, catalogue
from rota.api.schemas.jobs import JobView
from rota.core.alerts.finding import (
    AlertSubject,
    ExpectationRef,
    Finding,
    SubjectKind,
    Verdict,
    derive_expectation_id,
)
from rota.core.executor import AttemptContext, Stream
from rota.core.ids import build_id, derive_tick_run_id
from rota.core.prediction import SAMPLES_MIN
from rota.core.states import RunState
from rota.engine.alerting.incident_keeper import apply_findings
from rota.engine.alerting.notification_planner import plan_due_groups
from rota.runtime.clock import SystemClock
from rota.sdk import webhooks
from rota.store import alert_channels, event_sources, sessions
from rota.store.alert_channels import ChannelReport
from rota.store.event_sources import SourceProgress, SourceReaderId
from rota.store.sessions import NewSession, SessionRole

resources.load_operations()
EXAMPLES = list(examples(PAGE.read_text()))
OPERATIONS = {build_heading(each): each for each in catalogue.operations}
ANSWERS = PAGE.parents[2] / "tools" / "reference" / "answers.json"
# Which answer tells an id that later examples use.
TELLS = {
    "create_job": "job_id",
    "create_backfill": "backfill_id",
    "create_hook": "hook_id",
    "create_expectation": "expectation_id",
    "create_webhook": "webhook_id",
    "test_webhook": "delivery_id",
    "create_silence": "silence_id",
    "create_ping": "ping_id",
    "create_key": "key_id",
    "create_tenant": "tenant_id",
}
INSERT_RUN = """
insert into rota.runs (
    id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id, queue_id,
    kind_id, policy_id, job_version, state, left_state, trigger, priority, attempt
)
select $1, j.id, $3, $3, $3, $4, $5, j.tenant_id, j.queue_id, j.kind_id, j.policy_id, 1,
    'succeeded', 'running', 'tick', 5, 1
from rota.jobs as j
where j.id = $2
"""
RECORDS = "RECORD" in os.environ
MOST_LINES = 6
WIDEST = 300


@dataclass(kw_only=True)
class Stage:
    """An API with a worker, and runs that wait, have ended and are dead."""

    api: Served
    shop: Shop
    variables: dict[str, str]
    days: Iterator[int] = field(default_factory=lambda: count(1))

    async def variables_for(self, example: Example) -> dict[str, str]:
        # What an example does to a dead letter cannot be done to it again.
        if "DEAD_RUN_ID" in example.variables:
            self.variables["DEAD_RUN_ID"] = await self.run("import", f"of day {next(self.days)}")
        if "SIGNATURE" in example.variables:
            body = example.request(dict.fromkeys(example.variables, "none")).body
            secret = catalogued("create_hook").example["secret"]
            signed = webhooks.sign((body or "").encode(), secret, id="msg_4711")
            names = ("MESSAGE_ID", "MESSAGE_TIME", "SIGNATURE")
            self.variables |= dict(zip(names, signed.values(), strict=True))
        return self.variables

    def learn(self, name: str, told: Any) -> None:
        """Keep the ids of an answer that later examples use."""
        if name == "begin_external_run":
            self.variables["EXTERNAL_RUN_ID"] = str(told["run_id"])
        if name == "send_events":
            self.variables["EVENT_ID"] = str(told["events"][0]["event_id"])
        if name == "list_dead_groups":
            group = told["data"][0]
            self.variables |= {"DEAD_KIND": group["kind"], "FINGERPRINT": group["fingerprint"]}
        if name in ("create_ping", "rotate_ping"):
            self.variables["TOKEN"] = str(told["ping_url"]).removeprefix("/ping/")
        if name in TELLS:
            self.variables[TELLS[name].upper()] = str(told[TELLS[name]])

    async def run(self, kind: str, name: str, **given: Any) -> str:
        """A run that has ended."""
        run_id = await self.submit(kind=kind, name=f"{kind} {name}", max_retries=0, **given)
        await self.shop.ends(UUID(run_id.removeprefix("run_")))
        return run_id

    async def submit(self, **job: Any) -> str:
        made = await self.api.platform.post("/v1/jobs", job)
        assert made.status == 201, made.text
        return str(made.json["run_id"])


def catalogued(name: str) -> Operation:
    return next(each for each in catalogue.operations if each.name == name)


@pytest.fixture
async def stage(api: Served, database: str) -> AsyncIterator[Stage]:
    async with open_shop(database) as shop, working(shop):
        await schedule(shop)
        await listen(shop)
        await report_channels(shop)
        key = api.platform.key or ""
        made = Stage(api=api, shop=shop, variables={"ROTA_URL": api.url, "ROTA_KEY": key})
        workers = (await api.platform.get("/v1/workers")).json["data"]
        made.variables |= {
            "RUN_ID": await made.submit(
                kind="report", name="report that waits", queue="batch", user_id="u003"
            ),
            "ENDED_RUN_ID": await made.run("report", "of June", payload={"month": "June"}),
            "WORKER_ID": workers[0]["worker_id"],
            "SPARE_WORKER_ID": await spare_worker(shop),
        }
        await made.submit(kind="report", name="report that waits longer", queue="batch")
        waiting = {"name": "invoice", "kind": "report", "schedule": {"event": "order.paid"}}
        await api.platform.post("/v1/jobs", waiting | {"user_id": "u003"})
        await made.run("import", "of June")
        made.variables |= await graphs(made)
        made.variables |= await orders(made)
        made.variables |= await open_incident(made)
        yield made


async def graphs(stage: Stage) -> dict[str, str]:
    """Graph runs that ended well, are dead, and wait for a step."""
    page = {"$": "item"}
    each = {"name": "each", "kind": "report", "map": {"over": ["a", "b"]}, "payload": {"of": page}}
    steps = {
        "nightly": [each, {"name": "all", "kind": "report", "needs": ["each"]}],
        "weekly": [{"name": "mail", "kind": "import", "retries": 0}],
        "monthly": [{"name": "later", "kind": "report", "queue": "batch"}],
    }
    runs = {
        name: await stage.submit(kind="graph", name=name, graph={"steps": said})
        for name, said in steps.items()
    }
    for name in ("nightly", "weekly"):
        await stage.shop.ends(UUID(runs[name].removeprefix("run_")))
    await stage.shop.reaches(UUID(runs["monthly"].removeprefix("run_")), RunState.BLOCKED)
    run = (await stage.api.platform.get(f"/v1/runs/{runs['nightly']}")).json
    return {
        "GRAPH_RUN_ID": runs["nightly"],
        "DEAD_GRAPH_RUN_ID": runs["weekly"],
        "LIVE_GRAPH_RUN_ID": runs["monthly"],
        "GRAPH_JOB_ID": run["job_id"],
    }


async def orders(stage: Stage) -> dict[str, str]:
    """A job with an expectation and a history that predictions need, and a run that waits."""
    draft = {"name": "import of orders", "kind": "report", "queue": "batch"}
    draft |= {"cron_expression": "0 5 * * *"}
    expected = {"expect": {"finish_by": "+50m", "failures": {"streak": 2}}}
    job = (await stage.api.platform.post("/v1/jobs", draft | expected)).json["job_id"]
    job_id = UUID(job.removeprefix("job_"))
    today = SystemClock().now().replace(hour=5, minute=0, second=0, microsecond=0)
    for number in range(1, 2 * SAMPLES_MIN):
        tick = today - timedelta(days=number)
        started = tick + timedelta(seconds=2)
        finished = started + timedelta(minutes=40 + number * 7 % 20)
        run_id = derive_tick_run_id(job_id, tick)
        await stage.shop.conn.execute(INSERT_RUN, run_id, job_id, tick, started, finished)
    made = await stage.api.platform.post(f"/v1/jobs/{job}/runNow", {})
    return {"ORDERS_JOB_ID": job, "ORDERS_RUN_ID": made.json["run_id"]}


async def open_incident(stage: Stage) -> dict[str, str]:
    """An incident about a run, and the message about it that waits for its channel."""
    now, conn = SystemClock().now(), stage.shop.conn
    job_id = UUID(stage.variables["ORDERS_JOB_ID"].removeprefix("job_"))
    owner = f"job:{job_id.hex}"
    finding = Finding(
        expectation=ExpectationRef(
            id=derive_expectation_id(owner, "failure_streak"),
            tenant_id=1,
            name="failures",
            condition="failure_streak",
        ),
        subject=AlertSubject(
            kind=SubjectKind.JOB, id=job_id.hex, name="import of orders", job_id=job_id
        ),
        verdict=Verdict.VIOLATED,
        at=now,
        title="import of orders failed 2 times in a row",
        facts={"streak": 2, "error": "the mail server did not answer within 30 seconds"},
        run_id=UUID(stage.variables["ORDERS_RUN_ID"].removeprefix("run_")),
    )
    async with conn.transaction():
        await apply_findings(conn, [finding], now=now)
    await plan_due_groups(conn, now=now)
    incidents = (await stage.api.platform.get("/v1/incidents")).json["data"]
    messages = (await stage.api.platform.get("/v1/notifications")).json["data"]
    return {
        "INCIDENT_ID": incidents[0]["incident_id"],
        "NOTIFICATION_ID": messages[0]["notification_id"],
    }


@asynccontextmanager
async def working(shop: Shop) -> AsyncIterator[None]:
    @shop.handlers.handler("report")
    async def report(context: AttemptContext, payload: Any) -> Any:
        context.write(Stream.STDOUT, b"42 pages written\n")
        return {"pages": 42}

    @shop.handlers.handler("import")
    async def fail(context: AttemptContext, payload: Any) -> Any:
        raise TimeoutError("the mail server did not answer within 30 seconds")

    async with shop.worker():
        yield


async def schedule(shop: Shop) -> None:
    """A scheduler that holds a few shards, without its doing anything."""
    id_ = build_id(SystemClock().now(), os.urandom(10))
    session = NewSession(id=id_, role=SessionRole.SCHEDULER, name="scheduler-1:4711")
    await sessions.open_session(shop.conn, session, ttl=timedelta(minutes=10))
    await sessions.hold_shards(shop.conn, owner=id_, shards=[0, 1, 2], ttl=timedelta(minutes=10))


async def listen(shop: Shop) -> None:
    """A source that a scheduler reads, without its doing anything."""
    id_ = build_id(SystemClock().now(), os.urandom(10))
    reader, ttl = SourceReaderId(tenant_id=1, name="orders", owner=id_), timedelta(minutes=10)
    held = await event_sources.lease_source(
        shop.conn, reader, kind="kafka", reader_name="scheduler-1:4711", ttl=ttl
    )
    assert held is not None
    progress = SourceProgress(position='{"orders": {"0": 1042}}', taken=1042, lag=3)
    await event_sources.store_progress(shop.conn, held, progress, ttl=ttl)


async def report_channels(shop: Shop) -> None:
    """Channels of a scheduler, which routes and alerts name."""
    reports = [
        ChannelReport(name="chat", kind="slack", tenants=("*",), is_default=True),
        ChannelReport(name="oncall", kind="pagerduty", tenants=("*",)),
    ]
    await alert_channels.report_channels(shop.conn, reports, now=SystemClock().now())


async def spare_worker(shop: Shop) -> str:
    """A worker that nothing needs, and that does nothing."""
    id_ = build_id(SystemClock().now(), os.urandom(10))
    session = NewSession(id=id_, role=SessionRole.WORKER, name="worker-2:4712")
    await sessions.open_session(shop.conn, session, ttl=timedelta(minutes=10))
    return f"wrk_{id_.hex}"


def test_every_operation_of_the_catalogue_has_an_example_on_the_page() -> None:
    shown = [example.heading for example in EXAMPLES]

    assert sorted(shown) == sorted(OPERATIONS), "run `make generate`"


def test_every_answer_on_the_page_was_recorded() -> None:
    assert json.loads(ANSWERS.read_text()).keys() == {each.name for each in OPERATIONS.values()}


def test_a_shell_reads_every_example_as_these_tests_do() -> None:
    names = {name for example in EXAMPLES for name in example.variables}
    variables = {name: f"the {name.lower()}" for name in names}

    for example in EXAMPLES:
        told = f"curl() {{ printf '%s\\0' curl \"$@\"; }}\n{example.command}"
        read = subprocess.run(["sh", "-c", told], env=variables, capture_output=True, check=True)
        assert read.stdout.decode().split("\0")[:-1] == example.words(variables), example.heading


async def test_every_example_answers_what_the_page_says(stage: Stage) -> None:
    whole = next(each.answer for each in EXAMPLES if OPERATIONS[each.heading].name == "get_job")
    recorded = {}
    for example in EXAMPLES:
        operation = OPERATIONS[example.heading]
        answer = await carry_out(stage, example)
        recorded[operation.name] = kept(operation.name, answer)
        stage.learn(operation.name, answer.json)

        good = (operation.status, *operation.other_statuses)
        assert answer.status in good, f"{example.heading}: {answer.text}"
        if RECORDS:
            continue
        assert answer.status == example.status, example.heading
        if answer.json is not None:
            assert alike(example.answer, recorded[operation.name].body), example.heading
        if operation.answer is JobView:
            assert alike(whole, answer.json), example.heading
    if RECORDS:
        plain = {name: each._asdict() for name, each in recorded.items()}
        ANSWERS.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n")


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ({"a": 1}, {"a": 1, "b": 2}),
        ({"a": 1, "b": 2}, {"a": 1}),
        ({"data": [{"a": 1}]}, {"data": [{"b": 1}]}),
        ({"a": 1}, []),
        ({"a": 1}, "text"),
    ],
)
def test_an_answer_with_other_fields_is_noticed(shown: Any, real: Any) -> None:
    assert not alike(shown, real)


def test_a_variable_between_single_quotes_or_an_unknown_option_is_an_error() -> None:
    for command in ("""curl -d '{"id": "$JOB_ID"}' x""", "curl --insecure x", "curl x$NOBODY"):
        example = Example(heading="GET /", command=command, status=200, answer=None)
        with pytest.raises((AssertionError, KeyError, argparse.ArgumentError, SystemExit)):
            example.request({"JOB_ID": "job_1"})


async def carry_out(stage: Stage, example: Example) -> Answer:
    request = example.request(await stage.variables_for(example))
    async with stage.api.session.request(
        request.method, request.url, data=request.body, headers=request.headers
    ) as response:
        text = await (beginning(stage, response) if request.is_stream else response.text())
        is_json = response.content_type == "application/json" and text
        body = json.loads(text) if is_json else None
        return Answer(response.status, body, response.headers, text)


async def beginning(stage: Stage, response: aiohttp.ClientResponse) -> str:
    """A stream up to its first event. What happens before the feed has begun is not told, so
    something happens until it is.
    """
    reading = asyncio.create_task(first_event(response.content))
    for number in range(100):
        await stage.submit(kind="report", name=f"report in the feed {number}", queue="batch")
        if (await asyncio.wait({reading}, timeout=0.2))[0]:
            break
    return await asyncio.wait_for(reading, 1)


async def first_event(stream: aiohttp.StreamReader) -> str:
    text = ""
    while "data: " not in text:
        text += (await stream.readuntil(b"\n\n")).decode()
    return text


def kept(name: str, answer: Answer) -> RecordedResponse:
    """The answer as the page shows it: short, and without what is only this machine's."""
    media = answer.headers.get("content-type", "").partition(";")[0]
    if answer.json is None:
        lines = [line[:WIDEST] for line in answer.text.splitlines()]
        cut = [*lines[:MOST_LINES], "…"] if len(lines) > MOST_LINES else lines
        return RecordedResponse(answer.status, media, "\n".join(cut) or None)
    here = f"{socket.gethostname()}:{os.getpid()}"
    text = json.dumps(answer.json).replace(here, "worker-1:4711")
    body = json.loads(text.replace(str(Path(__file__).parent), "/srv/shop"))
    if name in EXCERPT_FIELDS:
        body = {key: body[key] for key in EXCERPT_FIELDS[name]}
    for secret in ("key", "secret", "ping_url"):
        if secret in body:
            body[secret] = f"{body[secret][:14]}…"
    return RecordedResponse(answer.status, media, shortened(body))


def shortened(value: Any) -> Any:
    """Of a list of objects the one that says most, of another list the first few."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [shortened(max(value, key=lambda each: sum(map(bool, each.values()))))]
    return value[:MOST_LINES] if isinstance(value, list) else value


def alike(shown: Any, real: Any) -> bool:
    """The same fields, and in the objects of each list the same. What is null or empty in one of
    them, or an object with names of its own making, says nothing.
    """
    if not isinstance(shown, dict) or not isinstance(real, dict):
        return type(shown) is type(real)
    if shown.keys() != real.keys():
        return False
    return all(
        alike(shown[key][0], real[key][0])
        for key in shown
        if isinstance(shown[key], list) and isinstance(real[key], list)
        if shown[key] and real[key]
    )
