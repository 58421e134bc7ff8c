"""Turns command-line options into the fields of a job: schedule, payload and policy.

The API validates the values, so that every client gets the same error messages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from cyclopts import Group, Parameter

from rota.cli.errors import Misused
from rota.cli.options import MANY, SWITCH
from rota.cli.reading import document_of, json_of, labels_of
from rota.contract.documents import find_choices
from rota.contract.job import JOB_FIELDS, JobField
from rota.contract.schedule_fields import RULE_FIELDS
from rota.core.errors import InvalidInput

WHEN: Final = Group("Schedule", sort_key=2)
HOW: Final = Group("Execution", sort_key=3)


@Parameter(name="*", group=WHEN)
@dataclass(frozen=True, slots=True, kw_only=True)
class When:
    """When the job runs. Default: once, immediately.

    Parameters
    ----------
    cron
        Cron expression, such as "0 9 * * 1-5".
    every
        Fixed interval, such as 15m.
    at
        Once, at this time, such as 2026-07-01T12:00:00Z.
    after
        Once, after this delay, such as 90m.
    fixed_delay
        Delay after the previous run ended, such as 15m.
    rrule
        Recurrence rule (RRULE), such as "FREQ=MONTHLY;BYDAY=-1FR".
    event
        Run when an event of this type arrives, such as order.paid or order.*.
    on_demand
        No schedule: the job runs only on request, with `rota jobs run`.
    tz
        Time zone of the schedule, an IANA name. Default: UTC.
    calendar
        Calendar that the schedule follows (repeatable). Default: none.
    schedule
        The whole schedule as JSON, @file, or - for standard input.
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
        """Return the schedule as the API expects it; None without schedule options."""
        given = self._rules() | self._options()
        if self.schedule is None:
            return given or None
        if given:
            raise Misused(
                f"--schedule is the whole schedule; do not combine it with {' and '.join(given)}"
            )
        found = json_of(self.schedule, field="--schedule")
        if not isinstance(found, dict):
            raise InvalidInput(
                "--schedule",
                self.schedule,
                "expected a JSON object, as described in docs/reference/schedules.md",
            )
        return found

    def over(self, before: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the schedule of a job after an edit; missing options keep their values."""
        given = self.plain()
        if given is None or self.schedule is not None or before is None:
            return given
        kept = {
            name: value
            for name, value in before.items()
            if not (self._rules() and name in RULE_FIELDS)
        }
        return kept | given

    def _rules(self) -> dict[str, Any]:
        given = {name: getattr(self, name, None) for name in RULE_FIELDS}
        return {name: value for name, value in given.items() if value not in {None, False}}

    def _options(self) -> dict[str, Any]:
        given = {"timezone": self.tz, "calendars": self.calendar or None}
        return {name: value for name, value in given.items() if value is not None}


def json_argument(text: str) -> Any:
    return json_of(text, field="--payload")


def graph_in(path: str) -> Any:
    """Return the graph in a file: bare steps, or the `graph` field of a job."""
    found = document_of(path, field="--graph")
    return found["graph"] if isinstance(found, dict) and "graph" in found else found


def priority_of(text: str | None) -> int | str | None:
    """Return a number if the text is one; the API rejects unknown names."""
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() else text


class Spelling(NamedTuple):
    """How an option is typed, described and parsed, for fields that are not plain text."""

    type: Any
    help: str | None = None
    read: Callable[[Any], Any] | None = None


# Every other field is text, or one of the values that the contract lists.
SPELLINGS: Final = {
    "payload": Spelling(
        str,
        "Payload of the job: JSON, @file, or - for standard input. Default: null.",
        json_argument,
    ),
    "graph": Spelling(
        str, "File with the steps of a graph, JSON or YAML. Sets the kind to graph.", graph_in
    ),
    "retries": Spelling(int, "Attempts after the first. Default: 3."),
    "priority": Spelling(str, read=priority_of),
    "labels": Spelling(
        list[str],
        "Label, such as team=billing (repeatable). Default: none.",
        labels_of,
    ),
}
OPTIONS: Final = {name: field for name, field in JOB_FIELDS.items() if field.option is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class HowOptions:
    """The options that set fields of a job, one per field of the contract that has an option."""

    def fields(self) -> dict[str, Any]:
        """Return the given options by their API field names."""
        fields: dict[str, Any] = {}
        for name, field in OPTIONS.items():
            value = getattr(self, field.option or name)
            if value is None or value == []:
                continue
            read = SPELLINGS[name].read if name in SPELLINGS else None
            fields[name] = value if read is None else read(value)
        if "graph" in fields:
            fields.setdefault("kind", "graph")
        return fields


def _option(field: JobField) -> tuple[str, Any, Any]:
    """Return the dataclass field that declares the option of a job field."""
    spelling = SPELLINGS.get(field.name) or Spelling(find_choices(field.type) or str)
    help_text = spelling.help or field.description.replace("`", "")
    option: Any = Annotated[spelling.type | None, MANY, Parameter(help=help_text)]
    return field.option or field.name, option, None


if TYPE_CHECKING:
    How = HowOptions
else:
    How = Parameter(name="*", group=HOW)(
        make_dataclass(
            "How",
            [_option(field) for field in OPTIONS.values()],
            bases=(HowOptions,),
            # Without it cyclopts mistakes the class for a type of the standard library.
            namespace={"__module__": __name__},
            frozen=True,
            slots=True,
            kw_only=True,
        )
    )

AT_ONCE: Final = When()
USUALLY: Final = How()
