"""A job in arguments: what to do, when, and how. Room: cli.

Nothing is checked here that the API checks: it knows better, and says so with the same words to
everybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from cyclopts import Group, Parameter

from rota.cli.errors import Misused
from rota.cli.options import MANY, SWITCH
from rota.cli.reading import document_of, json_of, labels_of
from rota.core.errors import InvalidInput
from rota.core.time.rule_plain import RULES

WHEN: Final = Group("When", sort_key=2)
HOW: Final = Group("How", sort_key=3)

WhenQueuePaused = Literal["skip", "accumulate"]
Overlap = Literal["skip", "queue_one", "queue_all", "cancel_running", "terminate_running", "allow"]
Guarantee = Literal["at_least_once", "at_most_once", "exactly_once"]


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
        given = {
            "cron": self.cron,
            "every": self.every,
            "at": self.at,
            "after": self.after,
            "rrule": self.rrule,
            "event": self.event,
            "on_demand": self.on_demand or None,
        }
        return {name: value for name, value in given.items() if value is not None}

    def _options(self) -> dict[str, Any]:
        given = {"timezone": self.tz, "calendars": self.calendar or None}
        return {name: value for name, value in given.items() if value is not None}


@Parameter(name="*", group=HOW)
@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How it is carried out.

    Parameters
    ----------
    kind
        Which handler carries it out (default: the name of the job).
    payload
        What the handler is given: JSON, @file or - for standard input.
    graph
        File with the steps of a graph, JSON or YAML; the kind is graph then.
    queue
        Which workers serve it (default: default).
    priority
        From 0, which goes first, to 9, or high, medium, normal, low.
    retries
        How many more attempts after the first (default: 3).
    max_time
        The longest an attempt may take, or none (default: 15m).
    deadline
        How long after its due time a run may go on, or none (default: none).
    overlap
        What if a run of it is alive when it is due (default: skip).
    when_queue_paused
        What if it is due while its queue is paused (default: skip).
    guarantee
        What happens if a worker is lost (default: at_least_once).
    target
        What its attempts depend on; while that does not answer, runs wait. Or none.
    label
        Name and value of your own, as in team=billing; may be given several times.
    user_id
        Whose job it is, for your own bookkeeping.
    """

    kind: str | None = None
    payload: str | None = None
    graph: str | None = None
    queue: str | None = None
    priority: str | None = None
    retries: int | None = None
    max_time: str | None = None
    deadline: str | None = None
    overlap: Overlap | None = None
    when_queue_paused: WhenQueuePaused | None = None
    guarantee: Guarantee | None = None
    target: str | None = None
    label: Annotated[list[str] | None, MANY] = None
    user_id: str | None = None

    def fields(self) -> dict[str, Any]:
        """Only what was said, by the API's names."""
        given: dict[str, Any] = {
            "kind": self.kind,
            "queue": self.queue,
            "priority": priority_of(self.priority),
            "retries": self.retries,
            "timeout": self.max_time,
            "deadline": self.deadline,
            "overlap": self.overlap,
            "when_queue_paused": self.when_queue_paused,
            "guarantee": self.guarantee,
            "target": self.target,
            "labels": labels_of(self.label),
            "user_id": self.user_id,
        }
        said = {name: value for name, value in given.items() if value is not None}
        if self.payload is not None:
            said["payload"] = json_of(self.payload, field="--payload")
        if self.graph is not None:
            said |= {"kind": self.kind or "graph", "graph": graph_in(self.graph)}
        return said


AT_ONCE: Final = When()
USUALLY: Final = How()


def graph_in(path: str) -> Any:
    """The steps in a file: alone, or as the field of a job."""
    found = document_of(path, field="--graph")
    return found["graph"] if isinstance(found, dict) and "graph" in found else found


def priority_of(text: str | None) -> int | str | None:
    """A number where it is one; the API refuses what it does not know."""
    if text is None:
        return None
    return int(text) if text.isascii() and text.isdigit() else text
