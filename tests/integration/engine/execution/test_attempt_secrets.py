"""An attempt gets the secrets that its payload names, and nothing keeps them (5.6, I22, S7)."""

import asyncio
import json
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.integration.executors.http.target_server import target_server
from tests.support.secret_jobs import MASTER, dumped, executor, held, put
from tests.support.shop import Shop, until

from rota.config.settings import ApiSettings
from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Retry
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState
from rota.executors.http import HttpExecutor, TargetGuard
from rota.executors.shell import ShellExecutor
from rota.store import logs, tenants
from rota.store.live_runs import StoredRun

CANARY = "canary-7Zq4hT9w/+x=Vb2"
AT_ONCE = Policy(
    retries=RetryPolicy(
        max_retries=3, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
    )
)


@pytest.fixture
def keyed(shop: Shop, tmp_path: Path) -> Shop:
    """Workers of this shop have the master key."""
    file = tmp_path / "master.key"
    file.write_text(MASTER.hex())
    shop.api = ApiSettings(master_key=file)
    return shop


async def output(shop: Shop, run_id: UUID) -> str:
    return b"".join(line.chunk for line in await logs.read_lines(shop.conn, run_id)).decode()


def error_of(run: StoredRun) -> dict[str, Any]:
    return dict(json.loads(run.reason or ""))


async def assert_kept_nowhere(shop: Shop, value: str = CANARY) -> None:
    assert not held(await dumped(shop.conn), value)
    assert not held(repr(shop.events), value)


async def test_a_server_sees_the_values_and_nothing_of_ours_keeps_them(keyed: Shop) -> None:
    await put(keyed.conn, "token", CANARY)
    await put(keyed.conn, "path", "hidden-path-0815")
    async with target_server() as server:
        guard = TargetGuard(allow_networks=("127.0.0.1/32",), allow_ports=(server.port,))
        keyed.others = (lambda: HttpExecutor(guard=guard),)
        async with keyed.worker():
            payload = {
                "method": "POST",
                "url": f"{server.url}/echo/{{{{secret:path}}}}",
                "headers": {"Authorization": "Bearer {{secret:token}}"},
                "body": {"key": "{{secret:token}}", "twice": "{{secret:token}}{{secret:token}}"},
            }
            run = await keyed.ends(await keyed.submit("http", payload))

    (seen,) = server.requests
    assert run.state is RunState.SUCCEEDED
    assert seen["path"] == "/echo/hidden-path-0815"
    assert seen["headers"]["authorization"] == f"Bearer {CANARY}"
    assert json.loads(seen["body"]) == {"key": CANARY, "twice": CANARY * 2}
    # The server sent all of it back.
    assert "Bearer ***" in (run.result or "")
    kept = await keyed.conn.fetchval("select payload from rota.runs where id = $1", run.id)
    assert json.loads(kept) == payload
    await assert_kept_nowhere(keyed)
    await assert_kept_nowhere(keyed, "hidden-path-0815")


@pytest.mark.parametrize("way", ["on_loop", "in_thread", "in_child"])
async def test_whatever_a_handler_says_is_kept_without_the_value(keyed: Shop, way: str) -> None:
    await put(keyed.conn, "token", CANARY)
    keyed.others = (lambda: executor(way),)
    runs: dict[str, StoredRun] = {}
    async with keyed.worker():
        for then in ("return", "fail", "raise"):
            payload = {"token": "{{secret:token}}", "then": then}
            policy = Policy(retries=RetryPolicy(max_retries=0))
            runs[then] = await keyed.ends(await keyed.submit(way, payload, policy=policy))

    assert json.loads(runs["return"].result or "") == {
        "returned": "***",
        "nested": [{"***": "a *** b"}],
    }
    said = await output(keyed, runs["return"].id)
    assert "printed ***\n" in said
    assert "written *** in two pieces\n" in said
    assert "logged ***" in said
    assert error_of(runs["fail"])["message"] == "failed with ***"
    assert error_of(runs["raise"])["message"] == "raised with ***"
    assert "ValueError: raised with ***" in await output(keyed, runs["raise"].id)
    await assert_kept_nowhere(keyed)


async def test_the_next_attempt_sees_a_new_version(keyed: Shop) -> None:
    await put(keyed.conn, "token", "the first value")
    seen: list[str] = []

    @keyed.handlers.handler("impatient")
    async def impatient(_context: AttemptContext, payload: Any) -> str:
        seen.append(payload["token"])
        if len(seen) == 1:
            raise Retry("not with this one")
        return "done"

    async with keyed.worker():
        policy = Policy(
            retries=RetryPolicy(
                max_retries=1, growth=DelayGrowth.CONSTANT, base_delay=timedelta(hours=1)
            )
        )
        payload = {"token": "{{secret:token}}"}
        run_id = await keyed.submit("impatient", payload, policy=policy)
        await until(lambda: failed_once(keyed, run_id))
        await put(keyed.conn, "token", "the second value")
        await keyed.conn.execute(
            "update rota.live_runs set ready_at = rota.now() where id = $1", run_id
        )
        run = await keyed.ends(run_id)

    assert run.state is RunState.SUCCEEDED
    assert seen == ["the first value", "the second value"]


async def failed_once(shop: Shop, run_id: UUID) -> bool:
    return (await shop.look(run_id)).failures == 1


async def test_a_secret_that_is_not_there_fails_the_run_at_once_and_is_named(keyed: Shop) -> None:
    other = await tenants.create_tenant(keyed.conn, name="other")
    await put(keyed.conn, "theirs", CANARY, tenant_id=other.id)
    calls: list[Any] = []

    @keyed.handlers.handler("never")
    async def never(_context: AttemptContext, payload: Any) -> None:
        calls.append(payload)

    async with keyed.worker():
        runs = [
            await keyed.ends(
                await keyed.submit("never", [f"{{{{secret:{name}}}}}"], policy=AT_ONCE)
            )
            for name in ("nobodys", "theirs")
        ]

    assert calls == []
    for run, name in zip(runs, ("nobodys", "theirs"), strict=True):
        assert (run.state, run.attempt) == (RunState.DEAD, 1)
        error = error_of(run)
        assert error["message"].endswith(f"secret '{name}' does not exist")
    await assert_kept_nowhere(keyed)


async def test_a_worker_without_the_key_fails_such_runs_clearly_and_tries_again(
    shop: Shop, tmp_path: Path
) -> None:
    await put(shop.conn, "token", CANARY)
    shop.api = ApiSettings(master_key=tmp_path / "comes.later")
    seen: list[str] = []

    @shop.handlers.handler("keep")
    async def keep(_context: AttemptContext, payload: Any) -> None:
        seen.append(payload)

    policy = Policy(
        retries=RetryPolicy(
            max_retries=1, growth=DelayGrowth.CONSTANT, base_delay=timedelta(hours=1)
        )
    )
    async with shop.worker():
        run_id = await shop.submit("keep", "{{secret:token}}", policy=policy)
        plain_id = await shop.submit("keep", "nothing secret")
        await until(lambda: failed_once(shop, run_id))
        await shop.ends(plain_id)
        why = await output(shop, run_id)
        (tmp_path / "comes.later").write_text(MASTER.hex())
        await shop.conn.execute(
            "update rota.live_runs set ready_at = rota.now() where id = $1", run_id
        )
        run = await shop.ends(run_id)

    assert "this worker has no master key" in why
    assert run.state is RunState.SUCCEEDED
    assert seen == ["nothing secret", CANARY]


async def test_a_wrong_key_or_a_broken_file_is_told_and_not_shown(
    shop: Shop, tmp_path: Path
) -> None:
    await put(shop.conn, "token", CANARY)
    file = tmp_path / "master.key"
    shop.api = ApiSettings(master_key=file)

    @shop.handlers.handler("keep")
    async def keep(_context: AttemptContext, _payload: Any) -> None:
        raise AssertionError

    told = []
    async with shop.worker():
        for key in ("17" * 32, "no key at all"):
            file.write_text(key)
            policy = Policy(retries=RetryPolicy(max_retries=0))
            run = await shop.ends(await shop.submit("keep", "{{secret:token}}", policy=policy))
            told.append(error_of(run))

    assert [error["type"] for error in told] == ["SecretsUnavailable"] * 2
    assert "encrypted with another master key" in told[0]["message"]
    assert "cannot read its master key" in told[1]["message"]
    assert not held(json.dumps(told), "17" * 32)


async def test_a_program_gets_it_in_its_environment_and_no_command_line_shows_it(
    keyed: Shop, tmp_path: Path
) -> None:
    await put(keyed.conn, "token", CANARY)
    keyed.others = (lambda: ShellExecutor(allow=("/bin/sh",)),)
    started, go = tmp_path / "started", tmp_path / "go"
    script = f"echo $TOKEN; cat; touch {started}; until [ -e {go} ]; do sleep 0.05; done; exit 3"
    async with keyed.worker():
        payload = {
            "argv": ["/bin/sh", "-c", script],
            "env": {"TOKEN": "{{secret:token}}"},
            "stdin": "in: {{secret:token}}\n",
        }
        policy = Policy(retries=RetryPolicy(max_retries=0))
        run_id = await keyed.submit("shell", payload, policy=policy)
        await until(lambda: exists(started))
        lines = command_lines()
        go.touch()
        run = await keyed.ends(run_id)

    assert any(str(go).encode() in line for line in lines)
    assert not any(CANARY.encode() in line for line in lines)
    assert run.state is RunState.DEAD
    assert await output(keyed, run_id) == "***\nin: ***\n"
    await assert_kept_nowhere(keyed)


async def exists(file: Path) -> bool:
    return await asyncio.to_thread(file.exists)


def command_lines() -> list[bytes]:
    """Those of all processes that we can see."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            found.append(file.read_bytes())
    return found


async def test_a_program_that_would_show_it_in_its_arguments_is_not_started(
    keyed: Shop, tmp_path: Path
) -> None:
    await put(keyed.conn, "token", CANARY)
    keyed.others = (lambda: ShellExecutor(allow=("/usr/bin/touch",)),)
    file = tmp_path / "touched"
    async with keyed.worker():
        payload = {"argv": ["/usr/bin/touch", f"{file}", "{{secret:token}}"]}
        run = await keyed.ends(await keyed.submit("shell", payload, policy=AT_ONCE))

    assert (run.state, run.attempt) == (RunState.DEAD, 1)
    assert "pass the secret in env or stdin" in error_of(run)["message"]
    assert not file.exists()


async def test_a_payload_that_is_refused_for_its_secret_does_not_show_the_beginning_of_it(
    keyed: Shop,
) -> None:
    value = "first line of a key\n" + "k" * 300
    await put(keyed.conn, "token", value)
    keyed.others = (lambda: HttpExecutor(guard=TargetGuard()),)
    async with keyed.worker():
        payload = {"url": "https://example.org/", "headers": {"X-Key": "{{secret:token}}"}}
        run = await keyed.ends(await keyed.submit("http", payload, policy=AT_ONCE))

    message = error_of(run)["message"]
    assert "headers.X-Key: '***' is invalid" in message
    assert "kkkkkk" not in message


async def test_what_an_attempt_wants_back_unchanged_must_not_hold_a_secret(keyed: Shop) -> None:
    await put(keyed.conn, "token", CANARY)
    refused: list[str] = []

    @keyed.handlers.handler("hoarding")
    async def hoarding(context: AttemptContext, payload: Any) -> None:
        for keep in (context.checkpoint, context.hand_out):
            try:
                await keep([payload["token"]])
            except InvalidInput as error:
                refused.append(str(error))
        await context.checkpoint({"page": 7})
        async with context.transaction({"stored": payload["token"]}):
            pass

    async with keyed.worker():
        payload = {"token": "{{secret:token}}"}
        run = await keyed.ends(await keyed.submit("hoarding", payload))

    assert [each.split(":")[0] for each in refused] == ["checkpoint", "items"]
    assert run.state is RunState.SUCCEEDED
    assert json.loads(run.result or "") == {"stored": "***"}
    await assert_kept_nowhere(keyed)
