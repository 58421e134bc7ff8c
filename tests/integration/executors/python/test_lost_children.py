"""Children that end, do not end, or outlive their use (E11, F23, F24)."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from datetime import timedelta

import pytest
from tests.integration.executors.python.conftest import Family, Held, Started
from tests.unit.executors.python.recording import DEADLINE, Recording

from rota.core.executor import Stream
from rota.core.outcome import Succeeded
from rota.executors.python.child_process import describe_exit
from rota.executors.python.child_spawner import watch_in_thread

CHILD = [sys.executable, "-m", "rota.executors.python.child"]


@pytest.mark.parametrize(
    ("kind", "payload", "fate"),
    [
        ("exit", 7, "exited with code 7"),
        ("exit", 0, "exited with code 0"),
        ("kill", signal.SIGKILL, "was killed by SIGKILL"),
        ("segfault", None, "was killed by SIGSEGV"),
        ("nonsense", None, "after an invalid message"),
    ],
)
async def test_a_lost_child_is_a_failure_and_harms_no_other_run(
    family: Family, kind: str, payload: object, fate: str
):
    other = Recording()
    other.gate = asyncio.Event()
    neighbour = asyncio.ensure_future(family.run("save", context=other))
    await other.hears("checkpoint")

    failed = await family.failure(kind, payload)
    other.gate.set()

    assert failed.failure.type == "child lost"
    assert fate in failed.failure.message
    assert not failed.final
    assert await neighbour == Succeeded(result="saved")
    assert await family.result("pid") > 0


async def test_what_a_child_said_before_it_was_lost_is_kept(family: Family):
    gone, crashed = Recording(), Recording()

    await family.failure("exit", 1, context=gone)
    await family.failure("segfault", context=crashed)

    assert gone.said(Stream.STDOUT) == "going\n"
    assert "in segfault" in crashed.said(Stream.STDERR)


async def test_a_memory_hog_fails_alone_and_its_child_is_not_used_again(family: Family):
    context = Recording()

    failed = await family.failure("hog", context=context)

    assert failed.failure.type == "MemoryError"
    assert "in hog" in context.said(Stream.ERROR)
    assert await family.result("pid") > 0


async def test_a_child_that_died_idle_is_replaced(family: Family):
    child = Held(await family.result("pid"))
    child.kill()
    await child.ends()
    await settled(family, 0)

    assert await family.result("pid") != child.pid


async def test_a_forked_process_does_not_hide_that_its_child_ended(family: Family):
    context = Recording()

    try:
        failed = await family.failure("fork", context=context)
    finally:
        for pid in re.findall(r"pid (\d+)\.", context.said()):
            Held(int(pid)).kill()

    assert "exited with code 5" in failed.failure.message


@pytest.mark.parametrize("kind", ["endless", "async endless"])
async def test_a_cancelled_handler_cleans_up_and_its_child_ends(family: Family, kind: str):
    context = Recording(grace=DEADLINE)
    started = await family.begin(kind, context)

    await started.cancel()

    assert context.said(Stream.STDOUT).endswith("cleaning up, True\n")
    assert context.said(Stream.ROTA) + context.said(Stream.ERROR) == ""
    assert all(process.has_ended for process in started.processes)


async def test_an_interrupt_never_splits_a_frame(family: Family):
    context = Recording(grace=DEADLINE)
    started = await family.begin("talkative", context)
    await context.until(lambda: context.size > 5_000_000)

    await started.cancel()

    assert context.said(Stream.STDERR) == "cleaning up"
    assert all(process.has_ended for process in started.processes)


async def test_a_handler_that_waits_for_a_checkpoint_can_be_stopped(family: Family):
    context = Recording(grace=DEADLINE)
    context.gate = asyncio.Event()
    task = asyncio.ensure_future(family.run("saving", context=context))
    await context.hears("checkpoint")

    await Started(task).cancel()

    assert context.said(Stream.STDOUT) == "cleaning up\n"
    assert context.stored is None


async def test_a_deaf_handler_and_its_programs_are_killed_after_the_grace(family: Family):
    context = Recording(grace=0.3)
    started = await family.begin("deaf", context)

    await started.cancel()

    assert len(started.processes) == 2
    assert "no\n" in context.said()
    for process in started.processes:
        await process.ends()


async def test_a_second_cancellation_kills_at_once(family: Family):
    context = Recording(grace=DEADLINE)
    started = await family.begin("deaf", context)

    started.task.cancel()
    await context.hears("no\n")
    await started.cancel()

    for process in started.processes:
        await process.ends()


async def test_a_service_manager_that_stops_everything_does_not_break_a_run_off(family: Family):
    pid = await family.result("pid")
    context = Recording()
    context.gate = asyncio.Event()
    task = asyncio.ensure_future(family.run("save", context=context))
    await context.hears("checkpoint")

    os.killpg(pid, signal.SIGTERM)
    context.gate.set()

    assert await task == Succeeded(result="saved")
    assert await family.result("pid") == pid


async def test_a_run_can_be_cancelled_while_its_child_starts(family: Family):
    task = asyncio.ensure_future(family.run("pid"))
    await asyncio.wait([task], timeout=0.01)

    await Started(task).cancel()

    assert await family.result("pid") > 0


async def test_a_child_is_replaced_after_its_number_of_runs():
    async with Family(runs_per_child=2) as family:
        pids = [await family.result("pid") for _ in range(4)]

    assert pids[0] == pids[1] != pids[2] == pids[3]


async def test_a_child_that_keeps_too_much_memory_is_replaced(family: Family):
    pids = [await family.result("keep", 10), await family.result("keep", 40)]
    pids.append(await family.result("keep", 1))

    assert pids[0] == pids[1] != pids[2]


async def test_a_child_that_nobody_needs_is_ended():
    async with Family(idle=timedelta(seconds=0.05)) as family:
        child = Held(await family.result("pid"))

        await child.ends()


async def test_closing_ends_all_children():
    async with Family() as family:
        children = [Held(await family.result("pid")), Held(await family.result("small"))]

    assert all(child.has_ended for child in children)


async def test_more_runs_than_children_wait_for_their_turn():
    async with Family(children=1) as family:
        pids = await asyncio.gather(*[family.result("pid") for _ in range(5)])

        assert len(set(pids)) == 1
        assert await family.result("small") != pids[0]
        await settled(family, 1)


async def begin_worker(way: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.integration.executors.python.worker", way),
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


async def test_a_thread_that_never_ends_does_not_keep_the_worker_from_ending():
    worker = await begin_worker("thread")

    said, _ = await asyncio.wait_for(worker.communicate(), DEADLINE)

    assert said == b"abandoned: 1\n"
    assert worker.returncode == 0


async def test_a_child_dies_with_its_worker():
    worker = await begin_worker("child")
    assert worker.stdout is not None
    child = Held(int(await worker.stdout.readline()))

    worker.kill()
    await worker.wait()

    await child.ends()


async def test_a_child_whose_parent_is_gone_already_ends_at_once():
    child = await asyncio.create_subprocess_exec(*CHILD, "0", "1", "1", "json:dumps")

    assert await asyncio.wait_for(child.wait(), DEADLINE) == 1


async def test_a_process_can_be_watched_without_pidfd():
    process = subprocess.Popen([sys.executable, "-c", ""])  # noqa: ASYNC220 — the test is about it
    ended = asyncio.Event()

    watch_in_thread(process, asyncio.get_running_loop(), ended.set)

    await asyncio.wait_for(ended.wait(), DEADLINE)
    assert process.returncode == 0


def test_a_signal_without_a_name_is_described_by_its_number():
    assert describe_exit(-40) == "was killed by signal 40"


async def settled(family: Family, count: int) -> None:
    """Wait until so many children are left; each tells the executor when it ends."""
    async with asyncio.timeout(DEADLINE):
        while len(family.executor._children) > count:
            await asyncio.wait([next(iter(family.executor._children._live)).exit_future])
