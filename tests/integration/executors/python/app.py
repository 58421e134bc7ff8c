"""The handlers that child processes import; each misbehaves in its own way."""

# ruff: noqa: T201 — what handlers print is caught

import asyncio
import ctypes
import logging
import os
import resource
import stat
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext, Fail, Retry, Snooze, Stream
from rota.executors.python import MB, AttemptCancelled, BlockingContext, Handlers

handlers = Handlers()
log = logging.getLogger("app")
kept: list[bytearray] = []


class CardRefused(Fail):
    pass


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


ERRORS: dict[str, BaseException] = {
    "ValueError": ValueError("no such apple"),
    "Fail": Fail("never"),
    "CardRefused": CardRefused("stolen"),
    "Retry": Retry("busy", after=timedelta(seconds=9)),
    "Snooze": Snooze(timedelta(minutes=2), "nothing yet"),
    "InvalidInput": InvalidInput("amount", -1, "a positive number"),
    "SystemExit": SystemExit(3),
    "KeyboardInterrupt": KeyboardInterrupt(),
    "AttemptCancelled": AttemptCancelled(),
    "Unspeakable": Unspeakable(),
}


def doubled(payload: Any) -> Any:
    if payload == "wrong":
        raise InvalidInput("payload", payload, "something else")
    return (payload, payload)


def tell_pid() -> None:
    print(f"pid {os.getpid()}.", flush=True)


@handlers.handler("facts", isolation="process", check=doubled)
def facts(context: BlockingContext, payload: Any) -> Any:
    return {
        "pid": os.getpid(),
        "payload": payload,
        "run": context.run_id,
        "attempt": context.attempt,
        "key": context.idempotency_key,
        "due": context.due_at,
        "timeout": context.timeout,
        "cancelled": context.cancelled,
    }


@handlers.handler("pid", isolation="process")
def pid(context: BlockingContext, payload: Any) -> int:
    return os.getpid()


@handlers.handler("small", isolation="process", memory=128 * MB)
def small(context: BlockingContext, payload: Any) -> int:
    return os.getpid()


@handlers.handler("limits", isolation="process", memory=200 * MB)
def limits(context: BlockingContext, payload: Any) -> Any:
    names = ("RLIMIT_DATA", "RLIMIT_CORE", "RLIMIT_NOFILE")
    soft = {name: resource.getrlimit(getattr(resource, name))[0] for name in names}
    return soft | {"own group": os.getpgid(0) == os.getpid()}


@handlers.handler("environment", isolation="process")
def environment(context: BlockingContext, payload: Any) -> Any:
    return {name: value for name, value in os.environ.items() if "PYTHONPATH" in name}


@handlers.handler("variables", isolation="process")
def variables(context: BlockingContext, payload: Any) -> Any:
    return dict(os.environ)


@handlers.handler("variable", isolation="process")
def variable(context: BlockingContext, payload: Any) -> Any:
    return os.environ[payload]


@handlers.handler("privileges", isolation="process")
def privileges(context: BlockingContext, payload: Any) -> Any:
    status = Path("/proc/self/status").read_text()
    return next(line.split()[1] for line in status.splitlines() if "NoNewPrivs" in line)


@handlers.handler("walk", isolation="process")
def walk(context: BlockingContext, payload: Any) -> Any:
    start = context.resume()
    context.progress(0.5, "half")
    context.progress(7, "too far")
    context.checkpoint({"at": start["at"] + 1})
    return start


@handlers.handler("async walk", isolation="process")
async def async_walk(context: AttemptContext, payload: Any) -> Any:
    start = await context.resume()
    context.progress(0.5, "half")
    await context.checkpoint({"at": start["at"] + 1})
    return start


@handlers.handler("save", isolation="process")
def save(context: BlockingContext, payload: Any) -> str:
    try:
        context.checkpoint(1)
    except Exception as error:  # noqa: BLE001 — the test wants to know which
        return f"{type(error).__name__}: {error}"
    return "saved"


@handlers.handler("transaction", isolation="process")
async def transaction(context: AttemptContext, payload: Any) -> None:
    context.transaction()


@handlers.handler("speak", isolation="process")
def speak(context: BlockingContext, payload: Any) -> None:
    print("printed")
    print("complained", file=sys.stderr)
    log.info("recorded")
    context.write(Stream.STDOUT, b"written\n")
    subprocess.run(["echo", "from a program"], check=True)
    thread = threading.Thread(target=log.warning, args=("from a thread",))
    thread.start()
    thread.join()
    sys.stdout.write("last words, unfinished")


@handlers.handler("loud", isolation="process")
def loud(context: BlockingContext, payload: int) -> None:
    line = b"x" * 1_000_000
    for _ in range(payload):
        os.write(1, line)


@handlers.handler("raise", isolation="process")
def raise_(context: BlockingContext, payload: str) -> None:
    raise ERRORS[payload]


@handlers.handler("async raise", isolation="process")
async def async_raise(context: AttemptContext, payload: str) -> None:
    raise ERRORS[payload]


@handlers.handler("recurse", isolation="process")
def recurse(context: BlockingContext, payload: Any) -> int:
    return recurse(context, payload) + 1


@handlers.handler("return", isolation="process")
def return_(context: BlockingContext, payload: str) -> Any:
    match payload:
        case "object":
            return object()
        case "coroutine":
            return async_walk(context, None)  # type: ignore[arg-type]
        case _:
            return "x" * (17 * MB)


@handlers.handler("exit", isolation="process")
def exit_(context: BlockingContext, payload: int) -> None:
    print("going", flush=True)
    os._exit(payload)


@handlers.handler("kill", isolation="process")
def kill(context: BlockingContext, payload: int) -> None:
    os.kill(os.getpid(), payload)


@handlers.handler("segfault", isolation="process")
def segfault(context: BlockingContext, payload: Any) -> None:
    ctypes.string_at(0)


@handlers.handler("nonsense", isolation="process")
def nonsense(context: BlockingContext, payload: Any) -> None:
    """Write to every socket this process has."""
    for descriptor in range(3, 64):
        try:
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                os.write(descriptor, b"\xff\xff\xff\xff nonsense")
        except OSError:
            pass


@handlers.handler("hog", isolation="process", memory=96 * MB)
def hog(context: BlockingContext, payload: Any) -> None:
    hoard = []
    while True:
        hoard.append(bytearray(8 * MB))


@handlers.handler("keep", isolation="process", memory=128 * MB)
def keep(context: BlockingContext, payload: int) -> int:
    kept.append(bytearray(os.urandom(MB)) * payload)
    return os.getpid()


@handlers.handler("endless", isolation="process")
def endless(context: BlockingContext, payload: Any) -> None:
    try:
        tell_pid()
        threading.Event().wait()
    except Exception:  # noqa: BLE001 — what a careless handler does
        print("swallowed")
    except AttemptCancelled:
        print(f"cleaning up, {context.cancelled}")
        raise


@handlers.handler("async endless", isolation="process")
async def async_endless(context: AttemptContext, payload: Any) -> None:
    try:
        tell_pid()
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        print(f"cleaning up, {context.cancelled}")
        raise


@handlers.handler("talkative", isolation="process")
def talkative(context: BlockingContext, payload: Any) -> None:
    """Is in the middle of a frame nearly all the time."""
    try:
        tell_pid()
        while True:
            context.write(Stream.STDOUT, b"x" * 1_000_000)
    finally:
        context.write(Stream.STDERR, b"cleaning up")


@handlers.handler("saving", isolation="process")
def saving(context: BlockingContext, payload: Any) -> None:
    try:
        context.checkpoint("begun")
    finally:
        print("cleaning up")


@handlers.handler("deaf", isolation="process")
def deaf(context: BlockingContext, payload: Any) -> None:
    """Stops for nothing, and has started a program that does not either."""
    program = "import signal; signal.signal(15, signal.SIG_IGN); print('up', flush=True); "
    started = subprocess.Popen(
        [sys.executable, "-c", program + "signal.pause()"], stdout=subprocess.PIPE
    )
    assert started.stdout is not None
    started.stdout.readline()
    print(f"program {started.pid}.", flush=True)
    while True:
        try:
            tell_pid()
            threading.Event().wait()
        except AttemptCancelled:
            print("no", flush=True)


left: list[threading.Thread] = []
heard: list[str] = []
release = threading.Event()


@handlers.handler("leave a thread", isolation="process")
def leave_a_thread(context: BlockingContext, payload: Any) -> None:
    def speak_late() -> None:
        release.wait()
        context.write(Stream.STDOUT, b"late")
        try:
            context.connection.checkpoint("late")
        except RuntimeError as error:
            heard.append(str(error))
        try:
            context.progress(0.5, "late")
        except AttemptCancelled:
            heard.append("cancelled")

    left.append(threading.Thread(target=speak_late))
    left[0].start()


@handlers.handler("let it speak", isolation="process")
def let_it_speak(context: BlockingContext, payload: Any) -> list[str]:
    release.set()
    left[0].join()
    return heard


@handlers.handler("fork", isolation="process")
def fork(context: BlockingContext, payload: Any) -> None:
    """End, while a forked process that inherited everything lives on in a session of its own."""
    mine, its = os.pipe()
    if os.fork() == 0:
        os.setsid()
        tell_pid()
        os.write(its, b"!")
        threading.Event().wait()
    os.read(mine, 1)
    os._exit(5)
