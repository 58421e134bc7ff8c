"""Reads lists from the API page by page, up to a limit."""

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
    """How many rows a list shows.

    Parameters
    ----------
    limit
        Maximum number of rows. Default: 50.
    all_
        Show all rows.
    """

    limit: Annotated[int, Parameter(name=["--limit", "-n"], validator=Number(gte=1))] = 50
    all_: Annotated[bool, Parameter(name="--all", negative=())] = False


SOME: Final = Most()


class Found(NamedTuple):
    rows: list[Any]
    has_more: bool


def gather(listing: Callable[..., Any], *path: str, most: Most, **filters: Any) -> Found:
    """Read the rows of a paged operation. A short or empty page may still have a successor."""
    rows: list[Any] = []
    query = said(**filters)
    while True:
        wanted = PAGE if most.all_ else min(PAGE, most.limit - len(rows))
        page = listing(*path, limit=wanted, **query)
        rows += page.items
        if page.next is None:
            return Found(rows, has_more=False)
        if not most.all_ and len(rows) >= most.limit:
            return Found(rows, has_more=True)
        query["cursor"] = page.next


def said(**fields: Any) -> dict[str, Any]:
    """Drop fields without a value: the API applies its defaults."""
    return {name: value for name, value in fields.items() if value not in (None, [], (), {})}


def tell_more(found: Found, talk: Talk) -> None:
    """Mention further rows, at a terminal only: a program sets --limit or --all itself."""
    if found.has_more and talk.is_plain and sys.stdout.isatty():
        print("More rows available: use --limit N or --all", file=sys.stderr)
