"""Collects the result of an importer: jobs, skipped entries and remarks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from rota.contract.schedule import read_schedule
from rota.core.submissions import NAME_CHARACTERS_MAX
from rota.sdk.code.writing import Written


class Remark(NamedTuple):
    """A remark about a place in the source, such as `crontab:12`."""

    place: str
    to_values: str

    def __str__(self) -> str:
        return f"{self.place}: {self.to_values}"


@dataclass(slots=True)
class Imported:
    """The result of an import. `left_out` are entries that did not become jobs; `notes` are
    settings that were changed or not imported.
    """

    now: datetime
    jobs: list[Written] = field(default_factory=list)
    left_out: list[Remark] = field(default_factory=list)
    notes: list[Remark] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)

    def leave_out(self, place: str, said: object) -> None:
        self.left_out.append(Remark(place, str(said)))

    def note(self, place: str, said: str) -> None:
        """Add a note unless the same text was added before, such as for an earlier line."""
        if all(remark.to_values != said for remark in self.notes):
            self.notes.append(Remark(place, said))

    def name(self, wanted: str) -> str:
        """A unique name for a job, derived from the wanted one."""
        wanted = " ".join(wanted.split())[: NAME_CHARACTERS_MAX - 5] or "job"
        name, number = wanted, 1
        while name in self.names:
            number += 1
            name = f"{wanted} {number}"
        self.names.add(name)
        return name

    def checked(self, schedule: Mapping[str, Any]) -> dict[str, Any]:
        """Check that Rota supports the schedule; raise `InvalidInput` if not."""
        read_schedule(schedule, now=self.now)
        return dict(schedule)
