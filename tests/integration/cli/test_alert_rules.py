"""`rota alerts rules`, `routes` and `rehearse`, and rota.yaml, against a real API."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from tests.support.serving import CLOCK, Served, serving

from rota.core.ids import build_id
from rota.store import alert_channels
from rota.store.alert_channels import ChannelReport

FILE = """\
version: 1
project: billing
jobs:
  nightly:
    kind: report
    schedule: "30 2 * * *"
    expect:
      finish_by: "06:00"
      failures: {streak: 2}
    alert: {to: team, severity: page}
alerts:
  - name: rate
    match: {labels: {team: billing}}
    when: {failures: {rate: 10%, over: 2h}}
    for: 5m
    to: team
routes:
  team:
    - {to: [chat], repeat: 4h}
    - {to: [oncall], after: 30m, unless: acknowledged, severity: page}
"""


class Said(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Coroutine[Any, Any, Said]]


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Served]:
    async with serving(database, tmp_path) as served:
        reports = [
            ChannelReport(name="chat", kind="webhook", tenants=("*",)),
            ChannelReport(name="oncall", kind="pagerduty", tenants=("*",)),
        ]
        await alert_channels.report_channels(served.conn, reports, now=CLOCK.now())
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


async def test_a_file_declares_expectations_rules_and_routes_and_is_exported(
    rota: Run, tmp_path: Path
) -> None:
    (tmp_path / "rota.yaml").write_text(FILE)

    planned = await rota("plan")
    applied = await rota("apply", "--yes")
    again = await rota("diff")
    exported = await rota("export", "--project", "billing", "--out", "copy.yaml")
    copied = await rota("diff", "copy.yaml")
    (tmp_path / "rota.yaml").write_text(FILE.replace("rate: 10%", "rate: 20%"))
    changed = await rota("diff")
    (tmp_path / "rota.yaml").write_text(FILE.replace("after: 30m", "after: 30 minutes"))
    wrong = await rota("plan")
    (tmp_path / "rota.yaml").write_text(FILE.replace("[chat]", "[fax]"))
    unknown = await rota("plan")
    (tmp_path / "rota.yaml").write_text(FILE.replace("finish_by", "finishby"))
    misspelt = await rota("plan")

    assert "+ route team\n" in planned.out
    assert "+ rule rate\n" in planned.out
    assert (applied.code, applied.out.endswith("Applied 3 changes\n")) == (0, True), applied.err
    assert again == (0, "", "")
    assert (exported.code, copied) == (0, (0, "", ""))
    assert (changed.code, changed.out) == (2, "~ rule rate: when.failures.rate\n")
    assert "rota.yaml:20:" in wrong.err
    assert "expected a duration" in wrong.err
    assert ("rota.yaml:19:" in unknown.err, "known channels: chat, oncall" in unknown.err) == (
        True,
        True,
    )
    assert "did you mean finish_by?" in misspelt.err


async def test_rules_and_routes_are_managed_by_name(rota: Run) -> None:
    made = await rota(
        *("alerts", "rules", "create", "slow mail", "--when", "max_duration=10m"),
        *("--match", "task=send*", "--alert", "severity=page", "--alert", "for=5m"),
    )
    missing = await rota(
        *("alerts", "rules", "create", "x", "--when", "failures.streak=2", "--match", "job=none")
    )
    listed = await rota("alerts", "rules", "list")
    shown = await rota("alerts", "rules", "show", "slow mail", "--json")
    off = await rota("alerts", "rules", "edit", "slow mail", "--disabled", "--alert", "clear=3")
    saved = await rota("alerts", "routes", "set", "team", "--to", "chat", "--to", "oncall")
    routes = await rota("alerts", "routes", "list")
    deleted = await rota("alerts", "rules", "delete", "slow mail", "--yes")
    gone = await rota("alerts", "rules", "show", "slow mail")
    no_route = await rota("alerts", "routes", "delete", "team", "--yes")

    assert (made.code, made.out) == (0, "Created rule slow mail\n"), made.err
    assert "matches no job at present" in missing.err
    assert "max_duration=PT10M" in listed.out
    rule = json.loads(shown.out)
    assert (rule["match"], rule["severity"], rule["for"]) == ({"task": "send*"}, "page", "PT5M")
    assert off.out == "Changed rule slow mail, version 2\n"
    assert saved.out == "Saved route team, version 1\n"
    assert "chat, oncall" in routes.out
    assert (deleted.code, gone.code, no_route.code) == (0, 66, 0)


async def test_a_job_gets_expectations_from_options(rota: Run) -> None:
    made = await rota(
        *("jobs", "create", "nightly", "--cron", "30 2 * * *", "--kind", "k"),
        *("--expect", "finish_by=06:00", "--expect", "failures.streak=2"),
        *("--alert", "to=chat"),
    )
    shown = await rota("jobs", "show", "nightly", "--json")
    expected = await rota("jobs", "expectations", "nightly")
    edited = await rota("jobs", "edit", "nightly", "--expect", "none")
    after = await rota("jobs", "show", "nightly", "--json")

    assert made.code == 0, made.err
    job = json.loads(shown.out)
    assert job["expect"] == {"finish_by": "06:00", "failures": {"streak": 2}}
    assert job["alert"] == {"to": "chat"}
    assert "nightly: finish_by" in expected.out
    assert edited.code == 0, edited.err
    assert json.loads(after.out)["expect"] is None


async def add_runs(api: Served, job_id: UUID, states: str) -> None:
    """Add a tick's run for each letter, an hour apart up to now: s succeeded, d dead."""
    now = CLOCK.now()
    for place, letter in enumerate(states):
        at = now - timedelta(hours=len(states) - place)
        await api.conn.execute(
            """
            insert into rota.runs (
                id, job_id, scheduled_at, due_at, created_at, started_at, finished_at, tenant_id,
                queue_id, kind_id, policy_id, job_version, state, left_state, trigger, priority,
                attempt, reason
            )
            select
                $1, j.id, $2::timestamptz, $2, $2, $2, $2::timestamptz + interval '1 minute',
                j.tenant_id, j.queue_id,
                j.kind_id, j.policy_id, 1, $3::rota.run_state, 'running', 'tick', 5, 1,
                case when $3 = 'dead' then '{"type": "OSError", "message": "disk full"}'::jsonb end
            from rota.jobs as j where j.id = $4
            """,
            build_id(at, bytes([place]) * 10),
            at,
            "dead" if letter == "d" else "succeeded",
            job_id,
        )


async def test_a_rehearsal_counts_what_rules_would_have_sent(
    rota: Run, api: Served, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        draft = {"name": name, "kind": "k", "cron_expression": "0 * * * *"}
        await api.platform.post("/v1/jobs", draft | {"labels": {"team": "billing"}})
    rows = await api.conn.fetch("select id from rota.jobs order by name")
    await add_runs(api, rows[0][0], "sddsdds")
    await add_runs(api, rows[1][0], "sssdsss")
    path = f"/v1/jobs/job_{rows[1][0].hex}"
    await api.platform.put(path, {"expect": {"failures": {"streak": 1}}})
    (tmp_path / "rules.yaml").write_text(
        """\
version: 1
project: billing
jobs: {}
alerts:
  - {name: twice, when: {failures: {streak: 2}}, match: {labels: {team: billing}}, to: team}
  - {name: workers, when: {no_worker: 2m}}
routes:
  team: [{to: [chat, oncall]}]
"""
    )

    shown = await rota("alerts", "rehearse", "rules.yaml", "--since", "1d")
    found = await rota("alerts", "rehearse", "rules.yaml", "--since", "1d", "--json")
    short = await rota("alerts", "rehearse", "--since", "90s", "--rules-only")
    wrong = await rota("alerts", "rehearse", "--since", "1y")

    assert shown.code == 0, shown.err
    rehearsal = json.loads(found.out)
    rules = {each["name"]: each for each in rehearsal["rules"]}
    assert rehearsal["runs"] == 14
    # Two streaks of job a; each opens and ends, to two channels.
    assert (rules["twice"]["incidents"], rules["twice"]["messages"]) == (2, 8)
    assert rules["twice"]["example"] == "a: 2 runs in a row failed"
    assert (rules["b: failure_streak"]["incidents"], rules["b: failure_streak"]["messages"]) == (
        1,
        2,
    )
    assert "live figures" in rules["workers"]["skipped"]
    assert "3 incidents and 10 messages in 14 runs" in shown.out
    assert "No rules" in short.out
    assert wrong.code != 0


async def test_an_imported_mailto_becomes_an_alert(rota: Run, api: Served, tmp_path: Path) -> None:
    (tmp_path / "tab").write_text("MAILTO=ops@example.org\n0 3 * * * /usr/bin/backup\n")
    options = ("--tz", "UTC", "--project", "cron", "--apply", "--yes")

    unknown = await rota("import", "crontab", "tab", *options)
    before = await rota("jobs", "show", "backup", "--json")
    report = ChannelReport(name="mail-ops-example-org", kind="email", tenants=("*",))
    await alert_channels.report_channels(api.conn, [report], now=CLOCK.now())
    known = await rota("import", "crontab", "tab", *options)
    after = await rota("jobs", "show", "backup", "--json")

    assert unknown.code == 0, unknown.err
    assert "[channels.mail-ops-example-org] url =" in unknown.err
    assert "alerts go to the default channels instead" in unknown.err
    assert json.loads(before.out)["alert"] is None
    assert json.loads(before.out)["expect"] == {"failures": {"streak": 1}}
    assert known.code == 0, known.err
    assert json.loads(after.out)["alert"] == {"to": "mail-ops-example-org"}
