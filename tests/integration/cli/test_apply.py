"""`rota plan`, `apply`, `diff`, `drift`, `export`: the real program against a real API (I6, I4)."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import pytest
import pytest_asyncio
from tests.support.databases import clone_url, drop
from tests.support.serving import Caller, Served, serving

from rota.store.embedded import Embedded

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILE = """\
version: 1
project: billing
defaults:
  timezone: Europe/Berlin
  labels: {team: billing}
jobs:
  nightly report:
    kind: report
    schedule: "30 2 * * *"
    payload: {format: pdf, country: no}
  poll:
    kind: poll
    schedule: {every: 15m}
    labels: {tier: "1"}
  by hand:
    kind: repair
"""
FULL = """\
version: 1
project: all
calendars:
  holidays: {timezone: Asia/Tokyo, yearly: [12-25], weekly: [{start: sat 00:00, end: mon 00:00}]}
jobs:
  everything:
    kind: k
    schedule:
      rrule: FREQ=DAILY;BYHOUR=9
      timezone: Asia/Tokyo
      jitter: {window: 5m, stable: true}
      calendars: [holidays]
      dst: {gap: skip}
      window: {end: "2090-01-01T00:00:00Z", max_runs: 7}
      misfire: {on_outage: all, start_deadline: 1h, pace: 10/min}
    payload: [1, "1", 1.5, null, true, "no", {a: "x\\ny\\n"}]
    retries: {max: 9, kind: list, delays: [1s, 2m], jitter: none}
    timeout: none
    deadline: 2h
    grace: 30s
    guarantee: at_most_once
    target: payments
    queue: slow
    priority: 2
    overlap: queue_one
    keep_first: true
    when_queue_paused: accumulate
    limits: [{key: c, max: 3}, {key: r, rate: {count: 5, per: 1m}}]
    labels: {"a b": "y"}
    user_id: ada
    description: "Everything at once:\\nask ada."
    paused: true
  fixed: {kind: k, schedule: {fixed_delay: 10m}, retries: 0, payload: {id: 7}}
  event: {kind: k, schedule: {event: orders.created}}
"""


class Said(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Coroutine[Any, Any, Said]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(server: Embedded, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    database = await clone_url(server.url)
    async with serving(database, tmp_path_factory.mktemp("api")) as served:
        yield served
    await drop(server.url, database)


@pytest_asyncio.fixture(loop_scope="module")
async def admin(api: Served) -> Caller:
    tenant_id = await api.tenant(f"t-{uuid4().hex[:12]}")
    return await api.caller("admin", user_id="ada", tenant_id=tenant_id)


@pytest.fixture
def rota(admin: Caller, tmp_path: Path) -> Run:
    async def run(*words: str, stdin: str = "") -> Said:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "rota", *words),
            cwd=tmp_path,
            env=os.environ | {"ROTA_URL": admin.url, "ROTA_API_KEY": admin.key or ""},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate(stdin.encode())
        return Said(process.returncode or 0, out.decode(), err.decode())

    return run


async def test_a_file_is_planned_applied_found_as_declared_and_exported(
    rota: Run, admin: Caller, tmp_path: Path
) -> None:
    (tmp_path / "rota.yaml").write_text(FILE)

    planned = await rota("plan", "--exit-code")
    assert planned.code == 2
    assert planned.out.startswith("billing: 3 to create, 0 to update, 0 not in the file, 0 unchan")
    assert "+ nightly report\n    At 02:30 every day, Europe/Berlin\n    next runs: " in planned.out

    applied = await rota("apply", "--yes")
    assert (applied.code, applied.err.count("\n")) == (0, 1)
    assert applied.err.startswith(
        "rota: no live worker serves kinds 'poll', 'repair', 'report'; the runs of 3 jobs "
        "will wait: start a worker with the app that defines them"
    )
    assert applied.out.endswith("Applied 3 changes\n")
    (job,) = (await admin.get("/v1/jobs?q=nightly")).json["data"]
    assert job["payload"] == {"format": "pdf", "country": "no"}
    assert job["timezone"] == "Europe/Berlin"

    again = await rota("plan", "--exit-code")
    assert again == (0, "billing: 0 to create, 0 to update, 0 not in the file, 3 unchanged\n", "")

    exported = await rota("export", "--project", "billing", "--out", "copy.yaml")
    assert exported.code == 0
    copy = (tmp_path / "copy.yaml").read_text()
    assert "rota.project" not in copy
    assert (await rota("diff", "copy.yaml")) == (0, "", "")
    twice = await rota("export", "--project", "billing", "--out", "copy.yaml")
    assert twice.code == 64
    assert (tmp_path / "copy.yaml").read_text() == copy


async def test_whatever_a_job_has_is_exported_so_that_it_reads_back_as_the_same(
    rota: Run, tmp_path: Path
) -> None:
    (tmp_path / "rota.yaml").write_text(FULL)
    applied = await rota("apply", "--yes")
    assert applied.code == 0, applied.err
    assert (await rota("diff")) == (0, "", "")

    await rota("export", "--project", "all", "--out", "copy.yaml")

    assert (await rota("diff", "copy.yaml")) == (0, "", "")
    copy = (tmp_path / "copy.yaml").read_text()
    assert "everything:" in copy
    assert "description: |" in copy
    (tmp_path / "rota.yaml").write_text(copy.replace("12-25", "12-26"))
    assert (await rota("drift")).out == "calendar holidays: differs from the manifest\n"


async def test_a_description_is_an_option_and_is_shown(rota: Run) -> None:
    made = await rota("jobs", "create", "a job", "--cron", "0 2 * * *", "--description", "Why.")
    assert made.code == 0, made.err

    edited = await rota("jobs", "edit", "a job", "--description", "Why not.")

    assert edited.code == 0, edited.err
    shown = await rota("jobs", "show", "a job")
    assert re.search(r"^description +Why not\.$", shown.out, re.MULTILINE)


async def test_a_change_shows_which_runs_move_and_drift_who_changed_what(
    rota: Run, admin: Caller, tmp_path: Path
) -> None:
    (tmp_path / "rota.yaml").write_text(FILE)
    await rota("apply", "--yes", "-q")
    await admin.put("/v1/jobs/by-name/poll", {"priority": "high"})

    drifted = await rota("drift")
    assert drifted.code == 2
    assert "poll: differs from the manifest" in drifted.out
    assert "changed by hand (update) by ada at " in drifted.out

    (tmp_path / "rota.yaml").write_text(FILE.replace("30 2", "0 3").split("  by hand:")[0])
    planned = await rota("plan")
    assert (
        'schedule.cron: "30 2 * * *" -> "0 3 * * *"\n    next runs move\n      from ' in planned.out
    )
    assert "- by hand (not in the file; --prune deletes it)" in planned.out
    assert (await rota("diff")).out.splitlines() == [
        "~ nightly report: schedule.cron",
        "~ poll: priority",
        "- by hand",
    ]

    nobody = await rota("apply", "--prune")
    assert nobody.code == 64
    assert "--yes" in nobody.err
    done = await rota("apply", "--prune", "--yes", "--json")
    assert {each["name"] for each in json.loads(done.out)["changes"]} == {
        *("nightly report", "poll", "by hand"),
    }
    assert (await rota("drift")).out == "billing: no drift, 2 jobs match the manifest\n"


async def test_what_is_wrong_is_told_by_line_and_nothing_is_done(
    rota: Run, admin: Caller, tmp_path: Path
) -> None:
    (tmp_path / "rota.yaml").write_text(
        "version: 1\nproject: p\njobs:\n  a:\n    knd: x\n    retries: {mx: 3}\n  a: {}\n"
    )
    twice = await rota("apply", "--yes")
    assert twice == (64, "", "rota: rota.yaml:7:3: duplicate key 'a'; first in line 4\n")

    (tmp_path / "rota.yaml").write_text(
        "version: 1\nproject: p\njobs:\n  a:\n    knd: x\n    retries: {mx: 3}\n"
    )
    words = await rota("apply", "--yes")
    assert words.code == 64
    assert words.err.splitlines() == [
        "rota: rota.yaml:5:5: unknown job field 'knd'; did you mean kind?",
        "rota: rota.yaml:6:15: unknown retries field 'mx'; did you mean max?",
    ]

    (tmp_path / "rota.yaml").write_text(
        "version: 1\nproject: p\njobs:\n  good: {kind: k}\n  bad:\n    kind: k\n"
        "    schedule:\n      cron: 61 * * * *\n"
    )
    server = await rota("apply", "--yes")
    assert server.code == 64
    assert server.err.startswith("rota: rota.yaml:8:7: bad: schedule.cron: '61 * * * *' is invalid")
    assert (await admin.get("/v1/jobs")).json["data"] == []

    missing = await rota("plan", "nowhere.yaml")
    assert (missing.code, len(missing.err.splitlines())) == (64, 1)


async def test_a_crontab_is_imported_and_applied_and_its_bad_lines_are_told(
    rota: Run, admin: Caller
) -> None:
    crontab = "# every night\n30 2 * * * /usr/bin/backup --all\n61 * * * * /bin/never\n"

    strict = await rota("import", "crontab", "-", "--strict", "--apply", "--yes", stdin=crontab)
    assert strict.code == 1
    assert (await admin.get("/v1/jobs")).json["data"] == []

    words = ("import", "crontab", "-", "--tz", "Europe/Berlin", "--project", "old cron")
    done = await rota(*words, "--apply", "--yes", stdin=crontab)

    assert done.code == 1
    assert "skipped: standard input:3: minute must be 0–59 (got 61)" in done.err
    (job,) = (await admin.get("/v1/jobs")).json["data"]
    assert (job["name"], job["timezone"], job["labels"]) == (
        *("backup", "Europe/Berlin"),
        {"rota.project": "old cron"},
    )
    assert job["payload"] == {"argv": ["/bin/sh", "-c", "/usr/bin/backup --all"]}
    assert (await rota(*words, "--apply", stdin=crontab)).code == 1
