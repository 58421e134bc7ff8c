"""Prints the output of a run: as text, unchanged, or as one JSON object per chunk.

The output is untrusted text. At a terminal, colours pass and every other control sequence is
escaped; in a file or pipe, colours are removed as well. A carriage return starts a new line, so
that a progress bar stays readable and cannot overwrite earlier text.
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

CHUNKS_PER_PAGE: Final = 1000


def read_chunks(client: "Client", run_id: str) -> Iterator[Any]:
    """Return the output so far."""
    after: dict[str, Any] = {}
    while True:
        page = client.get_logs(run_id, limit=CHUNKS_PER_PAGE, **after)
        yield from page.items
        if len(page.items) < CHUNKS_PER_PAGE or page.cursor is None:
            return
        after = {"after": page.cursor}


def follow_chunks(client: "Client", run_id: str) -> Iterator[Any]:
    return iter(client.follow_logs(run_id))


def print_chunks(
    chunks: Iterable[Any], *, attempt: int | None, as_json: bool, raw: bool = False
) -> None:
    """Print each chunk as it arrives, and a line break at the very end if one is missing.

    `raw` writes exactly what the run wrote.
    """
    ends_open = False
    out = raw_output() if raw else sys.stdout
    on_terminal = out.isatty()
    for piece in chunks:
        if attempt is not None and piece.attempt_number != attempt:
            continue
        if as_json:
            print(msgspec.json.encode(piece).decode(), flush=True)
            continue
        text = piece.text if raw else clean_text(piece.text, colours=on_terminal)
        out.write(text)
        out.flush()
        ends_open = not text.endswith("\n")
    if on_terminal and not raw and not as_json:
        # A run may have left a colour on: reset it before the prompt.
        out.write(RESET)
    if ends_open and not raw:
        print()


def clean_text(text: str, *, colours: bool) -> str:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return lines if colours else remove_colours(lines)
