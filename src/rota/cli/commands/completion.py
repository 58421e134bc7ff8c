"""`rota completion`: prints and installs shell completion."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App

from rota.cli.api_options import SWITCH
from rota.cli.output import print_message
from rota.core.errors import InvalidInput

Shell = Literal["bash", "zsh", "fish"]

app = App(name="completion", help="Shell completion for bash, zsh and fish.")


@app.command
def show(shell: Shell, /) -> int:
    """Print the completion script of a shell.

    Parameters
    ----------
    shell
        The shell.
    """
    print_message(generate_script(shell))
    return 0


@app.command
def install(
    shell: Shell | None = None,
    /,
    *,
    to: Path | None = None,
    startup: Annotated[bool, SWITCH] = False,
) -> int:
    """Install the completion script where the shell finds it.

    Parameters
    ----------
    shell
        The shell. Default: the current one.
    to
        File to write. Default: the shell's usual place.
    startup
        Also load the script in the shell's start-up file.
    """
    from cyclopts.completion.detect import (  # noqa: PLC0415 - only here
        ShellDetectionError,
        detect_shell,
    )

    from rota.cli.main import app as program  # noqa: PLC0415 - it imports this module by name

    try:
        chosen = shell or detect_shell()
        if to is not None and not to.parent.is_dir():
            raise InvalidInput("--to", str(to), "its folder does not exist")
        file = program.install_completion(shell=chosen, output=to, add_to_startup=startup)
    except ShellDetectionError:
        raise InvalidInput("shell", "unknown", "expected bash, zsh or fish") from None
    except OSError as error:
        wanted = f"cannot write the file: {error.strerror}"
        raise InvalidInput("--to", error.filename, wanted) from None
    print_message(f"Installed completion in {file}; open a new shell to use it")
    return 0


def generate_script(shell: Shell) -> str:
    from rota.cli.main import app as program  # noqa: PLC0415 - it imports this module by name

    return program.generate_completion(prog_name="rota", shell=shell)
