"""Processor time is read from the kernel: of a process, its children, and those that ended (P1)."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from rota_bench import cpu_usage
from rota_bench.cpu_usage import parse_stat

# Burns so much processor time in a child that ends, and then so much itself; then waits.
PROGRAM = """
import subprocess, sys, time
def burn(seconds):
    while time.process_time() < seconds: pass
if sys.argv[1:] == ["child"]:
    burn(0.3)
else:
    subprocess.run([sys.executable, "-c", sys.argv[1], "child"], check=True)
    burn(0.2)
    print("done", flush=True)
    sys.stdin.read()
"""


@contextmanager
def burnt() -> Iterator[int]:
    """A process that has used about half a second by now, most of it in a child that is gone."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        yield process.pid
        assert process.stdin is not None
        process.stdin.close()


def test_the_time_of_a_process_includes_children_that_ended() -> None:
    with burnt() as pid:
        used = cpu_usage.read_tree_seconds(pid)
        alone = cpu_usage.read_usage(pid)

    assert used is not None
    assert alone is not None
    assert used >= 0.45
    assert alone.own < used
    assert alone.ended_children >= 0.25


def test_the_time_of_a_tree_includes_children_that_live() -> None:
    before = cpu_usage.read_tree_seconds(os.getpid())

    with burnt():
        after = cpu_usage.read_tree_seconds(os.getpid())

    assert before is not None
    assert after is not None
    assert after - before >= 0.45


def test_a_process_that_is_not_there_has_no_figure() -> None:
    with burnt() as pid:
        assert cpu_usage.sum_tree_seconds([os.getpid(), pid]) is not None

    assert cpu_usage.sum_tree_seconds([os.getpid(), pid]) is None


@pytest.mark.parametrize("name", ["python3", "a b", "x) R 1 (y", "postgres: worker)"])
def test_a_name_may_hold_anything(name: str) -> None:
    line = f"42 ({name}) S 7 1 1 0 -1 4194304 9 9 9 9 150 50 30 20 20 0 1 0 123 0 0"

    usage = parse_stat(line, tick=0.01)

    assert usage.pid == 42
    assert usage.parent == 7
    assert usage.own == pytest.approx(2.0)
    assert usage.ended_children == pytest.approx(0.5)
