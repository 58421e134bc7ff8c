"""Starts child processes and watches for their exit."""

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

from rota.executors.python.confinement import WORKER_PATH_VARIABLE

CHILD_MODULE: Final = "rota.executors.python.child"


def spawn_child(
    child_socket: socket.socket, source: str, memory: int, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a child with this environment plus the module search path of this process."""
    # -P: the child searches the working folder only if this process does.
    words = [str(child_socket.fileno()), str(os.getpid()), str(memory), source]
    return subprocess.Popen(
        [sys.executable, "-P", "-m", CHILD_MODULE, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=(child_socket.fileno(),),
        # A session of its own is a group of its own, which the terminal's Ctrl-C does not reach.
        start_new_session=True,
        env={
            **environment,
            "PYTHONPATH": build_search_path(),
            WORKER_PATH_VARIABLE: environment.get("PYTHONPATH", ""),
        },
    )


def build_search_path() -> str:
    """Return the module search path of this process; an empty entry means the working folder."""
    return os.pathsep.join(entry or str(Path.cwd()) for entry in sys.path)


def watch_process(process: subprocess.Popen[bytes], when_ended: Callable[[], None]) -> None:
    """Call `when_ended` on this loop when the process has ended."""
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
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(when_ended)

    threading.Thread(target=wait, name="rota-child-watch", daemon=True).start()
