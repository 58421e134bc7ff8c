"""The long profile: `python -m tests.chaos [--seed N] [--seconds S] [--folder F]`."""

import argparse
import asyncio
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from random import SystemRandom

from tests.chaos.arena import LONG, Arena


def main() -> int:
    """Run it, say the verdict, and keep the folder if there is something to look at."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1_000_000))
    parser.add_argument("--seconds", type=float, default=LONG.seconds, help="how long faults go on")
    parser.add_argument("--folder", type=Path, help="where everything is left")
    asked = parser.parse_args()
    folder = asked.folder or Path(tempfile.mkdtemp(prefix="rota-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    say(f"seed {asked.seed}, {asked.seconds:.0f} s of faults, everything is kept in {folder}")
    arena = Arena(folder=folder, profile=replace(LONG, seconds=asked.seconds), seed=asked.seed)
    verdict, struck = asyncio.run(arena.run())
    say(f"{len(struck)} faults; {verdict}")
    if verdict.violated:
        return 1
    if asked.folder is None:
        shutil.rmtree(folder)
    return 0


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
