"""Options of every command that calls the API: connection and output format.

The key is never an argument: every user who can list processes can read arguments.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import msgspec
from cyclopts import Group, Parameter

from rota.cli.errors import UsageError
from rota.cli.tables import TableColumn, detect_screen, render_pairs, render_table
from rota.core.errors import InvalidInput
from rota.core.origins import ChangeOrigin
from rota.core.time import durations

if TYPE_CHECKING:
    from rota.sdk.client import Client

T = TypeVar("T")

CONNECTION: Final = Group("Connection", sort_key=8)
OUTPUT: Final = Group("Output", sort_key=9)
SWITCH: Final = Parameter(negative=())
REPEATABLE: Final = Parameter(negative=())
YES_FLAG: Final = Parameter(name=["--yes", "-y"], negative=())
TIMEOUT_MIN: Final = durations.parse("100ms")
KEY_LENGTH_MAX: Final = 1000
# Enough to survive a restart of the server; a person is waiting, so it fails soon after.
REQUEST_RETRIES: Final = 2


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ApiOptions:
    """How to reach the API, and in which form to print its response.

    Parameters
    ----------
    url
        Address of the API. Default: ROTA_URL, then the address that `rota up` wrote to .rota in
        this folder or a parent, then http://127.0.0.1:7070.
    key_file
        File with the API key. Default: the key in ROTA_API_KEY, then .rota/admin.key in this folder
        or a parent.
    request_timeout
        How long to wait for a response, such as 2m. Default: 30s.
    as_json
        Print the API's JSON response: an object, or an array for a list.
    quiet
        Print only ids, one per line.
    """

    url: Annotated[str | None, Parameter(group=CONNECTION)] = None
    key_file: Annotated[Path | None, Parameter(group=CONNECTION)] = None
    request_timeout: Annotated[str, Parameter(group=CONNECTION)] = "30s"
    as_json: Annotated[bool, Parameter(name="--json", negative=(), group=OUTPUT)] = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), group=OUTPUT)] = False

    def open_client(self, *, origin: ChangeOrigin = ChangeOrigin.CLI) -> "Client":
        from rota.sdk.client import Client  # noqa: PLC0415 - imports the HTTP library

        limit = durations.parse(
            self.request_timeout, field="--request-timeout", minimum=TIMEOUT_MIN
        )
        key = None if self.key_file is None else read_key_file(self.key_file)
        return Client(
            self.url, key, timeout=limit.total_seconds(), retries=REQUEST_RETRIES, origin=origin
        )

    @property
    def is_plain(self) -> bool:
        return not (self.as_json or self.quiet)

    def print_rows(
        self, rows: Sequence[T], columns: Sequence[TableColumn[T]], *, ids: str, empty: str
    ) -> None:
        """Print a list."""
        if self.as_json:
            print_json(list(rows))
        elif self.quiet:
            print_lines(str(getattr(row, ids)) for row in rows)
        elif rows:
            print_lines(render_table(columns, rows, detect_screen()))
        else:
            print(empty)

    def print_record(self, record: Any, facts: Iterable[tuple[str, object]], *, ids: str) -> None:
        """Print one record, with a name and a value on each line."""
        if self.as_json:
            print_json(record)
        elif self.quiet:
            print(getattr(record, ids))
        else:
            print_lines(render_pairs(facts, detect_screen()))

    def print_result(self, result: Any, sentence: str, *, id_: object) -> None:
        """Print what the command did, in one sentence."""
        if self.as_json:
            print_json(result)
        else:
            print(id_ if self.quiet else sentence)


DEFAULT_API_OPTIONS: Final = ApiOptions()


def read_key_file(file: Path) -> str:
    try:
        text = file.read_text(encoding="utf-8").strip()
    except OSError as error:
        wanted = f"cannot read the file: {error.strerror}"
        raise InvalidInput("--key-file", str(file), wanted) from None
    except UnicodeDecodeError:
        raise InvalidInput(
            "--key-file", str(file), "expected a file that contains one API key"
        ) from None
    # The message leaves the text out: another file may contain a secret, too.
    if not text or len(text) > KEY_LENGTH_MAX or not text.isprintable() or " " in text:
        raise InvalidInput("--key-file", str(file), "expected a file that contains one API key")
    return text


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error; programs read standard output."""
    for warning in warnings:
        print(f"rota: {warning}", file=sys.stderr)


def print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def print_json(value: Any) -> None:
    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def require_arguments(thing: str, arguments: Sequence[str]) -> None:
    """Reject a command without the arguments that it needs."""
    if not arguments:
        raise UsageError(f"give at least one {thing}")
