"""Refuses migrations that older code cannot live with, or for which writers would wait.

Holds for migrations after 0021; CONTRIBUTING.md ("Migrations") says what to write instead. The
check is a list of patterns over each statement: it knows what a table is, and nothing of SQL.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "src" / "rota" / "store" / "migrations"
# The migrations up to this one were released before the rules.
LAST_FREE: Final = 21
OUTSIDE: Final = "-- rota: outside-transaction"

_COMMENT: Final = re.compile(r"--[^\n]*")
_BODY: Final = re.compile(r"(\$\w*\$).*?\1", re.DOTALL)
_MADE: Final = re.compile(r"create table (?:if not exists )?rota\.(\w+)")
_TABLE: Final = re.compile(
    r"(?:alter table(?: only)?|update|delete from|truncate(?: table)?|lock table|drop table)"
    r"(?: if exists)? rota\.(\w+)|\bon(?: only)? rota\.(\w+)"
)
_DEFAULT: Final = re.compile(r"add column .*\bdefault (?!now\(\))[^,]*\(")

# Tables that have a partition for each day. An index `on only` one of them is a definition: nothing
# is read, and no partition has it yet.
_DAYS: Final = r"(?:runs|attempts|run_logs|run_notes|graph_runs|graph_maps|graph_items|events)\b"

# What is refused for a table that exists already: a pattern, and what to do instead.
REFUSED: Final = (
    (
        rf"create (?:unique )?index (?!concurrently|(?:if not exists )?\w+ on only rota\.{_DAYS})",
        "`create index concurrently`, outside",
    ),
    (r"alter table .* alter (?:column )?\w+ (?:set data )?type\b", "a new column beside the old"),
    (r"alter table .* drop column\b", "leave it until no supported release reads it"),
    (r"alter table .* rename\b", "a new name beside the old"),
    (r"drop table\b", "leave it until no supported release reads it"),
    (r"add column .*\bgenerated\b", "a plain column that the code fills"),
    (r"add column .*\b(?:check \(|references )", "`add constraint … not valid`, then validate it"),
    (r"add constraint \w+ (?:check|foreign key)(?!.*not valid)", "`not valid`, then validate it"),
    (r"add constraint \w+ (?:unique|primary key)(?!.*using index)", "`using index`"),
    (r"^(?:update|delete from|truncate|lock table)\b", "a duty that works in small batches"),
)


def problems(name: str, text: str) -> Iterator[str]:
    """What is wrong with one migration."""
    is_outside = text.startswith(OUTSIDE)
    if not name.endswith("_expand"):
        yield "its name does not end in _expand; the previous release would refuse the schema"
    if is_outside and "$$" in text:
        yield "a function body outside a transaction; put it into a migration of its own"
    plain = _BODY.sub("$$", _COMMENT.sub("", text.lower()))
    made = set(_MADE.findall(" ".join(plain.split())))
    statements = [" ".join(each.split()) for each in plain.split(";")]
    validates = any("validate constraint" in each for each in statements)
    for statement in filter(None, statements):
        if "concurrently" in statement and not is_outside:
            yield f"`{statement[:60]}`: begin the file with `{OUTSIDE}`"
        if statement.startswith(("vacuum full", "cluster", "reindex")):
            yield f"`{statement[:60]}`: it locks the table for as long as it takes"
        found = _TABLE.search(statement)
        if found is not None and (found[1] or found[2]) not in made:
            yield from _on_old_table(statement, may_be_not_null=is_outside and validates)


def _on_old_table(statement: str, *, may_be_not_null: bool) -> Iterator[str]:
    """What is wrong with a statement about a table that exists already."""
    for pattern, instead in REFUSED:
        if re.search(pattern, statement):
            yield f"`{statement[:60]}`: {instead}"
    if _DEFAULT.search(statement):
        yield f"`{statement[:60]}`: a default that is computed rewrites the table"
    if "set not null" in statement and not may_be_not_null:
        yield f"`{statement[:60]}`: validate a check first, outside a transaction"


def main() -> int:
    found = [
        f"{path.relative_to(ROOT)}: {problem}"
        for path in sorted(FOLDER.glob("*.sql"))
        if int(path.name[:4]) > LAST_FREE
        for problem in problems(path.stem, path.read_text())
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
