"""The simulation has power: each of these breakages of one rule is found (E1, E2, E3, E4, E7, O3).

A breakage changes the text of a statement, or one function, for the time of the test. The machine
knows nothing of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from rota.engine.scheduling import misfire_handler
from rota.store.statement import STATEMENTS
from tests.simulation.cluster import Violation
from tests.simulation.machine import Simulation
from tests.simulation.test_simulation import QUICK

# The first story that goes wrong is enough; nobody wants the shortest.
FIRST = settings(QUICK, max_examples=100, phases=[Phase.generate], report_multiple_bugs=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakage:
    """`change` makes it; one of the invariants in `noticed` must be reported."""

    name: str
    change: Callable[[pytest.MonkeyPatch], None]
    noticed: frozenset[str]


def in_sql(*edits: tuple[str, str, str]) -> Callable[[pytest.MonkeyPatch], None]:
    """Replace a part of statements; one that is not there any more must be looked up again."""

    def change(patch: pytest.MonkeyPatch) -> None:
        for name, old, new in edits:
            text = STATEMENTS[name].text
            assert old in text, f"{name} does not contain {old!r}"
            patch.setattr(STATEMENTS[name], "text", text.replace(old, new))

    return change


def in_code(thing: Any, name: str, instead: object) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setattr(thing, name, instead)


def breaking(name: str, change: Callable[[pytest.MonkeyPatch], None], *noticed: str) -> Breakage:
    return Breakage(name=name, change=change, noticed=frozenset(noticed))


BREAKAGES = (
    breaking(
        "a retry is accepted from a session that lost the run",
        in_sql(
            ("live_runs/put_back", "and b.attempt = r.attempt", ""),
            ("live_runs/put_back", "r.session_id = $8::uuid", "$8::uuid is not null"),
        ),
        "I9",
    ),
    breaking(
        "an at-most-once run is tried again when its worker is lost",
        in_sql(("live_runs/reclaim", "when r.guarantee = 'at_most_once' then 'lost'", "")),
        "I15",
    ),
    breaking(
        "runs are taken back by their age",
        in_sql(("live_runs/reclaim", "and not r.id = any(s.running)", "")),
        "I10",
    ),
    breaking(
        "a beat revives a dead session",
        in_sql(("sessions/heartbeat", "and s.expires_at > '-infinity'", "")),
        "I10",
    ),
    breaking(
        "a session is expired by one who has not seen the database for its lease",
        in_sql(
            (
                "sessions/expire",
                "s.expires_at - s.beat_at <= $1::interval",
                "$1::interval is not null",
            )
        ),
        "I18",
    ),
    breaking(
        "ticks that are passed over are not written down",
        in_code(misfire_handler, "build_records", lambda _due, _recorded: []),
        "I3",
    ),
    breaking(
        "the overlap policy sees only the runs that wait",
        in_sql(
            (
                "cursors/fire",
                "l.state in ('running', 'cancelling')",
                "l.state in ('running', 'cancelling') and false",
            )
        ),
        "I11",
    ),
)


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: breakage.name)
def test_a_broken_rule_is_found(
    breakage: Breakage, simulation: type[Simulation], monkeypatch: pytest.MonkeyPatch
) -> None:
    breakage.change(monkeypatch)

    with pytest.raises(Violation) as found:
        run_state_machine_as_test(simulation, settings=FIRST)

    told = {line.split()[0] for line in str(found.value).splitlines()}
    assert told & breakage.noticed, found.value
