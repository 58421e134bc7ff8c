"""How a child process is started, and how its end is noticed. Room: executors/python."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from rota.executors.python.confinement import OUTER_PATH

PROGRAM: Final = "rota.executors.python.child"


def spawn(
    theirs: socket.socket, source: str, memory: int, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a child with this environment; where it finds modules is added."""
    # -P: the working folder is looked in only if this process looks there, too.
    words = [str(theirs.fileno()), str(os.getpid()), str(memory), source]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", PROGRAM, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=(theirs.fileno(),),
        # A session of its own is a group of its own, out of reach of the terminal's Ctrl-C.
        start_new_session=True,
        env={
            **environment,
            "PYTHONPATH": search_path(),
            OUTER_PATH: environment.get("PYTHONPATH", ""),
        },
    )


def search_path() -> str:
    """Where this process finds modules; an empty entry means the working folder."""
    return os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)


def watch(process: subprocess.Popen[bytes], when_ended: Callable[[], None]) -> None:
    """Call back on this loop when the process has ended."""
    loop = asyncio.get_running_loop()
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):  # not Linux, or an old kernel
        watch_in_thread(process, loop, when_ended)
        return

    def on_readable() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        when_ended()

    loop.add_reader(descriptor, on_readable)


def watch_in_thread(
    process: subprocess.Popen[bytes],
    loop: asyncio.AbstractEventLoop,
    when_ended: Callable[[], None],
) -> None:
    def wait() -> None:
        process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed, nobody wants to know
            loop.call_soon_threadsafe(when_ended)

    threading.Thread(target=wait, name="rota-child-watch", daemon=True).start()
