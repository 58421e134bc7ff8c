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

from rota.cli.errors import Misused
from rota.cli.tables import Column, pairs, screen_of, table
from rota.core.errors import InvalidInput
from rota.core.origins import ChangeOrigin
from rota.core.time import durations

if TYPE_CHECKING:
    from rota.sdk.client import Client

T = TypeVar("T")

CONNECTION: Final = Group("Connection", sort_key=8)
OUTPUT: Final = Group("Output", sort_key=9)
SWITCH: Final = Parameter(negative=())
MANY: Final = Parameter(negative=())
YES: Final = Parameter(name=["--yes", "-y"], negative=())
SHORTEST: Final = durations.parse("100ms")
LONGEST_KEY: Final = 1000
# Enough to survive a restart of the server; a person is waiting, so it fails soon after.
RETRIES: Final = 2


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """How to reach the API, and in which form to print its response.

    Parameters
    ----------
    url
        Address of the API. Default: ROTA_URL, then the address that `rota up` wrote to .rota in
        this folder or a parent, then http://127.0.0.1:7070.
    key_file
        File with the API key. Default: the key in ROTA_API_KEY, then .rota/admin.key in this folder
        or a parent.
    timeout
        How long to wait for a response, such as 2m. Default: 30s.
    as_json
        Print the API's JSON response: an object, or an array for a list.
    quiet
        Print only ids, one per line.
    """

    url: Annotated[str | None, Parameter(group=CONNECTION)] = None
    key_file: Annotated[Path | None, Parameter(group=CONNECTION)] = None
    timeout: Annotated[str, Parameter(group=CONNECTION)] = "30s"
    as_json: Annotated[bool, Parameter(name="--json", negative=(), group=OUTPUT)] = False
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative=(), group=OUTPUT)] = False

    def open(self, *, origin: ChangeOrigin = ChangeOrigin.CLI) -> "Client":
        from rota.sdk.client import Client  # noqa: PLC0415 - imports the HTTP library

        limit = durations.parse(self.timeout, field="--timeout", minimum=SHORTEST)
        key = None if self.key_file is None else key_in(self.key_file)
        return Client(self.url, key, timeout=limit.total_seconds(), retries=RETRIES, origin=origin)

    @property
    def is_plain(self) -> bool:
        return not (self.as_json or self.quiet)

    def rows(
        self, rows: Sequence[T], columns: Sequence[Column[T]], *, ids: str, empty: str
    ) -> None:
        """Print a list."""
        if self.as_json:
            write_json(list(rows))
        elif self.quiet:
            write(str(getattr(row, ids)) for row in rows)
        elif rows:
            write(table(columns, rows, screen_of()))
        else:
            print(empty)

    def thing(self, thing: Any, said: Iterable[tuple[str, object]], *, ids: str) -> None:
        """Print one record, with a name and a value on each line."""
        if self.as_json:
            write_json(thing)
        elif self.quiet:
            print(getattr(thing, ids))
        else:
            write(pairs(said, screen_of()))

    def done(self, answer: Any, sentence: str, *, id_: object) -> None:
        """Print what the command did, in one sentence."""
        if self.as_json:
            write_json(answer)
        else:
            print(id_ if self.quiet else sentence)


TALK: Final = Talk()


def key_in(file: Path) -> str:
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
    if not text or len(text) > LONGEST_KEY or not text.isprintable() or " " in text:
        raise InvalidInput("--key-file", str(file), "expected a file that contains one API key")
    return text


def warn(warnings: Iterable[str]) -> None:
    """Print warnings to standard error; programs read standard output."""
    for warning in warnings:
        print(f"rota: {warning}", file=sys.stderr)


def write(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


def write_json(value: Any) -> None:
    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def some(thing: str, given: Sequence[str]) -> None:
    """Reject a command without the arguments that it needs."""
    if not given:
        raise Misused(f"give at least one {thing}")
