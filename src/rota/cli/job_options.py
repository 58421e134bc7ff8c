"""Turns command-line options into the fields of a job: schedule, payload and policy.

The API validates the values, so that every client gets the same error messages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, make_dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from cyclopts import Group, Parameter

from rota.cli.api_options import REPEATABLE, SWITCH
from rota.cli.argument_values import parse_labels, parse_settings, read_document, read_json
from rota.cli.errors import UsageError
from rota.contract.documents import find_choices
from rota.contract.job import JOB_FIELDS, JobField
from rota.contract.schedule_fields import RULE_FIELDS
from rota.core.errors import InvalidInput

SCHEDULE_GROUP: Final = Group("Schedule", sort_key=2)
EXECUTION_GROUP: Final = Group("Execution", sort_key=3)


@Parameter(name="*", group=SCHEDULE_GROUP)
@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleOptions:
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
    calendar: Annotated[list[str] | None, REPEATABLE] = None
    schedule: str | None = None

    def build_schedule(self) -> dict[str, Any] | None:
        """Return the schedule as the API expects it; None without schedule options."""
        given = self._rules() | self._options()
        if self.schedule is None:
            return given or None
        if given:
            raise UsageError(
                f"--schedule is the whole schedule; do not combine it with {' and '.join(given)}"
            )
        found = read_json(self.schedule, field="--schedule")
        if not isinstance(found, dict):
            raise InvalidInput(
                "--schedule",
                self.schedule,
                "expected a JSON object, as described in docs/reference/schedules.md",
            )
        return found

    def merge_schedule(self, current: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Return the schedule of a job after an edit; missing options keep their values."""
        given = self.build_schedule()
        if given is None or self.schedule is not None or current is None:
            return given
        kept = {
            name: value
            for name, value in current.items()
            if not (self._rules() and name in RULE_FIELDS)
        }
        return kept | given

    def _rules(self) -> dict[str, Any]:
        given = {name: getattr(self, name, None) for name in RULE_FIELDS}
        return {name: value for name, value in given.items() if value not in {None, False}}

    def _options(self) -> dict[str, Any]:
        given = {"timezone": self.tz, "calendars": self.calendar or None}
        return {name: value for name, value in given.items() if value is not None}


def parse_payload(text: str) -> Any:
    return read_json(text, field="--payload")


def read_graph_file(path: str) -> Any:
    """Return the graph in a file: bare steps, or the `graph` field of a job."""
    found = read_document(path, field="--graph")
    return found["graph"] if isinstance(found, dict) and "graph" in found else found


def parse_priority(text: str | None) -> int | str | None:
    """Return a number if the text is one; the API rejects unknown names."""
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() else text


class OptionSpelling(NamedTuple):
    """How an option is typed, described and parsed, for fields that are not plain text."""

    type: Any
    help: str | None = None
    read: Callable[[Any], Any] | None = None


# Every other field is text, or one of the values that the contract lists.
OPTION_SPELLINGS: Final = {
    "payload": OptionSpelling(
        str,
        "Payload of the job: JSON, @file, or - for standard input. Default: null.",
        parse_payload,
    ),
    "graph": OptionSpelling(
        str,
        "File with the steps of a graph, JSON or YAML. Sets the kind to graph.",
        read_graph_file,
    ),
    "retries": OptionSpelling(int, "Attempts after the first. Default: 3."),
    "priority": OptionSpelling(str, read=parse_priority),
    "labels": OptionSpelling(
        list[str],
        "Label, such as team=billing (repeatable). Default: none.",
        parse_labels,
    ),
    "expect": OptionSpelling(
        list[str],
        "Condition that runs must meet, such as finish_by=06:00 or failures.streak=2 (repeatable); "
        "none removes all. Default: none.",
        partial(parse_settings, field="--expect"),
    ),
    "alert": OptionSpelling(
        list[str],
        "How incidents are reported, such as to=team-billing or severity=page (repeatable); none "
        "restores the defaults. Default: a warning to the default channels.",
        partial(parse_settings, field="--alert"),
    ),
}
OPTION_FIELDS: Final = {
    name: field for name, field in JOB_FIELDS.items() if field.option is not None
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionOptionsBase:
    """The options that set fields of a job, one per field of the contract that has an option."""

    def build_fields(self) -> dict[str, Any]:
        """Return the given options by their API field names."""
        fields: dict[str, Any] = {}
        for name, field in OPTION_FIELDS.items():
            value = getattr(self, field.option or name)
            if value is None or value == []:
                continue
            read = OPTION_SPELLINGS[name].read if name in OPTION_SPELLINGS else None
            fields[name] = value if read is None else read(value)
        if "graph" in fields:
            fields.setdefault("kind", "graph")
        return fields


def _option(field: JobField) -> tuple[str, Any, Any]:
    """Return the dataclass field that declares the option of a job field."""
    spelling = OPTION_SPELLINGS.get(field.name) or OptionSpelling(find_choices(field.type) or str)
    help_text = spelling.help or field.description.replace("`", "")
    option: Any = Annotated[spelling.type | None, REPEATABLE, Parameter(help=help_text)]
    return field.option or field.name, option, None


if TYPE_CHECKING:
    ExecutionOptions = ExecutionOptionsBase
else:
    ExecutionOptions = Parameter(name="*", group=EXECUTION_GROUP)(
        make_dataclass(
            "ExecutionOptions",
            [_option(field) for field in OPTION_FIELDS.values()],
            bases=(ExecutionOptionsBase,),
            # Without it cyclopts mistakes the class for a type of the standard library.
            namespace={"__module__": __name__},
            frozen=True,
            slots=True,
            kw_only=True,
        )
    )

NO_SCHEDULE_OPTIONS: Final = ScheduleOptions()
NO_EXECUTION_OPTIONS: Final = ExecutionOptions()
