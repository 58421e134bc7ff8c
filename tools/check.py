"""Runs every check that is not a test, two at a time: `make check`, in about a minute."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
SQL = ("src/rota/store/sql", "src/rota/store/migrations", "src/rota_bench/sql")

# The slowest first, so that the short ones fill the other core.
CHECKS: dict[str, list[str]] = {
    "types": [f"{BIN}/mypy"],
    "dashboard": [f"{BIN}/python", "tools/web.py", "--check"],
    "SQL format": [f"{BIN}/sqlfluff", "lint", "--processes", "2", *SQL],
    "layers": [f"{BIN}/lint-imports", "--no-cache"],
    "code rules": [f"{BIN}/python", "tools/code_rules.py"],
    "language": [f"{BIN}/python", "tools/language.py"],
    "migrations": [f"{BIN}/python", "tools/migration_rules.py"],
    "npm lock": [f"{BIN}/python", "tools/npm_lock.py"],
    "SQL fragments": [f"{BIN}/python", "tools/sql_fragments.py", "--check"],
    "generated files": [f"{BIN}/python", "tools/generate.py", "--check"],
    "schema": [f"{BIN}/python", "tools/schema.py", "--check"],
    "lint": [f"{BIN}/ruff", "check", "."],
    "format": [f"{BIN}/ruff", "format", "--check", "."],
}


def run(name: str) -> bool:
    started = time.monotonic()
    done = subprocess.run(CHECKS[name], cwd=ROOT, capture_output=True, text=True, check=False)
    mark = "ok" if done.returncode == 0 else "FAILED"
    report = "" if done.returncode == 0 else f"\n{done.stdout}{done.stderr}"
    print(f"{name:<16} {mark:<7} {time.monotonic() - started:5.1f} s{report}", flush=True)
    return done.returncode == 0


def main() -> int:
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, CHECKS))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
