"""`rota top`: shows a live overview of the cluster."""

import contextlib
import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from typing import Annotated, Any, Final

from rota.cli.errors import Misused
from rota.cli.options import SWITCH, TALK, Talk, write, write_json
from rota.cli.overview import Frame, lines, look
from rota.cli.tables import Screen, screen_of
from rota.cli.terminal import raw_output
from rota.core.errors import RotaError
from rota.core.time import durations

QUIT: Final = frozenset(b"qQ\x03\x04")
SHORTEST: Final = durations.parse("200ms")


def top(
    *,
    every: str = "1s",
    once: Annotated[bool, SWITCH] = False,
    talk: Talk = TALK,
) -> int:
    """Show a live overview: processes, queues, active runs, rates and recent failures. q quits.

    Parameters
    ----------
    every
        Refresh interval, such as 500ms or 5s. Default: 1s.
    once
        Print one frame and exit; with --json as one object.
    """
    pause = durations.parse(every, field="--every", minimum=SHORTEST).total_seconds()
    if talk.quiet:
        raise Misused("--quiet is not supported: the overview has no ids")
    if talk.as_json and not once:
        raise Misused("--json requires --once")
    if not once and not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise Misused("not a terminal: use --once to print one frame")
    with talk.open() as client:
        frame = look(client)
        if not once:
            return live(client, frame, pause)
    if talk.as_json:
        write_json(frame.plain())
    else:
        write(lines(frame, screen_of()))
    return 0


def live(client: Any, frame: Frame, pause: float) -> int:
    """Redraw at each interval until the user quits, then restore the terminal."""
    from rich.console import Console  # noqa: PLC0415 - slow to import
    from rich.live import Live  # noqa: PLC0415 - as above

    console = Console(file=raw_output())
    with reading_keys(), Live(console=console, screen=True, auto_refresh=False) as screen:
        trouble: RotaError | None = None
        while True:
            screen.update(drawn(frame, trouble, console), refresh=True)
            if quits(pause):
                return 0
            try:
                frame, trouble = look(client), None
            except RotaError as error:
                # Keep running, so that the screen recovers with the server.
                trouble = error


def drawn(frame: Frame, trouble: RotaError | None, console: Any) -> Any:
    from rich.text import Text  # noqa: PLC0415 - as above

    screen = Screen(width=console.width, colours=console.color_system is not None)
    shown = list(lines(frame, screen, height=console.height, trouble=trouble))
    return Text.from_ansi("\n".join(shown[: console.height]), no_wrap=True, overflow="crop")


@contextlib.contextmanager
def reading_keys() -> Iterator[None]:
    """Read keys without echo or Enter. SIGTERM acts like Ctrl-C, to restore the terminal."""
    before = termios.tcgetattr(sys.stdin)
    handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTERM, handler)


def quits(pause: float) -> bool:
    """Wait for this time and return whether the user quit."""
    ready, _, _ = select.select([sys.stdin], [], [], pause)
    if not ready:
        return False
    # Bypass Python's buffer, which `select` cannot see. An empty read means a closed terminal.
    typed = os.read(sys.stdin.fileno(), 64)
    return not typed or not QUIT.isdisjoint(typed)
