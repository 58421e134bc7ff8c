"""The fault table: `python -m tests.faults [--only NAME …] [--scale quick] [--json FILE]`."""

import argparse
import asyncio
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rota.store.embedded.account import choose_account
from tests.faults.figures import Figures
from tests.faults.rules import find_violations
from tests.faults.scenarios import Scenario, list_scenarios
from tests.faults.table import render_table
from tests.support.postgres import open_folder

# One of each sort, five minutes in all.
QUICK = ("restart", "kill-5", "frozen-20", "cut-15", "clock-api")


@dataclass(frozen=True, kw_only=True)
class Result:
    scenario: Scenario
    figures: Figures | None
    violations: list[str]
    skipped: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.scenario.name,
            "fault": self.scenario.title,
            "violations": self.violations,
            "not_run": self.skipped,
            **(self.figures.as_json() if self.figures else {}),
        }


def main() -> int:
    known = {each.name: each for each in list_scenarios()}
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(known), metavar="NAME")
    parser.add_argument(
        "--scale", choices=("full", "quick"), default="full", help="quick: a few short faults"
    )
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    parser.add_argument("--folder", type=Path, help="keep logs and witnesses of every fault here")
    asked = parser.parse_args()
    if asked.list:
        say("\n".join(f"{each.name:20} {each.title}" for each in known.values()))
        return 0
    names = asked.only or (QUICK if asked.scale == "quick" else known)
    chosen = [known[name] for name in names]
    results = [carry_out(scenario, asked.folder) for scenario in chosen]
    say("")
    say(render_table([(each.scenario.title, each.figures) for each in results if each.figures]))
    if asked.json:
        asked.json.write_text(json.dumps([each.as_json() for each in results], indent=1) + "\n")
    return report_violations(results)


def carry_out(scenario: Scenario, keep: Path | None) -> Result:
    if lacking := scenario.missing():
        say(f"{scenario.name}: not run, it needs {lacking}")
        return Result(scenario=scenario, figures=None, violations=[], skipped=lacking)
    began = time.monotonic()

    def tell(line: str) -> None:
        say(f"{scenario.name}: {time.monotonic() - began:5.1f} s  {line}")

    tell(scenario.title)
    with open_folder("rota-faults-", choose_account(Path("/nonexistent")), keep=keep) as folder:
        figures = asyncio.run(scenario.run(folder, tell))
    violations = list(find_violations(figures, scenario.rules))
    for violation in violations:
        tell(f"VIOLATED: {violation}")
    tell("done" if violations else "done, every rule was kept")
    return Result(scenario=scenario, figures=figures, violations=violations)


def report_violations(results: list[Result]) -> int:
    broken = [each for each in results if each.violations]
    for each in broken:
        for violation in each.violations:
            say(f"VIOLATED in {each.scenario.name}: {violation}")
    skipped = sum(each.skipped is not None for each in results)
    say(f"{len(results) - skipped} faults, {len(broken)} with violations, {skipped} not run")
    return 1 if broken else 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
