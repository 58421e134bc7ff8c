"""Reads lists from the API page by page, up to a limit."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from cyclopts import Parameter
from cyclopts.validators import Number

from rota.cli.api_options import OUTPUT, ApiOptions

PAGE_SIZE: Final = 200


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, slots=True, kw_only=True)
class ListLimit:
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


DEFAULT_LIMIT: Final = ListLimit()


class ListedRows(NamedTuple):
    rows: list[Any]
    has_more: bool


def list_rows(
    operation: Callable[..., Any], *path: str, row_limit: ListLimit, **filters: Any
) -> ListedRows:
    """Read the rows of a paged operation. A short or empty page may still have a successor."""
    rows: list[Any] = []
    query = drop_empty(**filters)
    while True:
        wanted = PAGE_SIZE if row_limit.all_ else min(PAGE_SIZE, row_limit.limit - len(rows))
        page = operation(*path, limit=wanted, **query)
        rows += page.items
        if page.next is None:
            return ListedRows(rows, has_more=False)
        if not row_limit.all_ and len(rows) >= row_limit.limit:
            return ListedRows(rows, has_more=True)
        query["cursor"] = page.next


def drop_empty(**fields: Any) -> dict[str, Any]:
    """Drop fields without a value: the API applies its defaults."""
    return {name: value for name, value in fields.items() if value not in (None, [], (), {})}


def print_more_hint(listed: ListedRows, api_options: ApiOptions) -> None:
    """Mention further rows, at a terminal only: a program sets --limit or --all itself."""
    if listed.has_more and api_options.is_plain and sys.stdout.isatty():
        print("More rows available: use --limit N or --all", file=sys.stderr)
