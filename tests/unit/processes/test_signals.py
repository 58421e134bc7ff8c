"""What happens in a worker or a scheduler wakes the services that must know, and no others."""

import asyncio
from collections.abc import Callable
from unittest.mock import create_autospec

import pytest

from rota.engine.dispatch.run_claimer import HintSender, RunClaimer
from rota.engine.execution.heartbeat import Heartbeat
from rota.engine.graphs.advancer import GraphAdvancer
from rota.engine.scheduling.tick_reader import TickReader
from rota.processes.scheduler import SchedulerSignals
from rota.processes.worker import WorkerSignals
from rota.runtime.service import Pulse
from rota.store import hints


class Woken:
    """Signals whose services record what they were told."""

    def __init__(self, *, is_full: bool = False) -> None:
        self.told: list[str] = []
        self.signals = WorkerSignals()
        claimer = create_autospec(RunClaimer, instance=True)
        claimer.is_full = is_full
        claimer.on_hint.side_effect = self.tells("claimer: hint")
        claimer.on_gates_freed.side_effect = self.tells("claimer: gates")
        advancer = create_autospec(GraphAdvancer, instance=True)
        advancer.scan_soon.side_effect = self.tells("advancer: scan")
        heartbeat = create_autospec(Heartbeat, instance=True)
        heartbeat.beat_now.side_effect = self.tells("heartbeat")
        sender = create_autospec(HintSender, instance=True)
        sender.send_hint.side_effect = lambda channel: self.told.append(f"hint: {channel}")
        self.signals.connect(
            claimer=claimer, advancer=advancer, heartbeat=heartbeat, hint_sender=sender
        )

    def tells(self, text: str) -> Callable[[], None]:
        return lambda: self.told.append(text)

    @property
    def pulses(self) -> set[str]:
        names = ("claiming", "recording", "advancing", "hinting")
        return {name for name in names if getattr(self.signals, name).is_pending}


HINT = f"hint: {hints.RUNS_CHANNEL}"


@pytest.mark.parametrize(
    ("signal", "told", "pulses"),
    [
        ("wake_claimer", ["claimer: hint"], {"claiming"}),
        ("on_runs_created", ["claimer: hint", HINT], {"claiming"}),
        ("on_runs_rescued", [HINT, "advancer: scan"], set()),
        ("on_runs_cancelled", ["heartbeat", "advancer: scan"], set()),
        ("on_steps_completed", ["advancer: scan"], set()),
        ("on_attempts_changed", [], {"recording"}),
        ("on_gates_freed", ["claimer: gates"], {"claiming"}),
    ],
)
async def test_a_signal_wakes_who_must_know(signal: str, told: list[str], pulses: set[str]) -> None:
    woken = Woken()

    getattr(woken.signals, signal)()

    assert (woken.told, woken.pulses) == (told, pulses)


async def test_a_free_slot_wakes_a_claimer_that_had_none() -> None:
    woken = Woken(is_full=True)

    woken.signals.on_attempts_changed()

    assert woken.pulses == {"claiming", "recording"}


async def test_items_of_a_map_may_come_from_another_thread() -> None:
    woken = Woken()

    await asyncio.to_thread(woken.signals.on_map_items)
    await asyncio.to_thread(lambda: None)

    assert woken.told == ["advancer: scan"]


def build_scheduler_signals(told: list[str], *, has_worker: bool) -> SchedulerSignals:
    reader, sender = create_autospec(TickReader, instance=True), create_autospec(HintSender)
    reader.reread_soon.side_effect = lambda: told.append("reader")
    sender.send_hint.side_effect = lambda channel: told.append(f"hint: {channel}")
    return SchedulerSignals(
        reader=reader,
        calendars=Pulse(),
        hint_sender=sender,
        wake_worker=(lambda: told.append("worker")) if has_worker else None,
    )


@pytest.mark.parametrize(("has_worker", "order"), [(True, ["worker", HINT]), (False, [HINT])])
async def test_ticks_wake_the_worker_of_the_same_process_before_others(
    has_worker: bool, order: list[str]
) -> None:
    told: list[str] = []
    signals = build_scheduler_signals(told, has_worker=has_worker)

    signals.on_ticks_fired(frozenset({1}))

    assert told == order
    assert not signals.calendars.is_pending


async def test_changed_jobs_wake_the_reader_and_the_calendars() -> None:
    told: list[str] = []
    signals = build_scheduler_signals(told, has_worker=True)

    signals.on_jobs_changed()

    assert told == ["reader"]
    assert signals.calendars.is_pending
