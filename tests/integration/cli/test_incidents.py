"""`rota alerts list`, `show`, `ack`, `resolve`, `note`, `test` and `rota silence`, against a real
API.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.support.alerting import RememberingChannel
from tests.support.alerting import build_finding as build_world_finding
from tests.support.serving import CLOCK, Served, serving

from rota.engine.alerting.incident_keeper import apply_findings
from rota.engine.alerting.notification_sender import NotificationSender
from rota.store.alert_channels import ChannelReport, report_channels


class Said(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Coroutine[Any, Any, Said]]


class OneConnection:
    """A source with one connection."""

    def __init__(self, api: Served) -> None:
        self.api = api

    def acquire(self) -> Any:
        return self

    async def __aenter__(self) -> Any:
        return self.api.conn

    async def __aexit__(self, *_: object) -> None:
        pass


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database, tmp_path) as served:
        report = ChannelReport(name="chat", kind="slack", tenants=("*",), is_default=True)
        await report_channels(served.conn, [report], now=CLOCK.now())

        class Now:
            now = CLOCK.now()

        for job in ("report", "invoices"):
            finding = build_world_finding(Now, job=job, labels={"app": job})  # type: ignore[arg-type]
            async with served.conn.transaction():
                await apply_findings(served.conn, [finding], now=CLOCK.now())
        yield served


@pytest.fixture
def rota(api: Served, tmp_path: Path) -> Run:
    async def run(*words: str) -> Said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "rota", *words),
            cwd=tmp_path,
            env=os.environ | {"ROTA_URL": api.url, "ROTA_API_KEY": api.platform.key or ""},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        return Said(process.returncode or 0, out.decode(), err.decode())

    return run


async def test_incidents_are_listed_acknowledged_commented_and_ended(rota: Run) -> None:
    listed = await rota("alerts", "list")
    ids = (await rota("alerts", "list", "--quiet")).out.split()
    acked = await rota("alerts", "ack", "report", "--note", "on it")
    noted = await rota("alerts", "note", ids[0][4:14], "disk is full")
    shown = await rota("alerts", "show", "report")
    resolved = await rota("alerts", "resolve", "report")
    left = await rota("alerts", "list")
    all_of_them = await rota("alerts", "list", "--state", "all", "--json")
    missing = await rota("alerts", "show", "nothing")

    assert "report: failure_streak" in listed.out
    assert len(ids) == 2
    assert (acked.code, acked.out) == (0, "Acknowledged: report: failure_streak\n")
    assert noted.code == 0, noted.err
    assert "acknowledged by" in shown.out
    assert "on it" in shown.out
    assert resolved.out == "Resolved: report: failure_streak\n"
    assert "report" not in left.out
    assert "invoices" in left.out
    assert {row["state"] for row in json.loads(all_of_them.out)} == {"open", "resolved"}
    assert missing.code == 66


async def test_the_short_form_silences_by_label_and_the_silence_ends(rota: Run) -> None:
    made = await rota("silence", "--label", "app=report", "--for", "20m", "--reason", "deploy")
    silenced = await rota("alerts", "list", "--state", "silenced")
    listed = await rota("silence", "list")
    silence_id = (await rota("silence", "list", "--quiet")).out.strip()
    ended = await rota("silence", "end", silence_id[:12])
    none = await rota("silence", "list")
    aimless = await rota("silence", "--for", "20m", "--reason", "deploy")
    endless = await rota("silence", "create", "--job", "x", "--reason", "deploy")

    assert (made.code, made.out.startswith("Silenced until 20")) == (0, True), made.err
    assert "report: failure_streak" in silenced.out
    assert "invoices" not in silenced.out
    assert "label=app=report" in listed.out
    assert ended.out == "Ended the silence\n"
    assert none.out == "No silences\n"
    assert (aimless.code, "--everything" in aimless.err) == (64, True)
    assert endless.code != 0
    assert "for: " in endless.err


async def test_a_test_message_reports_its_result(rota: Run, api: Served) -> None:
    chat = RememberingChannel()
    sender = NotificationSender(
        name="chat", channel=chat, source=OneConnection(api), clock=api.database_clock
    )
    asking = asyncio.ensure_future(rota("alerts", "test", "chat"))
    while not chat.messages:
        await sender.tick()
    said = await asking
    channels = await rota("alerts", "channels")
    messages = await rota("alerts", "messages")

    assert (said.code, said.out) == (0, "Sent to chat\n")
    assert "slack" in channels.out
    assert "Test message" in messages.out
