"""Collects the result of an importer: jobs, skipped entries and remarks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from rota.contract.schedule import read_schedule
from rota.core.submissions import NAME_CHARACTERS_MAX
from rota.sdk.jobs_as_code.manifest_writer import ManifestJobText


class ImportRemark(NamedTuple):
    """A remark about a place in the source, such as `crontab:12`."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(slots=True)
class ImportedJobs:
    """The result of an import. `left_out` are entries that did not become jobs; `notes` are
    settings that were changed or not imported.
    """

    now: datetime
    jobs: list[ManifestJobText] = field(default_factory=list)
    skipped: list[ImportRemark] = field(default_factory=list)
    notes: list[ImportRemark] = field(default_factory=list)
    defaults: dict[str, Any] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    # Channels that the jobs report to, with their recipients.
    channels: dict[str, str] = field(default_factory=dict)

    def skip_entry(self, place: str, reason: object) -> None:
        self.skipped.append(ImportRemark(place, str(reason)))

    def add_note(self, place: str, message: str) -> None:
        """Add a note unless the same text was added before, such as for an earlier line."""
        if all(remark.message != message for remark in self.notes):
            self.notes.append(ImportRemark(place, message))

    def claim_name(self, wanted: str) -> str:
        """A unique name for a job, derived from the wanted one."""
        wanted = " ".join(wanted.split())[: NAME_CHARACTERS_MAX - 5] or "job"
        name, number = wanted, 1
        while name in self.names:
            number += 1
            name = f"{wanted} {number}"
        self.names.add(name)
        return name

    def check_schedule(self, schedule: Mapping[str, Any]) -> dict[str, Any]:
        """Check that Rota supports the schedule; raise `InvalidInput` if not."""
        read_schedule(schedule, now=self.now)
        return dict(schedule)
