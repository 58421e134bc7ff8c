"""`rota bench` as people start it: real processes, a database of its own (P1 to P5)."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.support.processes import PROC

ROTA = Path(sys.executable).with_name("rota")
PATIENCE = 90


def environment(folder: Path, **extra: str) -> dict[str, str]:
    """Ours, without settings of whoever runs the tests; temporary files go to the folder."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
    return kept | {"TMPDIR": str(folder)} | extra


def bench(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [ROTA, "bench", *words],
        cwd=folder,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


@contextmanager
def benching(folder: Path, *words: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [ROTA, "bench", *words],
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_quick_look_publishes_every_key_and_sane_figures(tmp_path: Path) -> None:
    words = ("--quick", "--only", "pickup", "inflight", "--json", "--plot", "figures.svg")

    done = bench(tmp_path, *words)

    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["failed"] == {}
    assert figures["in_flight"] == 1000
    pickup = figures["pickup_ms"]
    assert 0 < pickup["p50"] <= pickup["p99"] <= pickup["max"] < 10_000
    not_run = {"drain_runs_per_s", "throughput_runs_per_s", "fire_lag_ms", "herd_10000_s"}
    not_run |= {"cron_10000_per_s", "neighbour_ratio", "cpu_us_per_run"}
    assert {figures[key] for key in not_run} == {None}
    assert "pickup: " in done.stderr
    assert "inflight: " in done.stderr
    assert ET.parse(tmp_path / "figures.svg").getroot().tag.endswith("svg")
    assert [path.name for path in tmp_path.iterdir()] == ["figures.svg"]


def test_an_interrupted_bench_leaves_no_process_and_no_file_behind(tmp_path: Path) -> None:
    with benching(tmp_path, "--only", "pickup") as process:
        children = wait_for_children(process, number=2)

        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)

    assert code == 130
    assert not any((PROC / str(child)).exists() for child in children)
    assert list(tmp_path.iterdir()) == []


def test_a_part_whose_process_dies_does_not_cost_the_other_figures(tmp_path: Path) -> None:
    with benching(tmp_path, "--quick", "--only", "pickup", "inflight", "--json") as process:
        for child in wait_for_children(process, number=2):
            os.kill(child, signal.SIGKILL)

        said, _ = process.communicate(timeout=PATIENCE)

    figures = json.loads(said)
    assert process.returncode == 1
    assert figures["pickup_ms"] is None
    assert "ended with -9" in figures["failed"]["pickup"]
    assert figures["in_flight"] == 1000


def test_a_picture_that_cannot_be_drawn_is_refused_before_anything_starts(tmp_path: Path) -> None:
    for name, wanted in (("figures.png", ".svg"), ("nowhere/figures.svg", "folder does not exist")):
        done = bench(tmp_path, "--plot", name)

        assert done.returncode == 64
        assert done.stderr.startswith("rota: --plot: ")
        assert wanted in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_server_is_only_measured_when_it_is_named(tmp_path: Path) -> None:
    done = bench(tmp_path, "--server")

    assert done.returncode == 64
    assert "ROTA_DATABASE_URL" in done.stderr


def test_a_part_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    done = bench(tmp_path, "--only", "nothing")

    assert done.returncode != 0
    assert "neighbour" in done.stderr + done.stdout


def wait_for_children(process: "subprocess.Popen[str]", *, number: int) -> list[int]:
    """Those that the bench has started, once there are as many."""
    file = PROC / str(process.pid) / "task" / str(process.pid) / "children"
    ended = os.pidfd_open(process.pid)
    try:
        for _ in range(PATIENCE * 20):
            children = [int(word) for word in file.read_text().split()]
            if len(children) >= number:
                return children
            assert not select.select([ended], [], [], 0.05)[0], "the bench has ended"
    finally:
        os.close(ended)
    raise AssertionError("no processes were started")
