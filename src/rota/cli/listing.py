"""Lists of the API, page by page, up to as many as were asked for. Room: cli."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli.options import OUTPUT, Talk

PAGE: Final = 200


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, slots=True, kw_only=True)
class Most:
    """How many.

    Parameters
    ----------
    limit
        How many at most.
    all_
        All of them, however many.
    """

    limit: Annotated[int, Parameter(name=["--limit", "-n"], validator=Number(gte=1))] = 50
    all_: Annotated[bool, Parameter(name="--all", negative=())] = False


SOME: Final = Most()


class Found(NamedTuple):
    rows: list[Any]
    has_more: bool


def gather(listing: Callable[..., Any], *path: str, most: Most, **filters: Any) -> Found:
    """Rows of a paged operation. A page may be short, or empty, and still have a next one."""
    rows: list[Any] = []
    asked = said(**filters)
    while True:
        wanted = PAGE if most.all_ else min(PAGE, most.limit - len(rows))
        page = listing(*path, limit=wanted, **asked)
        rows += page.items
        if page.next is None:
            return Found(rows, has_more=False)
        if not most.all_ and len(rows) >= most.limit:
            return Found(rows, has_more=True)
        asked["cursor"] = page.next


def said(**fields: Any) -> dict[str, Any]:
    """Only what was said: the API knows what is usual."""
    return {name: value for name, value in fields.items() if value not in (None, [], (), {})}


def tell_more(found: Found, talk: Talk) -> None:
    """To people only; a program asks for all, or knows what it asked for."""
    if found.has_more and talk.is_plain and sys.stdout.isatty():
        print("there are more: --limit shows so many, --all shows all", file=sys.stderr)
