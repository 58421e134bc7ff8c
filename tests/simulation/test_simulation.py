"""Whatever happens in whichever order, the engine keeps its promises.

Proves E1, E2, E3, E4, E7 … E12, S11, S14, O3.

`ROTA_SIMULATION=long` plays for hours, with another seed each time; a failure prints its steps.
"""

import os

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.simulation.machine import Simulation

QUICK = settings(
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
LONG = settings(
    QUICK, max_examples=2000, stateful_step_count=100, derandomize=False, print_blob=True
)


def test_every_promise_is_kept_whatever_happens(simulation: type[Simulation]) -> None:
    chosen = LONG if os.environ.get("ROTA_SIMULATION") == "long" else QUICK

    run_state_machine_as_test(simulation, settings=chosen)
