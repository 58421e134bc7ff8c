"""Binds the parameters of SQL statements; values are never formatted into the text.

A list is bound by position, with the placeholders of the database: `$1` in PostgreSQL, `?` in the
others. An object is bound by name, as `:name` in all of them. `:rota_run_id` and the other `FACTS`
are always available, so that a statement can use its own idempotency key.

To find placeholders, the scanner skips quoted text, comments and dollar quotes, and ignores casts
(`::date`) and slices (`[1:2]`).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rota.core.errors import InvalidInput
from rota.core.executor import AttemptContext
from rota.executors.sql.connections import Dialect

RUN_PARAMETERS: Final = (
    "rota_run_id",
    "rota_job_id",
    "rota_attempt",
    "rota_idempotency_key",
    "rota_scheduled_at",
)
# Text to skip, then the placeholders.
SKIPPED_TEXT: Final = (
    r"--[^\n]*|/\*.*?(?:\*/|\Z)|\$(?P<tag>[A-Za-z_]\w*|)\$.*?(?:\$(?P=tag)\$|\Z)|`[^`]*`|::"
)
QUOTED_TEXT: Final = r"""'(?:[^']|'')*'|"(?:[^"]|"")*\""""
# In MySQL a backslash escapes inside both quotes, and `#` begins a comment.
MYSQL_QUOTED_TEXT: Final = r"""'(?:[^'\\]|''|\\.)*'|"(?:[^"\\]|""|\\.)*"|\#[^\n]*"""
PLACEHOLDER_MARK: Final = r"""(?<![\w\]:'"]):(?P<name>[A-Za-z_]\w*)|(?P<position>\?)"""
SCANNER: Final = re.compile(
    f"{SKIPPED_TEXT}|{QUOTED_TEXT}|{PLACEHOLDER_MARK}", re.DOTALL | re.ASCII
)
MYSQL_SCANNER: Final = re.compile(
    f"{SKIPPED_TEXT}|{MYSQL_QUOTED_TEXT}|{PLACEHOLDER_MARK}", re.DOTALL | re.ASCII
)
# Rota itself begins and ends the single transaction of a job.
TRANSACTION_CONTROL: Final = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/|;)*"
    r"(begin|start\s+transaction|commit|rollback|end|abort|savepoint|release|prepare\s+transaction)\b",
    re.IGNORECASE | re.DOTALL,
)

# In MySQL a session can leave a read-only transaction (`set autocommit = 1`), so a read-only
# statement is recognised by its first word.
READ_ONLY_STATEMENT: Final = re.compile(
    r"(?:\s|--[^\n]*\n|\()*(select|show|with|explain|describe|desc|values|table)\b", re.IGNORECASE
)

MatchReplacer = Callable[[re.Match[str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundStatement:
    """One statement; `parameters` is a tuple for positions or a mapping for names."""

    text: str
    parameters: tuple[object, ...] | Mapping[str, object]

    def bind(self, dialect: Dialect, context: AttemptContext) -> tuple[str, list[object]]:
        """Return the text for the driver, and the values in the order of its placeholders."""
        if isinstance(self.parameters, tuple):
            return convert_positions(self.text, dialect), list(self.parameters)
        return self._bind_names(dialect, {**self.parameters, **build_run_parameters(context)})

    def _bind_names(
        self, dialect: Dialect, values: Mapping[str, object]
    ) -> tuple[str, list[object]]:
        used: list[str] = []

        def spell(name: str) -> str:
            if dialect is Dialect.POSTGRESQL:
                # One parameter per name; otherwise the server infers its type twice.
                if name not in used:
                    used.append(name)
                return f"${used.index(name) + 1}"
            used.append(name)
            return "%s" if dialect is Dialect.MYSQL else "?"

        def replace(found: re.Match[str]) -> str:
            name = found["name"]
            return spell(name) if name in values else escape_percent(found[0], dialect)

        text = rewrite_matches(self.text, dialect, replace)
        if not used:
            return self.text, []
        return text, [values[name] for name in used]


def read_statement(
    query: str,
    parameters: Mapping[str, object] | Sequence[object] | None,
    *,
    field: str,
    dialect: Dialect,
    reads: bool = False,
) -> BoundStatement:
    """Parse a statement; `reads` is set for a job that must not change anything."""
    text = read_text(query, field)
    if reads and dialect is Dialect.MYSQL and READ_ONLY_STATEMENT.match(text) is None:
        wanted = "expected a query: the job or its connection is read-only"
        raise InvalidInput(field, query, wanted)
    if parameters is None or isinstance(parameters, Mapping):
        named = dict(parameters or {})
        refuse_names(text, named, dialect, f"{field} parameters")
        return BoundStatement(text=text, parameters=named)
    return BoundStatement(text=text, parameters=tuple(parameters))


def read_text(query: str, field: str) -> str:
    if not query.strip() or "\0" in query:
        raise InvalidInput(field, query, "expected an SQL statement")
    if found := TRANSACTION_CONTROL.match(query):
        wanted = "remove it: all statements of a job already run in one transaction"
        raise InvalidInput(field, found[1], wanted)
    return query.strip().rstrip(";").rstrip()


def refuse_names(text: str, given: Mapping[str, object], dialect: Dialect, field: str) -> None:
    """Refuse names without a value and values without a name: both are typing errors."""
    found = {match["name"] for match in find_scanner(dialect).finditer(text) if match["name"]}
    for name in given:
        if name not in found:
            raise InvalidInput(field, name, f"the statement does not use :{name}")
        if name in RUN_PARAMETERS:
            raise InvalidInput(field, name, "reserved: Rota provides this parameter; remove it")
    unknown = sorted(found - set(given) - set(RUN_PARAMETERS))
    if unknown and given:
        wanted = f"no value for this name; given names: {', '.join(sorted(given))}"
        raise InvalidInput(field, f":{unknown[0]}", wanted)


def build_run_parameters(context: AttemptContext) -> dict[str, object]:
    """Return the parameters about the run that every statement may use."""
    return {
        "rota_run_id": str(context.run_id),
        "rota_job_id": str(context.job_id),
        "rota_attempt": context.attempt,
        "rota_idempotency_key": context.idempotency_key,
        "rota_scheduled_at": context.scheduled_at,
    }


def convert_positions(text: str, dialect: Dialect) -> str:
    """Replace `?` by the placeholder of PyMySQL; the other drivers accept the text as it is."""
    if dialect is not Dialect.MYSQL:
        return text
    return rewrite_matches(
        text,
        dialect,
        lambda found: "%s" if found["position"] else escape_percent(found[0], dialect),
    )


def rewrite_matches(text: str, dialect: Dialect, replace: MatchReplacer) -> str:
    """Return the text with every match of the scanner replaced."""
    pieces: list[str] = []
    end = 0
    for found in find_scanner(dialect).finditer(text):
        pieces += (escape_percent(text[end : found.start()], dialect), replace(found))
        end = found.end()
    return "".join((*pieces, escape_percent(text[end:], dialect)))


def find_scanner(dialect: Dialect) -> re.Pattern[str]:
    return MYSQL_SCANNER if dialect is Dialect.MYSQL else SCANNER


def escape_percent(text: str, dialect: Dialect) -> str:
    """Double `%` for PyMySQL, which uses it in its placeholders."""
    return text.replace("%", "%%") if dialect is Dialect.MYSQL else text
