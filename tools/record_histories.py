"""Records how long real commands take, as histories for the calibration test of predictions.

    python tools/record_histories.py tests/property/histories --rounds 200

Each round runs every command once, so each history has the noise of the machine over the whole
recording: other processes, a warm or cold cache, frequency changes. The test
(tests/property/test_prediction_calibration.py) replays them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

ROWS: Final = 60_000


def run_python(code: str, folder: Path) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, capture_output=True)


COMMANDS: Final[dict[str, str]] = {
    "start an interpreter": "pass",
    "import a package": "import asyncio, email, http.client, xml.dom.minidom",
    "compress a file": "import zlib; zlib.compress(open('rows.txt', 'rb').read(), 6)",
    "sort rows": "sorted(open('rows.txt').read().split('\\n'))",
    "load a database": (
        "import sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t (a, b)'); "
        "c.executemany('insert into t values (?, ?)', [(i, i * i) for i in range(40000)]); "
        "c.execute('select sum(b) from t where a % 7 = 0').fetchone()"
    ),
    "write and sync files": (
        "import os\n"
        "for i in range(20):\n"
        "    f = open(f'part{i}', 'wb'); f.write(b'x' * 200000); f.flush()\n"
        "    os.fsync(f.fileno()); f.close()"
    ),
    # A job whose work grows with every round, and one that takes one of two ways.
    "growing report": (
        "import sys; n = len(open('rounds.txt').read()); "
        "sum(i * i for i in range(200000 + 4000 * n))"
    ),
    "either way": (
        "n = len(open('rounds.txt').read()); "
        "sum(i * i for i in range(300000 if (n * 7919) % 10 < 7 else 1200000))"
    ),
}


def record(folder: Path, rounds: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    """Run every command `rounds` times and return their durations in seconds."""
    rows = "\n".join(str((i * 7919) % 1_000_003) for i in range(ROWS))
    (folder / "rows.txt").write_text(rows)
    histories: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(rounds):
        (folder / "rounds.txt").write_text("." * number)
        for name, code in COMMANDS.items():
            began = clock()
            run_python(code, folder)
            histories[name].append(round(clock() - began, 5))
    return histories


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path, help="folder for recorded.json")
    parser.add_argument("--rounds", type=int, default=200, help="Default: 200.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        histories = record(Path(folder), options.rounds, time.monotonic)
    text = json.dumps({"unit": "seconds", "histories": histories}, separators=(",", ":"))
    (options.target / "recorded.json").write_text(text.replace('],"', '],\n"') + "\n")


if __name__ == "__main__":
    main()
