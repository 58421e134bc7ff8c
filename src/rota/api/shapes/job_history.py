"""The changes of a job as JSON. Room: api/shapes."""

from typing import Any

from msgspec import Struct


class ChangedFieldView(Struct, kw_only=True, frozen=True):
    """One field, by its path. `is_shown` is false for a payload and for values that are too long:
    the log keeps only that they changed.
    """

    field: str
    before: Any
    after: Any
    is_shown: bool


class JobChangeView(Struct, kw_only=True, frozen=True):
    """One change of a job: who made it, when, by which means, and what became different.

    `origin` is `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`,
    `dashboard`, `api`, or `transaction` (`rota.within`); null for changes by earlier releases.
    `version` is the version that the job has since; null if the entry does not say. `details` is
    what else the entry says, such as the reason of a pause.
    """

    id: int
    at: str
    author: str
    origin: str | None
    action: str
    version: int | None
    changes: list[ChangedFieldView]
    details: dict[str, Any]
