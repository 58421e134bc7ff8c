"""A figure is published with the state of the machine it was taken on."""

import os

import pytest

from rota_bench.machine import (
    CpuTimes,
    MachineState,
    describe_conditions,
    parse_cpu_times,
    read_state,
)


def test_the_note_tells_how_steady_the_machine_was() -> None:
    before = MachineState(loop=0.2, times=CpuTimes(passed=100, busy=10, stolen=5), own=1)
    after = MachineState(loop=0.4, times=CpuTimes(passed=300, busy=110, stolen=15), own=61)

    note = describe_conditions(before, after, server="PostgreSQL 18")

    assert "PostgreSQL 18" in note
    assert "0.20 s before and 0.40 s after" in note
    assert "other programs took 20 % and other guests 5 %" in note


def test_the_note_admits_what_the_machine_does_not_tell() -> None:
    moment = MachineState(loop=0.2, times=CpuTimes(), own=0)

    assert "an unknown part" in describe_conditions(moment, moment, server="PostgreSQL 18")


def test_looking_times_a_loop_by_the_clock_it_is_given() -> None:
    times = iter([10.0, 10.25])

    moment = read_state(lambda: next(times), pids=[os.getpid()])

    assert moment.loop == 0.25
    assert 0 < moment.own <= moment.times.busy <= moment.times.passed


def test_time_waited_for_a_disk_is_not_busy_time() -> None:
    times = parse_cpu_times("cpu  100 10 50 700 80 20 10 30 7 0", tick=0.01)

    assert times.passed == pytest.approx(10.0)
    assert times.busy == pytest.approx(1.9)
    assert times.stolen == pytest.approx(0.3)
