"""SQL text and its parameters, bound and never formatted into the text. Room: executors/sql.

A list is bound by position, with the marks of the database: `$1` in PostgreSQL, `?` in the others.
An object is bound by name, as `:name` in all of them; besides, `:rota_run_id` and its siblings
(`FACTS`) are there without being given, so that a statement can be told its own idempotency key.

To find the marks, text is read just as far as needed: what stands in quotes, comments and dollar
quotes is left alone, and so are casts (`::date`) and slices (`[1:2]`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext
from rota.executors.sql.connections import Dialect

FACTS: Final = (
    "rota_run_id",
    "rota_job_id",
    "rota_attempt",
    "rota_idempotency_key",
    "rota_scheduled_at",
)
# What is skipped, then the marks.
SKIPPED: Final = (
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|\$(?P<tag>[A-Za-z_]\w*|)\$.*?(?:\$(?P=tag)\$|\Z)|`[^`]*`|::"
)
QUOTED: Final = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\""""
# In MySQL a backslash escapes inside both quotes, and `#` begins a comment.
MYSQL_QUOTED: Final = r"""'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|\#[^\n]*"""
MARK: Final = r"""(?<![\w\]:'"]):(?P<name>[A-Za-z_]\w*)|(?P<position>\?)"""
READER: Final = re.compile(f"{SKIPPED}|{QUOTED}|{MARK}", re.DOTALL | re.ASCII)
MYSQL_READER: Final = re.compile(f"{SKIPPED}|{MYSQL_QUOTED}|{MARK}", re.DOTALL | re.ASCII)
# Rota begins and ends the one transaction of a job.
CONTROL: Final = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/|;)*"
    r"(begin|start\s+transaction|commit|rollback|end|abort|savepoint|release|prepare\s+transaction)\b",
    re.IGNORECASE | re.DOTALL,
)

# MySQL lets a session leave a transaction that only reads (`set autocommit = 1`), so there what
# reads is known by its first word.
READING: Final = re.compile(
    r"(?:\s|--[^\n]*\n|\()*(select|show|with|explain|describe|desc|values|table)\b", re.IGNORECASE
)

Replacing = Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One statement; `parameters` is a tuple for positions or a mapping for names."""

    text: str
    parameters: tuple[object, ...] | Mapping[str, object]

    def bound(self, dialect: Dialect, context: AttemptContext) -> tuple[str, list[object]]:
        """The text as the driver wants it, and the values in the order of its marks."""
        if isinstance(self.parameters, tuple):
            return positioned(self.text, dialect), list(self.parameters)
        return self._named(dialect, {**self.parameters, **facts(context)})

    def _named(self, dialect: Dialect, given: Mapping[str, object]) -> tuple[str, list[object]]:
        used: list[str] = []

        def spell(name: str) -> str:
            if dialect is Dialect.POSTGRESQL:
                # The same name is the same parameter, or its type is inferred twice.
                if name not in used:
                    used.append(name)
                return f"${used.index(name) + 1}"
            used.append(name)
            return "%s" if dialect is Dialect.MYSQL else "?"

        def replace(found: re.Match[str]) -> str:
            name = found["name"]
            return spell(name) if name in given else percent(found[0], dialect)

        text = rewritten(self.text, dialect, replace)
        if not used:
            return self.text, []
        return text, [given[name] for name in used]


def read_statement(
    query: str,
    parameters: Mapping[str, object] | Sequence[object] | None,
    *,
    field: str,
    dialect: Dialect,
    reads: bool = False,
) -> Statement:
    """`reads` is said of a job that must not change anything."""
    text = read_text(query, field)
    if reads and dialect is Dialect.MYSQL and READING.match(text) is None:
        raise InvalidInput(field, query, "a query: this job, or its connection, may only read")
    if parameters is None or isinstance(parameters, Mapping):
        named = dict(parameters or {})
        refuse_names(text, named, dialect, f"{field} parameters")
        return Statement(text=text, parameters=named)
    return Statement(text=text, parameters=tuple(parameters))


def read_text(query: str, field: str) -> str:
    if not query.strip() or "\0" in query:
        raise InvalidInput(field, query, "a statement of SQL")
    if found := CONTROL.match(query):
        wanted = "no transaction of its own: all statements of a job are one already"
        raise InvalidInput(field, found[1], wanted)
    return query.strip().rstrip(";").rstrip()


def refuse_names(text: str, given: Mapping[str, object], dialect: Dialect, field: str) -> None:
    """A name without a value, and a value without a name, are both typing errors."""
    found = {match["name"] for match in reader(dialect).finditer(text) if match["name"]}
    for name in given:
        if name not in found:
            raise InvalidInput(field, name, "a name that the statement uses, as :name")
        if name in FACTS:
            raise InvalidInput(field, name, "a name that Rota does not give itself")
    unknown = sorted(found - set(given) - set(FACTS))
    if unknown and given:
        raise InvalidInput(field, f":{unknown[0]}", f"one of {', '.join(sorted(given))}")


def facts(context: AttemptContext) -> dict[str, object]:
    """What every statement may ask about its own run."""
    return {
        "rota_run_id": str(context.run_id),
        "rota_job_id": str(context.job_id),
        "rota_attempt": context.attempt,
        "rota_idempotency_key": context.idempotency_key,
        "rota_scheduled_at": context.scheduled_at,
    }


def positioned(text: str, dialect: Dialect) -> str:
    """PyMySQL alone has a mark of its own."""
    if dialect is not Dialect.MYSQL:
        return text
    return rewritten(
        text, dialect, lambda found: "%s" if found["position"] else percent(found[0], dialect)
    )


def rewritten(text: str, dialect: Dialect, replace: Replacing) -> str:
    """The text with each piece that the reader finds replaced, and the rest kept."""
    pieces: list[str] = []
    end = 0
    for found in reader(dialect).finditer(text):
        pieces += (percent(text[end : found.start()], dialect), replace(found))
        end = found.end()
    return "".join((*pieces, percent(text[end:], dialect)))


def reader(dialect: Dialect) -> re.Pattern[str]:
    return MYSQL_READER if dialect is Dialect.MYSQL else READER


def percent(text: str, dialect: Dialect) -> str:
    """PyMySQL looks for its marks with `%`, so others are doubled."""
    return text.replace("%", "%%") if dialect is Dialect.MYSQL else text
