"""Real processes: each test writes a small program and runs it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

# Generous, because the machine may be busy; no test waits for it to pass.
DEADLINE = 60

PREAMBLE = """
    import asyncio, re, sys, time
    from datetime import timedelta
    from random import Random
    from rota.runtime.clock import SystemClock
    from rota.runtime.service import Pulse
    from rota.runtime.service import Duty, ServiceContext
    from rota.runtime.signals import stop_on_signals
    from rota.runtime.service import Stop
    from rota.runtime.service import Tier, run_tiers
    from rota.runtime.watchdog import Watchdog

    def say(what):
        print(what, flush=True)
"""

Start = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a program; end it, by its own number, if the test has not."""
    started: list[subprocess.Popen[str]] = []

    def start(program: str) -> subprocess.Popen[str]:
        path = tmp_path / "program.py"
        path.write_text(dedent(PREAMBLE) + dedent(program))
        process = subprocess.Popen(
            [sys.executable, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()
