"""Handlers that do not stop when they are asked to, and say in a file that they still work."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rota.core.executor import AttemptContext
from rota.executors.python import BlockingContext, Handlers

handlers = Handlers()
PAUSE_S = 0.02
# A process of its own, in the group of the one that starts it.
GRANDCHILD = """
import sys, time
while True:
    with open(sys.argv[1], "a") as file:
        print(sys.argv[2], time.monotonic(), file=file)
    time.sleep(0.02)
"""


def say(path: str, attempt: int) -> None:
    with Path(path).open("a") as file:
        file.write(f"{attempt} {time.monotonic()}\n")


def read(path: Path) -> dict[int, list[float]]:
    """When each attempt said that it works."""
    said: dict[int, list[float]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        attempt, moment = line.split()
        said.setdefault(int(attempt), []).append(float(moment))
    return said


def work_on(path: str, attempt: int) -> None:
    """The first attempt never ends by itself, the others do at once."""
    say(path, attempt)
    while attempt == 1:
        threading.Event().wait(PAUSE_S)
        say(path, attempt)


@handlers.handler("thread")
def in_thread(context: BlockingContext, payload: Any) -> None:
    work_on(payload["path"], context.attempt)


@handlers.handler("blocking")
async def blocking(context: AttemptContext, payload: Any) -> None:
    """Blocks the loop of all attempts."""
    work_on(payload["path"], context.attempt)


@handlers.handler("deaf")
async def deaf(context: AttemptContext, payload: Any) -> None:
    """Catches every cancellation."""
    say(payload["path"], context.attempt)
    while context.attempt == 1:
        try:
            await asyncio.wait_for(asyncio.Event().wait(), PAUSE_S)
        except TimeoutError:
            say(payload["path"], context.attempt)
        except asyncio.CancelledError:
            continue


@handlers.handler("child", isolation="process")
def in_child(context: BlockingContext, payload: Any) -> None:
    """Ignores every signal that can be ignored, and so does what it has started."""
    if context.attempt == 1:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        words = [sys.executable, "-c", GRANDCHILD, payload["path"], "1"]
        subprocess.Popen(words, env={"PATH": os.environ["PATH"]})
    work_on(payload["path"], context.attempt)
