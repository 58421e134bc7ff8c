"""A whole Rota in a folder of its own, as `rota up` starts it, and the program that talks to it."""

import contextlib
import io
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rota.cli.main import run
from rota.sdk.client import Client
from tests.support.terminal import Terminal, in_terminal

ROTA = Path(sys.executable).with_name("rota")
PATIENCE = 60.0
LOOKS = 0.02
KIT = '''
import asyncio
from pathlib import Path

from rota.core.executor import Fail
from rota.executors.python import Handlers

handlers = Handlers()


@handlers.handler("kit.greet")
async def greet(_context, payload):
    print(f"hello {payload['name']}")
    return {"greeted": payload["name"]}


@handlers.handler("kit.fail")
async def fail(_context, _payload):
    raise Fail("customer 4711 does not exist")


@handlers.handler("kit.hostile")
async def hostile(context, payload):
    """Says what it was given wherever a handler can say something."""
    context.progress(0.5, payload)
    print(payload)
    raise Fail(payload)


@handlers.handler("kit.steps")
async def steps(context, payload):
    """Goes half of the way, and the rest when the gate is there."""
    context.progress(0.5, "half of the way")
    print("half of the way", flush=True)
    while not Path(payload["gate"]).exists():
        await asyncio.sleep(0.02)
    print("through the gate")
'''


class Said(NamedTuple):
    """How a call of the program ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def clean(**extra: str) -> dict[str, str]:
    """Our environment without settings of whoever runs the tests."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
    return kept | {"COLUMNS": "200"} | extra


def ran(*arguments: str, folder: Path, **variables: str) -> Said:
    """The program as a process of its own, with nothing on its standard input."""
    done = subprocess.run(
        [ROTA, *arguments],
        cwd=folder,
        env=clean(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )
    return Said(done.returncode, done.stdout, done.stderr)


def speaks(process: "subprocess.Popen[str]", *, within: float) -> bool:
    """Whether it has written something, or does within this time."""
    assert process.stdout is not None
    return bool(select.select([process.stdout], [], [], within)[0])


def until(condition: Callable[[], Any], what: str) -> Any:
    """Look again until it is so."""
    rest = threading.Event()
    for _ in range(round(PATIENCE / LOOKS)):
        if found := condition():
            return found
        rest.wait(LOOKS)
    raise AssertionError(f"it never came: {what}")


@dataclass(kw_only=True)
class Installation:
    """`rota up` with a few handlers. `client` has the first key, which the start made."""

    folder: Path
    url: str
    client: Client
    process: subprocess.Popen[str]

    def rota(self, *arguments: str, stdin: str = "", **variables: str) -> Said:
        """The program in this process: the same code from its arguments to its exit code, without
        the half second that an interpreter needs to start.
        """
        out, err = io.StringIO(), io.StringIO()
        before = (sys.argv, sys.stdin, dict(os.environ), Path.cwd())
        sys.argv, sys.stdin = ["rota", *arguments], io.StringIO(stdin)
        os.environ.clear()
        os.environ.update(clean(**{"ROTA_URL": self.url} | variables))
        os.chdir(self.folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = run()
        finally:
            sys.argv, sys.stdin = before[:2]
            os.environ.clear()
            os.environ.update(before[2])
            os.chdir(before[3])
        return Said(code, out.getvalue(), err.getvalue())

    @contextmanager
    def started(self, *arguments: str, **more: Any) -> Iterator[subprocess.Popen[str]]:
        """The program as a process of its own that goes on, and is killed if it still does."""
        with subprocess.Popen(
            [ROTA, *arguments],
            cwd=self.folder,
            env=clean(ROTA_URL=self.url),
            text=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def in_terminal(self, *arguments: str, width: int = 100) -> Iterator[Terminal]:
        """The program at a terminal."""
        environment = clean(ROTA_URL=self.url)
        # A terminal says by itself how wide it is.
        del environment["COLUMNS"]
        words = [str(ROTA), *arguments]
        with in_terminal(
            words, folder=self.folder, environment=environment, width=width
        ) as terminal:
            yield terminal

    def ended(self, run_id: str) -> Any:
        """The run, once it has ended."""
        return until(lambda: self._final(run_id), f"the end of {run_id}")

    def _final(self, run_id: str) -> Any:
        found = self.client.get_run(run_id)
        return found if found.end_time is not None else None


@contextmanager
def installed(folder: Path, *, app: str = "kit:handlers") -> Iterator[Installation]:
    (folder / "kit.py").write_text(KIT)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [ROTA, "up", app],
            cwd=folder,
            env=clean(ROTA_API__PORT="0"),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
    try:
        url = address_said(process)
        key = (folder / ".rota" / "admin.key").read_text().strip()
        with Client(url, key) as client:
            yield Installation(folder=folder, url=url, client=client, process=process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def address_said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    url = ""
    for line in process.stdout:
        if line.startswith("API at "):
            url = line.split()[2].rstrip(",")
        if line.startswith("Rota is up"):
            return url
    raise AssertionError("it ended")
