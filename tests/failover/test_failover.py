"""Rota on a highly available PostgreSQL of two nodes: when the leader is switched over, killed or
frozen, submissions, ticks and executions are back seconds after the new leader, no process ends,
and with synchronous replication nothing that was acknowledged is lost (O2, O15, P7, E1, E2).
"""

import os
import sys
from pathlib import Path

import pytest

from tests.failover.cases import CASES, carry_out
from tests.faults.rules import Rules, find_violations
from tests.faults.table import render_table
from tests.faults.trial import Load

# Each takes a minute or more: `make test` tries the hardest one, `make test-failover` all of them.
# That one runs alone, so it can hold Rota to its promise; beside other tests there is no telling.
IS_LONG = "ROTA_TEST_FAILOVER" in os.environ
TRIED = tuple(CASES) if IS_LONG else ("freeze",)
BACK_WITHIN_S = 5.0 if IS_LONG else 20.0
LOAD = (
    Load(rate=40, after_s=12, long_s=35, exclusive_s=3)
    if IS_LONG
    else Load(rate=15, before_s=3, after_s=4)
)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("case", TRIED)
async def test_rota_follows_the_leader_and_loses_nothing(case: str, tmp_path: Path) -> None:
    figures = await carry_out(case, tmp_path, load=LOAD, say=lambda line: say(f"{case}: {line}"))

    say(f"{case}: new leader after {figures.extra['new_leader']} s, back {figures.extra['back']}")
    say(render_table([(case, figures)]))
    violations = list(find_violations(figures, Rules(outage=True)))
    violations += [
        f"{what} were back {seconds} s after the new leader, not within {BACK_WITHIN_S} s"
        for what, seconds in figures.extra["back"].items()
        if seconds > BACK_WITHIN_S
    ]
    assert not violations, "\n".join([*violations, f"logs and witnesses are in {tmp_path}"])


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
