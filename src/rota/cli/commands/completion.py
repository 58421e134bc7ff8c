"""`rota completion`: what the Tab key knows. Room: cli."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App

from rota.cli.options import SWITCH
from rota.cli.output import say
from rota.core.errors import InvalidInput

Shell = Literal["bash", "zsh", "fish"]

app = App(name="completion", help="Completion by the Tab key in bash, zsh and fish.")


@app.command
def show(shell: Shell, /) -> int:
    """Print the script for a shell, to be read by it at its start.

    Parameters
    ----------
    shell
        Which shell.
    """
    say(script(shell))
    return 0


@app.command
def install(
    shell: Shell | None = None,
    /,
    *,
    to: Path | None = None,
    startup: Annotated[bool, SWITCH] = False,
) -> int:
    """Write the script to where the shell looks for it.

    Parameters
    ----------
    shell
        Which shell (default: the one that this runs in).
    to
        Another file to write.
    startup
        Also add a line to the shell's start-up file that reads it.
    """
    from cyclopts.completion.detect import (  # noqa: PLC0415 - only here
        ShellDetectionError,
        detect_shell,
    )

    from rota.cli.main import app as program  # noqa: PLC0415 - it imports this module by name

    try:
        chosen = shell or detect_shell()
        if to is not None and not to.parent.is_dir():
            raise InvalidInput("--to", str(to), "a file in a folder that exists")
        file = program.install_completion(shell=chosen, output=to, add_to_startup=startup)
    except ShellDetectionError:
        raise InvalidInput("shell", "unknown", "bash, zsh or fish") from None
    except OSError as error:
        wanted = f"a file that can be written: {error.strerror}"
        raise InvalidInput("--to", error.filename, wanted) from None
    say(f"written to {file}; it works in new shells")
    return 0


def script(shell: Shell) -> str:
    from rota.cli.main import app as program  # noqa: PLC0415 - it imports this module by name

    return program.generate_completion(prog_name="rota", shell=shell)
