"""The attacks are listed, and an attack that gets through is reported as broken."""

import asyncio
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from tests.attack.__main__ import report, strike
from tests.attack.attacks import Attack, Findings
from tests.attack.target import Target

ROOT = Path(__file__).parents[2]


class AnsweringTarget(SimpleNamespace):
    """Stands for an installation in tests of the report."""

    alive = True

    async def is_alive(self) -> bool:
        return self.alive


def struck(run: Any, *, alive: bool = True) -> Findings:
    attack = Attack(name="one", title="one", run=run)
    target = cast("Target", AnsweringTarget(alive=alive))
    return asyncio.run(strike(target, attack))


async def hold(_target: Target, findings: Findings) -> None:
    findings.expect(True, "nothing")


async def get_through(_target: Target, findings: Findings) -> None:
    findings.expect(False, "a row of another tenant")


async def fail(_target: Target, _findings: Findings) -> None:
    raise ConnectionError("the server closed the connection")


def test_an_attack_that_holds_ends_well() -> None:
    findings = struck(hold)

    assert (findings.tried, findings.broken) == (2, [])
    assert report({"one": findings}) == 0


def test_what_got_through_is_reported_and_the_program_fails() -> None:
    findings = struck(get_through)

    assert findings.broken == ["a row of another tenant"]
    assert report({"one": findings}) == 1


def test_an_attack_that_cannot_be_carried_out_does_not_count_as_held() -> None:
    assert "closed the connection" in struck(fail).broken[0]


def test_an_installation_that_no_longer_answers_is_broken() -> None:
    assert struck(hold, alive=False).broken == ["the installation no longer answers"]


def test_every_area_has_attacks() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attack", "--list"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    names = {line.split()[0] for line in done.stdout.splitlines()}
    assert {"preview-dense", "half-open", "worker-resources", "huge-value", "shown-once"} <= names
