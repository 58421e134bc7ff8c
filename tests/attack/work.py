"""What jobs can do to the worker and to the machine, and what their output does to a terminal."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

from tests.attack.attacks import Findings, attack
from tests.attack.target import CANARY, DEEP, Target
from tests.support.cluster import ROOT
from tests.support.installation import ROTA

HUGE = 900_000_000


@attack("huge-value")
async def select_a_huge_value(target: Target, findings: Findings) -> None:
    """A query answers one value of 900 MB."""
    before = await target.list_workers()
    for query in (f"select zeroblob({HUGE})", f"select hex(zeroblob({HUGE // 2}))"):
        async with target.watch_bystander(findings, "a huge value", limit_ms=1000):
            run_id = await target.submit(
                target.victim.operator,
                "sql",
                {"connection": "acme-shop", "query": query},
                max_retries=0,
            )
            ended = await target.wait_for_end(target.victim.operator, run_id)
        findings.expect(ended["status"] in ("dead", "failed"), f"{query}: {ended['status']}")
    findings.expect(await target.list_workers() == before, "the worker lost its session")


@attack("pragmas")
async def change_the_database_by_pragma(target: Target, findings: Findings) -> None:
    """A job changes how SQLite works for others."""
    for pragma in ("temp_store_directory = '/tmp'", "writable_schema = 1", "journal_mode = off"):
        run_id = await target.submit(
            target.victim.operator,
            "sql",
            {"connection": "acme-shop", "query": f"pragma {pragma}"},
            max_retries=0,
        )
        ended = await target.wait_for_end(target.victim.operator, run_id)
        findings.expect(ended["status"] != "succeeded", f"pragma {pragma} was carried out")


@attack("shell-files")
async def read_key_files(target: Target, findings: Findings) -> None:
    """A program reads the key files and the environment of the process that started it."""
    home = target.folder / ".rota"
    for script in (
        f"cat {home}/master.key",
        f"cat {home}/admin.key",
        "cat /proc/$PPID/environ",
        f"cat /proc/{target.process.pid}/environ",
        "env",
    ):
        run_id = await target.submit(
            target.victim.operator, "shell", {"argv": ["/bin/sh", "-c", script]}, max_retries=0
        )
        await target.wait_for_end(target.victim.operator, run_id)
        logs = (await target.victim.operator.get(f"/v1/runs/{run_id}/logs")).text
        keys = [path.read_text().strip() for path in home.glob("*.key")]
        for secret in (*keys, CANARY, DEEP):
            findings.expect(secret[:12] not in logs, f"{script}: a program read a secret")
    run_id = await target.submit(
        target.victim.operator, "shell", {"argv": ["/bin/sh", "-c", "id -u"]}, max_retries=0
    )
    await target.wait_for_end(target.victim.operator, run_id)
    logs = (await target.victim.operator.get(f"/v1/runs/{run_id}/logs")).json["data"]
    said = "".join(piece["text"] for piece in logs if piece["stream"] == "stdout").strip()
    findings.expect(said not in ("", "0"), f"programs run as uid {said!r}")


@attack("child-environment")
async def read_the_environment(target: Target, findings: Findings) -> None:
    """A handler in a process of its own reads variables of the worker."""
    run_id = await target.submit(target.victim.operator, "attack.environment", {}, max_retries=0)
    ended = await target.wait_for_end(target.victim.operator, run_id)
    findings.expect(ended["status"] == "succeeded", f"the handler did not run: {ended}")
    findings.expect(CANARY not in str(ended), "a child inherits the whole environment")
    findings.expect("ROTA_DATABASE" not in str(ended), "a child inherits settings of Rota")


@attack("root-shell")
async def start_a_root_worker(target: Target, findings: Findings) -> None:
    """A root worker that would run programs as root refuses to start."""
    if os.geteuid() != 0:
        findings.figures.append("not tried: this needs root")
        return
    done = await asyncio.to_thread(start_worker_as_root, target.folder)
    said = done.stdout + done.stderr
    findings.expect(done.returncode != 0 and "shell_user" in said, f"it started: {said[-300:]}")


def start_worker_as_root(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rota", "worker"],
        cwd=folder / "vault",
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "src"),
            "ROTA_DATABASE__URL": "postgresql://nobody@127.0.0.1:1/none",
            "ROTA_EXECUTORS__SHELL_ALLOW": '["/bin/sh"]',
            "ROTA_DATABASE__WAIT_AT_START": "1s",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@attack("external-output")
async def flood_the_log(target: Target, findings: Findings) -> None:
    """An external run hands in 32 MB of output."""
    begun = await target.intruder.operator.post(
        "/v1/runs/external", {"job": "flood", "host": "here"}
    )
    run_id, sent = begun.json["run_id"], 0
    for seq in range(40):
        answer = await target.intruder.operator.post(
            f"/v1/runs/{run_id}/external", {"output": make_output(seq)}
        )
        sent += answer.status == 200
    kept, after = 0, ""
    while True:
        page = (await target.intruder.viewer.get(f"/v1/runs/{run_id}/logs?limit=1000{after}")).json
        kept += sum(len(piece["text"]) for piece in page["data"])
        if not page["data"]:
            break
        after = f"&after={page['cursor']}"
    findings.figures.append(f"{sent} of 40 posts were taken, {kept / 1e6:.1f} MB kept")
    findings.expect(kept < 20_000_000, f"{kept:,} bytes of output were kept")
    await target.intruder.operator.post(f"/v1/runs/{run_id}/external/end", {"exit_code": 0})


@attack("terminal")
async def write_to_a_terminal(target: Target, findings: Findings) -> None:
    """Control sequences in output, errors and crontabs do not reach a terminal."""
    hostile = "\x1b]0;title\x07\x1b[2J\x1b]8;;http://evil.example\x1b\\link\x9b2J\u202eabc"
    run_id = await target.submit(
        target.victim.operator, "attack.shout", {"text": hostile}, max_retries=0
    )
    await target.wait_for_end(target.victim.operator, run_id)
    crontab = target.folder / "crontab"
    crontab.write_text(f"61 * * * * echo {hostile}\n@reboot {hostile}\n")
    for words in (
        ["runs", "logs", run_id],
        ["runs", "show", run_id],
        ["why", run_id],
        ["dead", "list"],
        ["dead", "groups"],
        ["import", "crontab", str(crontab)],
    ):
        said = await asyncio.to_thread(run_cli, target, *words)
        findings.expect("link" in said or words[0] == "dead", f"rota {words[0]}: no text: {said}")
        for sequence in ("\x1b]", "\x1b[2J", "\x9b", "\x07", "\u202e"):
            findings.expect(sequence not in said, f"rota {words[0]}: {sequence!r} is printed raw")


def run_cli(target: Target, *words: str) -> str:
    done = subprocess.run(
        [str(ROTA), *words],
        cwd=target.folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT / "src"),
            "ROTA_URL": target.url,
            "ROTA_API_KEY": target.victim.operator.key or "",
            "COLUMNS": "200",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return (done.stdout + done.stderr).decode(errors="replace")


def make_output(part: int) -> list[dict[str, object]]:
    """50 pieces of 16,000 characters."""
    return [{"seq": part * 50 + number, "text": "x" * 16_000} for number in range(50)]
