"""Rules of the house that no linter knows: door signs, sizes, where SQL lives, bare locks."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 400
NAMELESS = {"utils", "util", "helpers", "helper", "common", "base", "manager", "models", "misc"}
STATEMENT = re.compile(r"\s*(select|insert into|update|delete from|with)\s", re.IGNORECASE)
# Where SQL text is composed or kept on purpose, each with its reason in its door sign.
SQL_ROOMS = {
    "store/migrate.py",
    "store/migration_steps.py",
    "store/migration_watch.py",
    "store/partitions.py",
    "store/guard.py",
    "executors/sql/etl/texts.py",
    "sources/outbox/texts.py",
}
HOST = re.compile(r"https?://")


def sources() -> list[Path]:
    return sorted((ROOT / "src" / "rota").rglob("*.py"))


def missing_door_signs() -> Iterator[str]:
    for path in sources():
        text = path.read_text()
        if text and ast.get_docstring(ast.parse(text)) is None:
            yield f"{path.relative_to(ROOT)}: opens without a door sign"


def too_long() -> Iterator[str]:
    for path in sources():
        lines = len(path.read_text().splitlines())
        # What a tool writes, nobody has to read from top to bottom.
        if lines > LONGEST and path.parent.name != "generated":
            yield f"{path.relative_to(ROOT)}: {lines} lines; {LONGEST} is a stop"


def nameless() -> Iterator[str]:
    for path in sources():
        if path.stem in NAMELESS:
            yield f"{path.relative_to(ROOT)}: the name says nothing"


def stray_sql() -> Iterator[str]:
    for path in sources():
        room = str(path.relative_to(ROOT / "src" / "rota"))
        if room in SQL_ROOMS:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and is_statement(node.value):
                yield f"{path.relative_to(ROOT)}:{node.lineno}: SQL outside store/sql"


def is_statement(value: object) -> bool:
    """Prose may begin with these words, too; a statement names a table or a column list."""
    return (
        isinstance(value, str)
        and STATEMENT.match(value) is not None
        and re.search(r"\b(from|into|set|rota\.|as \()\b", value.lower()) is not None
    )


def hosts_in_locks() -> Iterator[str]:
    for path in sorted((ROOT / "requirements").glob("*.lock")):
        if HOST.search(path.read_text()):
            yield f"{path.relative_to(ROOT)}: names a host"


def main() -> int:
    found = [
        *missing_door_signs(),
        *too_long(),
        *nameless(),
        *stray_sql(),
        *hosts_in_locks(),
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
