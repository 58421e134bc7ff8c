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

from rota.cli.api_options import DEFAULT_API_OPTIONS, SWITCH, ApiOptions, print_json, print_lines
from rota.cli.errors import UsageError
from rota.cli.overview import ClusterSnapshot, read_snapshot, render_snapshot
from rota.cli.tables import Screen, detect_screen
from rota.cli.terminal import raw_output
from rota.core.errors import RotaError
from rota.core.time import durations

QUIT_KEYS: Final = frozenset(b"qQ\x03\x04")
INTERVAL_MIN: Final = durations.parse("200ms")


def top(
    *,
    every: str = "1s",
    once: Annotated[bool, SWITCH] = False,
    api_options: ApiOptions = DEFAULT_API_OPTIONS,
) -> int:
    """Show a live overview: processes, queues, active runs, rates and recent failures. q quits.

    Parameters
    ----------
    every
        Refresh interval, such as 500ms or 5s. Default: 1s.
    once
        Print one frame and exit; with --json as one object.
    """
    pause = durations.parse(every, field="--every", minimum=INTERVAL_MIN).total_seconds()
    if api_options.quiet:
        raise UsageError("--quiet is not supported: the overview has no ids")
    if api_options.as_json and not once:
        raise UsageError("--json requires --once")
    if not once and not (sys.stdout.isatty() and sys.stdin.isatty()):
        raise UsageError("not a terminal: use --once to print one frame")
    with api_options.open_client() as client:
        frame = read_snapshot(client)
        if not once:
            return run_live(client, frame, pause)
    if api_options.as_json:
        print_json(frame.to_plain())
    else:
        print_lines(render_snapshot(frame, detect_screen()))
    return 0


def run_live(client: Any, snapshot: ClusterSnapshot, pause: float) -> int:
    """Redraw at each interval until the user quits, then restore the terminal."""
    from rich.console import Console  # noqa: PLC0415 - slow to import
    from rich.live import Live  # noqa: PLC0415 - as above

    console = Console(file=raw_output())
    with read_single_keys(), Live(console=console, screen=True, auto_refresh=False) as screen:
        trouble: RotaError | None = None
        while True:
            screen.update(render_frame(snapshot, trouble, console), refresh=True)
            if wait_for_quit(pause):
                return 0
            try:
                snapshot, trouble = read_snapshot(client), None
            except RotaError as error:
                # Keep running, so that the screen recovers with the server.
                trouble = error


def render_frame(snapshot: ClusterSnapshot, error: RotaError | None, console: Any) -> Any:
    from rich.text import Text  # noqa: PLC0415 - as above

    screen = Screen(width=console.width, colours=console.color_system is not None)
    shown = list(render_snapshot(snapshot, screen, height=console.height, error=error))
    return Text.from_ansi("\n".join(shown[: console.height]), no_wrap=True, overflow="crop")


@contextlib.contextmanager
def read_single_keys() -> Iterator[None]:
    """Read keys without echo or Enter. SIGTERM acts like Ctrl-C, to restore the terminal."""
    before = termios.tcgetattr(sys.stdin)
    handler = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
        signal.signal(signal.SIGTERM, handler)


def wait_for_quit(pause: float) -> bool:
    """Wait for this time and return whether the user quit."""
    ready, _, _ = select.select([sys.stdin], [], [], pause)
    if not ready:
        return False
    # Bypass Python's buffer, which `select` cannot see. An empty read means a closed terminal.
    typed = os.read(sys.stdin.fileno(), 64)
    return not typed or not QUIT_KEYS.isdisjoint(typed)
