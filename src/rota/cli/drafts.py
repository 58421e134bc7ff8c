"""A job in arguments: what to do, when, and how. Room: cli.

Nothing is checked here that the API checks: it knows better, and says so with the same words to
everybody.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from cyclopts import Group, Parameter

from rota.cli.errors import Misused
from rota.cli.options import MANY, SWITCH
from rota.cli.reading import document_of, json_of, labels_of
from rota.contract.documents import find_choices
from rota.contract.job import FIELDS, JobField
from rota.contract.schedule_fields import RULES
from rota.core.errors import InvalidInput

WHEN: Final = Group("When", sort_key=2)
HOW: Final = Group("How", sort_key=3)


@Parameter(name="*", group=WHEN)
@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When it runs; at once unless it is said.

    Parameters
    ----------
    cron
        By a cron expression, as in "0 9 * * 1-5".
    every
        At a fixed rate, as in 15m.
    at
        Once, at a time such as 2026-07-01T12:00:00Z.
    after
        Once, so long from now, as in 90m.
    fixed_delay
        That long after the last run ended, as in 15m.
    rrule
        By a recurrence rule, as in "FREQ=MONTHLY;BYDAY=-1FR".
    event
        When an event of this type arrives, as in order.paid or order.*.
    on_demand
        Only when somebody runs it.
    tz
        Zone of the schedule, an IANA name (default: UTC).
    calendar
        Calendar to go by; may be given several times.
    schedule
        The whole schedule as JSON, @file or -.
    """

    cron: Annotated[str | None, Parameter(allow_leading_hyphen=True)] = None
    every: str | None = None
    at: str | None = None
    after: str | None = None
    fixed_delay: str | None = None
    rrule: str | None = None
    event: str | None = None
    on_demand: Annotated[bool, SWITCH] = False
    tz: str | None = None
    calendar: Annotated[list[str] | None, MANY] = None
    schedule: str | None = None

    def plain(self) -> dict[str, Any] | None:
        """The schedule as the API wants it; None if nothing was said."""
        given = self._rules() | self._options()
        if self.schedule is None:
            return given or None
        if given:
            raise Misused(f"either --schedule, which is all of it, or {' and '.join(given)}")
        found = json_of(self.schedule, field="--schedule")
        if not isinstance(found, dict):
            raise InvalidInput("--schedule", self.schedule, "an object, as in docs/reference")
        return found

    def over(self, before: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The same for a job that has a schedule: what is not said stays as it is."""
        given = self.plain()
        if given is None or self.schedule is not None or before is None:
            return given
        kept = {
            name: value for name, value in before.items() if not (self._rules() and name in RULES)
        }
        return kept | given

    def _rules(self) -> dict[str, Any]:
        given = {name: getattr(self, name, None) for name in RULES}
        return {name: value for name, value in given.items() if value not in {None, False}}

    def _options(self) -> dict[str, Any]:
        given = {"timezone": self.tz, "calendars": self.calendar or None}
        return {name: value for name, value in given.items() if value is not None}


def json_argument(text: str) -> Any:
    return json_of(text, field="--payload")


def graph_in(path: str) -> Any:
    """The steps in a file: alone, or as the field of a job."""
    found = document_of(path, field="--graph")
    return found["graph"] if isinstance(found, dict) and "graph" in found else found


def priority_of(text: str | None) -> int | str | None:
    """A number where it is one; the API refuses what it does not know."""
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() else text


class Spelling(NamedTuple):
    """How the command line says a field that is more than one word or number."""

    type: Any
    help: str | None = None
    read: Callable[[Any], Any] | None = None


# A field that is not here is text, or one of the words that the contract lists.
SPELLINGS: Final = {
    "payload": Spelling(
        str,
        "What the handler is given: JSON, @file or - for standard input. Default: null.",
        json_argument,
    ),
    "graph": Spelling(
        str, "File with the steps of a graph, JSON or YAML; the kind is graph then.", graph_in
    ),
    "retries": Spelling(int, "Attempts after the first one. Default: 3."),
    "priority": Spelling(str, read=priority_of),
    "labels": Spelling(
        list[str],
        "Name and value of your own, as in team=billing; may be given several times.",
        labels_of,
    ),
}
OPTIONS: Final = {name: field for name, field in FIELDS.items() if field.option is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class HowOptions:
    """How it is carried out: an option for each field of a job that has one."""

    def fields(self) -> dict[str, Any]:
        """Only what was said, by the API's names."""
        said: dict[str, Any] = {}
        for name, field in OPTIONS.items():
            value = getattr(self, field.option or name)
            if value is None or value == []:
                continue
            read = SPELLINGS[name].read if name in SPELLINGS else None
            said[name] = value if read is None else read(value)
        if "graph" in said:
            said.setdefault("kind", "graph")
        return said


def _option(field: JobField) -> tuple[str, Any, Any]:
    """The option of a field, as a field of a dataclass."""
    spelling = SPELLINGS.get(field.name) or Spelling(find_choices(field.type) or str)
    said = spelling.help or field.description.replace("`", "")
    option: Any = Annotated[spelling.type | None, MANY, Parameter(help=said)]
    return field.option or field.name, option, None


if TYPE_CHECKING:
    How = HowOptions
else:
    How = Parameter(name="*", group=HOW)(
        make_dataclass(
            "How",
            [_option(field) for field in OPTIONS.values()],
            bases=(HowOptions,),
            # cyclopts takes a class of another module for a type of the standard library.
            namespace={"__module__": __name__},
            frozen=True,
            slots=True,
            kw_only=True,
        )
    )

AT_ONCE: Final = When()
USUALLY: Final = How()
