"""`rota exec -- command`: it runs whatever the server does, and is on record if that is there."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from tests.support.databases import clone_url, drop
from tests.support.serving import Caller, Served, serving
from tests.support.world import ALWAYS_SEEN

from rota.store import live_runs, sessions
from rota.store.embedded import Embedded

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def api(server: Embedded, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Served]:
    database = await clone_url(server.url)
    async with serving(database, tmp_path_factory.mktemp("api")) as served:
        yield served
    await drop(server.url, database)


@pytest_asyncio.fixture(loop_scope="module")
async def operator(api: Served) -> Caller:
    tenant_id = await api.tenant(f"t-{uuid4().hex[:12]}")
    return await api.caller("operator", tenant_id=tenant_id)


async def start(caller: Caller, *words: str, **env: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "rota", "exec", *words),
        env=os.environ | {"ROTA_URL": caller.url, "ROTA_API_KEY": caller.key or ""} | env,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def run(
    caller: Caller, *words: str, stdin: bytes = b"", **env: str
) -> tuple[int, bytes, bytes]:
    process = await start(caller, *words, **env)
    out, err = await process.communicate(stdin)
    return process.returncode or 0, out, err


async def the_run(caller: Caller) -> Any:
    (found,) = (await caller.get("/v1/runs")).json["data"]
    return (await caller.get(f"/v1/runs/{found['run_id']}")).json


async def test_output_input_and_exit_code_are_the_commands_own_and_it_is_on_record(
    operator: Caller,
) -> None:
    words = ("--job", "backup", "--", "sh", "-c", "cat; echo oops >&2; exit 3")
    code, out, err = await run(operator, *words, stdin=b"from outside\n")

    assert (code, out, err) == (3, b"from outside\n", b"oops\n")
    found = await the_run(operator)
    assert (found["job_name"], found["kind"], found["status"]) == ("backup", "exec", "dead")
    assert found["error_message"] == "CommandFailed: exit code 3"
    assert found["payload"] == {"argv": list(words[3:])}
    lines = (await operator.get(f"/v1/runs/{found['run_id']}/logs")).json["data"]
    assert {(each["stream"], each["text"]) for each in lines} == {
        ("stdout", "from outside\n"),
        ("stderr", "oops\n"),
    }
    assert (await run(operator, "--job", "backup", "--", "true"))[0] == 0
    runs = (await operator.get("/v1/runs")).json["data"]
    assert [each["status"] for each in runs] == ["succeeded", "dead"]
    assert len((await operator.get("/v1/jobs")).json["data"]) == 1


async def test_it_is_running_while_it_runs_and_signals_are_passed_on(
    operator: Caller, tmp_path: Path
) -> None:
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    script = f"trap 'exit 5' TERM; echo > {fifo}; while :; do sleep 0.05; done"
    process = await start(operator, "--job", "loop", "--", "sh", "-c", script)
    await asyncio.to_thread(fifo.read_bytes)
    assert (await the_run(operator))["status"] == "running"

    process.send_signal(signal.SIGTERM)

    await process.communicate()
    assert process.returncode == 5
    assert (await the_run(operator))["error_message"] == "CommandFailed: exit code 5"


async def test_a_run_that_is_cancelled_is_asked_to_stop(operator: Caller, tmp_path: Path) -> None:
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    script = f"echo > {fifo}; exec sleep 600"
    process = await start(operator, "--job", "sleep", "--", "sh", "-c", script)
    await asyncio.to_thread(fifo.read_bytes)
    run_id = (await the_run(operator))["run_id"]

    await operator.post(f"/v1/runs/{run_id}/cancel", {"reason": "enough"})

    await process.communicate()
    assert process.returncode == 128 + signal.SIGTERM
    assert (await the_run(operator))["status"] == "cancelled"


async def test_a_command_runs_when_the_server_is_away_or_refuses(operator: Caller) -> None:
    away = await run(operator, "--", "echo", "fine", ROTA_URL="http://127.0.0.1:1")
    assert away[:2] == (0, b"fine\n")
    assert away[2].startswith(b"rota exec: this run is not recorded: cannot reach")

    refused = await run(operator, "--", "sh", "-c", "exit 7", ROTA_API_KEY="wrong")
    assert refused[0] == 7
    assert refused[2].startswith(b"rota exec: this run is not recorded:")


async def test_what_takes_too_long_is_ended_and_what_is_not_there_is_told(
    operator: Caller,
) -> None:
    assert (await run(operator, "--timeout", "100ms", "--", "sleep", "600"))[0] == 124
    assert (await the_run(operator))["error_message"].startswith("CommandFailed: timed out after")

    code, _, err = await run(operator, "--job", "none", "--", "/no/such/command")

    assert (code, err) == (127, b"rota exec: /no/such/command: command not found\n")


async def test_a_process_that_dies_loses_its_run_and_nobody_tries_it_again(
    api: Served, operator: Caller
) -> None:
    begun = (await operator.post("/v1/runs/external", {"job": "j", "host": "h"})).json
    session = (await the_run(operator))["executor_id"].removeprefix("wrk_")
    await sessions.close_session(api.conn, UUID(hex=session))

    await live_runs.reclaim_runs(api.conn, sight=ALWAYS_SEEN, limit=10)

    assert (await the_run(operator))["status"] == "lost"
    late = await operator.post(f"/v1/runs/{begun['run_id']}/external/end", {"exit_code": 0})
    assert (late.status, late.json["code"]) == (409, "conflict")


async def test_nobody_tells_of_a_run_that_is_not_theirs(api: Served, operator: Caller) -> None:
    begun = (await operator.post("/v1/runs/external", {"job": "j", "host": "h"})).json
    path = f"/v1/runs/{begun['run_id']}/external"
    word = {"output": [{"seq": 0, "text": "x"}]}

    stranger = await api.caller("admin", tenant_id=await api.tenant("elsewhere"))
    assert (await stranger.post(path, word)).status == 404
    assert (await operator.post(path, word)).json["status"] == "running"
    other = {"name": "other", "kind": "k", "schedule_type": "ON_DEMAND"}
    made = (await operator.post("/v1/jobs", other)).json
    taken = (await operator.post(f"/v1/jobs/{made['job_id']}/runNow", {})).json
    assert (await operator.post(f"/v1/runs/{taken['run_id']}/external", word)).status == 409
    refused = await operator.post("/v1/runs/external", {"job": "other", "host": "h"})
    assert (refused.status, refused.json["errors"][0]["pointer"]) == (422, "/job")


async def test_a_command_ignores_the_signals_that_nohup_or_a_script_had_it_ignore(
    operator: Caller,
) -> None:
    look = "import signal as s; print(*(s.getsignal(n).name for n in (s.SIGHUP, s.SIGINT)))"
    words = [sys.executable, "-m", "rota", "exec", "--", sys.executable, "-c", look]
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", 'trap "" HUP INT; exec "$0" "$@"', *words),
        env=os.environ | {"ROTA_URL": operator.url, "ROTA_API_KEY": operator.key or ""},
        stdout=asyncio.subprocess.PIPE,
    )

    out, _ = await process.communicate()

    assert out == b"SIG_IGN SIG_IGN\n"
