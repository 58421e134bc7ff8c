"""`rota bench`: measures Rota on this machine, in a source checkout.

The wheel does not contain the benchmark (`rota_bench`); there the command says where to find it.
"""

from collections.abc import Callable
from typing import Annotated, Final

from cyclopts import Parameter

from rota.cli.errors import UsageError

UNAVAILABLE: Final = "rota bench is part of the source repository; clone it and run `make bench`"


def explain_absence(
    *_arguments: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)],
) -> int:
    """Measure Rota, in a source checkout.

    This command is part of the source repository: clone it and run `make bench`.
    """
    raise UsageError(UNAVAILABLE)


def find_command() -> Callable[..., int]:
    """Return the command of the source checkout, or the explanation of an installed wheel."""
    try:
        from rota_bench.command import bench as command  # noqa: PLC0415 - not in the wheel
    except ModuleNotFoundError as error:
        if error.name != "rota_bench":
            raise
        return explain_absence
    return command


bench: Final = find_command()
