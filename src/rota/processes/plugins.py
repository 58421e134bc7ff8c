"""Finds executors and event sources by their entry points.

Rota registers its own in pyproject.toml, in the same groups as any other package registers its
plug-ins. A plug-in is imported only when it is loaded, so a library of an extra that is not
installed does no harm until it is needed.
"""

from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

from rota.core.errors import InvalidInput, UnusableInput
from rota.processes.app_loader import describe_import_error

OWN_PACKAGE: Final = "rota"


def find_entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, those of Rota first."""
    found = entry_points(group=group)
    built_in = [entry for entry in found if is_built_in(entry)]
    if not built_in:
        raise UnusableInput(
            "installation",
            group,
            f"The installed metadata of Rota lists no entry points of {group}: it is older than "
            "the code. Install Rota again; in a checkout, run `make setup`.",
        )
    return [*built_in, *(entry for entry in found if not is_built_in(entry))]


def is_built_in(entry: EntryPoint) -> bool:
    return entry.module.partition(".")[0] == OWN_PACKAGE


def load_entry_point(entry: EntryPoint) -> Any:
    """Import what an entry point names; raise `InvalidInput` if that fails."""
    try:
        return entry.load()
    except Exception as error:  # a plug-in may raise anything
        wanted = f"cannot load this entry point of {entry.group}: {describe_import_error(error)}"
        raise InvalidInput("plug-in", entry.value, wanted) from error
