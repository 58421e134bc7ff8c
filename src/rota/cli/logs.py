"""The output of a run on the terminal: as it was written, or one JSON object a piece. Room: cli."""

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

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


def write_pieces(pieces: Iterable[Any], *, attempt: int | None, as_json: bool) -> None:
    """Each at once: who follows wants to see it now. A break is added at the very end only."""
    ends_open = False
    for piece in pieces:
        if attempt is not None and piece.attempt_number != attempt:
            continue
        if as_json:
            print(msgspec.json.encode(piece).decode(), flush=True)
            continue
        sys.stdout.write(piece.text)
        sys.stdout.flush()
        ends_open = not piece.text.endswith("\n")
    if ends_open:
        print()
