"""Restarts a worker when the source of its app changes: `rota worker --reload`.

For development. The worker is a child process; this process checks the files once a second. It
first imports the new code in a third process: if that fails, it prints one message and the old code
keeps running. A replaced worker finishes its current runs.

    python -m rota.processes.reloader <module:attribute>    imports it and prints its files
"""

import json
import os
import signal
import subprocess
import sys
import sysconfig
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from rota.core.errors import InvalidInput, RotaError
from rota.processes.app_loader import PACKAGE_ROOT, load_handlers

CHECK_INTERVAL_S: Final = 1.0
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
# Modification time and size; None for a missing file.
Stamp = tuple[int, int] | None


class AppImportResult(NamedTuple):
    """The result of importing an app: its files, and the error if it failed."""

    files: list[str]
    error: str | None


class WorkerReloader:
    """Watches the files of an app. `command` starts a worker; `say` prints messages."""

    def __init__(self, app: str, command: Sequence[str], *, say: Callable[[str], object]) -> None:
        self._app = app
        self._command = command
        self._say = say
        self._stop = threading.Event()
        self._workers: list[subprocess.Popen[bytes]] = []
        self._stamps: dict[str, Stamp] = {}

    def run(self) -> int:
        """Run until stopped; return the exit code of the last worker."""
        tried = check_app_import(self._app)
        if tried.error is not None:
            raise InvalidInput("app", self._app, tried.error)
        self._stamps = read_stamps(tried.files)
        with self._forwarding_signals():
            worker = self._start()
            first = worker
            while not self._stop.wait(CHECK_INTERVAL_S):
                if first.poll() is not None and worker is first:
                    return first.returncode
                if worker.poll() is not None and worker in self._workers:
                    self._say(f"The worker exited with {worker.returncode}; a change restarts it")
                self._workers = [each for each in self._workers if each.poll() is None]
                if self._has_changed() and self._is_good():
                    send_signal([worker], signal.SIGTERM)
                    worker = self._start()
            for each in self._workers:
                each.wait()
        return worker.wait()

    def _start(self) -> subprocess.Popen[bytes]:
        # Its own process group: Ctrl-C reaches it once, through this process.
        worker = subprocess.Popen(self._command, process_group=0)
        self._workers.append(worker)
        return worker

    def _has_changed(self) -> bool:
        stamps = read_stamps(self._stamps)
        changed = [name for name, stamp in stamps.items() if stamp != self._stamps[name]]
        self._stamps = stamps
        if changed:
            names = ", ".join(Path(name).name for name in changed[:3])
            self._say(f"Changed: {names}{' and more' if len(changed) > 3 else ''}")
        return bool(changed)

    def _is_good(self) -> bool:
        tried = check_app_import(self._app)
        # Watch new files as well; keep the old ones, because they may return.
        self._stamps = read_stamps(tried.files) | self._stamps
        if tried.error is not None:
            self._say(f"The new code cannot be imported; the old code keeps running: {tried.error}")
        return tried.error is None

    @contextmanager
    def _forwarding_signals(self) -> Iterator[None]:
        """Forward signals to the workers: the first one drains them, a second one cancels."""

        def forward(_number: int, _frame: FrameType | None) -> None:
            self._stop.set()
            send_signal(self._workers, signal.SIGTERM)

        before = {each: signal.signal(each, forward) for each in SIGNALS}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)


def send_signal(processes: Iterable[subprocess.Popen[bytes]], number: signal.Signals) -> None:
    for each in processes:
        if each.poll() is None:
            each.send_signal(number)


def read_stamps(files: Iterable[str]) -> dict[str, Stamp]:
    return {name: read_stamp(name) for name in files}


def read_stamp(name: str) -> Stamp:
    try:
        found = Path(name).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def check_app_import(app: str) -> AppImportResult:
    """Import the app in a separate process."""
    done = subprocess.run(
        [sys.executable, "-m", "rota.processes.reloader", app],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    try:
        # Output of the import precedes the last line.
        files, error = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return AppImportResult([], f"its import exited the process with code {done.returncode}")
    return AppImportResult(files, error)


def main(app: str) -> None:
    """Print the files of the app, and its import error."""
    error, seen = None, set[str]()
    try:
        load_handlers(app)
    except RotaError as refused:
        error = refused.wanted if isinstance(refused, InvalidInput) else str(refused)
        seen = set(list_traceback_files(refused.__cause__))
    seen |= {name for module in list(sys.modules.values()) if (name := get_source_file(module))}
    # Write to the descriptor: the module may have replaced sys.stdout.
    os.write(1, json.dumps([sorted(filter(is_user_file, seen)), error]).encode() + b"\n")


def get_source_file(module: Any) -> str | None:
    """Return the source file of a module. User modules may have any `__file__`."""
    name = getattr(module, "__file__", None)
    return name if isinstance(name, str) and name.endswith(".py") else None


def list_traceback_files(error: BaseException | None) -> Iterator[str]:
    """Return the files of a traceback: a module that failed to import is listed nowhere else."""
    if error is None:
        return
    yield from (frame.filename for frame in traceback.extract_tb(error.__traceback__))
    if isinstance(error, SyntaxError) and error.filename:
        yield error.filename


def is_user_file(name: str) -> bool:
    """Return whether a file is neither part of Python, nor installed, nor part of Rota."""
    places = {sysconfig.get_path(each) for each in ("stdlib", "platstdlib", "purelib", "platlib")}
    places.add(str(PACKAGE_ROOT))
    path = Path(name)
    return path.is_absolute() and not any(path.is_relative_to(place) for place in places)


if __name__ == "__main__":
    main(sys.argv[1])
