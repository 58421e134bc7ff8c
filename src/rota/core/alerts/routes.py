"""Defines routes: which channels get the messages of an incident, and when."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import Final

from rota.core.alerts.finding import Severity
from rota.core.errors import InvalidInput

# Names that an error lists.
_NAMES_SHOWN_MAX: Final = 10
CHANNELS_REMEDY: Final = "a channel is known once a scheduler with [channels.NAME] runs"


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteStep:
    """The channels of one step. They get messages about incidents that are at least `severity`
    urgent and open for `after`, again every `repeat` (None: once), and about recoveries if
    `recovery` is set. `unless_acknowledged` skips the step for an acknowledged incident.
    """

    channels: tuple[str, ...]
    after: timedelta = timedelta(0)
    repeat: timedelta | None = None
    unless_acknowledged: bool = False
    severity: Severity = Severity.INFO
    recovery: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRoute:
    """A named list of steps of a tenant."""

    tenant_id: int
    name: str
    steps: tuple[RouteStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertTargets:
    """The names that alerts of a tenant may report to."""

    routes: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()

    def check_target(self, name: str, field: str) -> None:
        """Raise `InvalidInput` unless this is the name of a route or a channel."""
        if name not in self.routes and name not in self.channels:
            routes, channels = _list_names(self.routes), _list_names(self.channels)
            known = f"known routes: {routes}; known channels: {channels}"
            hint = _suggest(name, self.routes | self.channels)
            wanted = f"expected a route or a channel; {known}{hint}; {CHANNELS_REMEDY}"
            raise InvalidInput(field, name, wanted)

    def check_channels(self, steps: Iterable[RouteStep], field: str = "steps") -> None:
        """Raise `InvalidInput` for a step with an unknown channel."""
        for place, step in enumerate(steps):
            for position, name in enumerate(step.channels):
                if name not in self.channels:
                    known = f"known channels: {_list_names(self.channels)}"
                    hint = _suggest(name, self.channels)
                    wanted = f"expected a channel; {known}{hint}; {CHANNELS_REMEDY}"
                    raise InvalidInput(f"{field}[{place}].to[{position}]", name, wanted)


def _list_names(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - _NAMES_SHOWN_MAX
    shown = ", ".join(ordered[:_NAMES_SHOWN_MAX]) or "none"
    return f"{shown} and {more} more" if more > 0 else shown


def _suggest(name: str, known: Iterable[str]) -> str:
    close = get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""
