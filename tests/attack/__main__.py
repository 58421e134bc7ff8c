"""Attack an installation and print what held: `python -m tests.attack [--only NAME …]`."""

import argparse
import asyncio
import json
import sys
from collections import Counter
from pathlib import Path

from tests.attack import accounts, inputs, schedules, sockets, tenancy, work
from tests.attack.attacks import ATTACKS, Attack, Findings
from tests.attack.target import Target, open_target

# Importing them registers their attacks.
MODULES = (schedules, sockets, tenancy, work, accounts, inputs)
PER_ATTACK_S = 240.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=sorted(ATTACKS), metavar="NAME")
    parser.add_argument("--list", action="store_true", help="print the attacks and end")
    parser.add_argument("--json", type=Path, help="write the results to this file, too")
    asked = parser.parse_args()
    if asked.list:
        say("\n".join(f"{each.name:22} {each.title}" for each in ATTACKS.values()))
        return 0
    chosen = [ATTACKS[name] for name in asked.only or ATTACKS]
    results = asyncio.run(carry_out(chosen))
    if asked.json:
        asked.json.write_text(json.dumps(render_json(results), indent=1) + "\n")
    return report(results)


async def carry_out(chosen: list[Attack]) -> dict[str, Findings]:
    results: dict[str, Findings] = {}
    async with open_target() as target:
        for each in chosen:
            results[each.name] = findings = await strike(target, each)
            verdict = "held" if not findings.broken else "BROKEN"
            say(f"{verdict:7} {each.name:22} {findings.tried:5} tried  {each.title}")
            for line in findings.figures:
                say(f"          {line}")
            for line, times in Counter(findings.broken).items():
                say(f"  BROKEN: {line}" + (f" ({times} times)" if times > 1 else ""))
            if target.process.poll() is not None:
                say(f"the installation ended:\n{target.log[-3000:]}")
                break
    return results


async def strike(target: Target, attack: Attack) -> Findings:
    """Carry out one attack; whatever it does, the installation must live afterwards."""
    findings = Findings()
    try:
        await asyncio.wait_for(attack.run(target, findings), PER_ATTACK_S)
    except Exception as error:  # noqa: BLE001
        findings.broken.append(f"the attack could not be carried out: {error!r}")
    findings.expect(await target.is_alive(), "the installation no longer answers")
    return findings


def render_json(results: dict[str, Findings]) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "title": ATTACKS[name].title,
            "tried": findings.tried,
            "figures": findings.figures,
            "broken": findings.broken,
        }
        for name, findings in results.items()
    ]


def report(results: dict[str, Findings]) -> int:
    broken = [name for name, findings in results.items() if findings.broken]
    tried = sum(findings.tried for findings in results.values())
    say(f"{len(results)} attacks, {tried} attempts, {len(results) - len(broken)} held")
    if broken:
        say(f"BROKEN: {', '.join(broken)}")
    return 1 if broken else 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
