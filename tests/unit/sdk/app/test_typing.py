"""A type checker knows a job as well as the function that it was, and every operation (I3)."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
HEAD = """
from collections.abc import Coroutine
from typing import Any

import rota

app = rota.App("billing", retries=3)


@app.job(cron="0 9 * * *", timezone="Europe/Berlin", args={"amount": 3})
async def charge(ctx: rota.Context, amount: int, note: str = "") -> str:
    ctx.log.info("charging %s", amount)
    await ctx.checkpoint(amount)
    return note


@rota.job(timeout="5m")
def count(ctx: rota.SyncContext, names: list[str]) -> int:
    ctx.checkpoint(1)
    return len(names)


@app.job()
async def bare(amount: int) -> None: ...


@app.job()
def plain(amount: int) -> float:
    return amount / 2


"""
GOOD = """
def submits(ctx: rota.Context) -> None:
    text: str = charge.submit(5, note="x").result()
    number: int = count.options(queue="slow").submit(["a"]).result(timeout="5s")
    nothing: None = bare.after("10m", 5).result()
    half: float = plain.at("2030-01-01T09:00:00Z", amount=5).result()
    called: Coroutine[Any, Any, str] = charge(ctx, 5)
    direct: float = plain(5)


more = rota.App("more", queue="slow", jobs=[count])
kinds: list[str] = [each.kind for each in more]


async def awaits() -> None:
    text: str = await (await charge.submit_async(5)).result_async()
    async with rota.AsyncClient() as client:
        name: str | None = (await client.get_job("x")).name
        async for each in client.iterate(client.list_jobs, kind="x"):
            name = each.name
        await client.delete_job("x")


def calls(client: rota.Client) -> None:
    name: str | None = client.get_job("x").name
    for each in client.iterate(client.list_jobs, kind="x"):
        name = each.name
    client.create_job(kind="x", priority="high", timeout="5m")
"""
BAD = {
    'charge.submit("5")': "arg-type",
    "charge.submit()": "call-arg",
    "charge.submit(5, colour=1)": "call-arg",
    'bare.after("10m")': "call-arg",
    'plain.submit(amount="x")': "arg-type",
    "wrong: int = charge.submit(5).result()": "assignment",
    'charge.options(priority="urgent")': "arg-type",
    "charge.options(colour=1)": "call-arg",
    "app.job(crone='x')": "call-arg",
    "plain()": "call-arg",
    "rota.Client().get_job()": "call-arg",
    "rota.Client().create_job(colour=1)": "call-arg",
    "rota.Client().get_job(1)": "arg-type",
    'text: str = rota.Client().get_job("x")': "assignment",
    'rota.AsyncClient().get_job("x").name': "attr-defined",
}


def test_right_calls_pass_and_wrong_ones_are_found(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(HEAD + GOOD)
    bad.write_text(HEAD + "\n".join(BAD) + "\n")
    first = HEAD.count("\n") + 1

    # With the settings and the cache of `make check`: all of Rota is behind `import rota`.
    done = subprocess.run(
        [sys.executable, "-m", "mypy", str(good), str(bad)],
        cwd=ROOT,
        env={"MYPYPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )

    found = {
        int(line.split("bad.py:")[1].split(":")[0]): line.rsplit("[", 1)[1].rstrip("]")
        for line in done.stdout.splitlines()
        if "bad.py:" in line and ": error:" in line
    }
    assert "good.py" not in done.stdout, done.stdout
    assert found == {first + place: code for place, code in enumerate(BAD.values())}, done.stdout
