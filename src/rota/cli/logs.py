"""The output of a run: as text, as it was written, or one JSON object a piece. Room: cli.

Whoever wrote a job wrote its output. On a terminal, colours pass and every other control sequence
is escaped; in a file or pipe, colours are removed as well. A carriage return begins a new line, so
that a progress bar can be read and cannot write over what stands before it.
"""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from rota.cli.tables import RESET
from rota.cli.terminal import raw_output
from rota.core.terminal_text import remove_colours

if TYPE_CHECKING:
    from rota.sdk.client import Client

PIECES: Final = 1000


def read(client: "Client", run_id: str) -> Iterator[Any]:
    """What there is now."""
    after: dict[str, Any] = {}
    while True:
        page = client.get_logs(run_id, limit=PIECES, **after)
        yield from page.items
        if len(page.items) < PIECES or page.cursor is None:
            return
        after = {"after": page.cursor}


def followed(client: "Client", run_id: str) -> Iterator[Any]:
    return iter(client.follow_logs(run_id))


def write_pieces(
    pieces: Iterable[Any], *, attempt: int | None, as_json: bool, raw: bool = False
) -> None:
    """Each at once: who follows wants to see it now. A break is added at the very end only.

    `raw` writes what the run wrote, and nothing else.
    """
    ends_open = False
    out = raw_output() if raw else sys.stdout
    on_terminal = out.isatty()
    for piece in pieces:
        if attempt is not None and piece.attempt_number != attempt:
            continue
        if as_json:
            print(msgspec.json.encode(piece).decode(), flush=True)
            continue
        text = piece.text if raw else readable(piece.text, colours=on_terminal)
        out.write(text)
        out.flush()
        ends_open = not text.endswith("\n")
    if on_terminal and not raw and not as_json:
        # A run may have left a colour on. This ends it before the prompt comes.
        out.write(RESET)
    if ends_open and not raw:
        print()


def readable(text: str, *, colours: bool) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines if colours else remove_colours(lines)
