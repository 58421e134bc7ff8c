"""Schemas of job changes."""

from typing import Any

from msgspec import Struct


class ChangedFieldView(Struct, kw_only=True, frozen=True):
    """One changed field, by its path. `is_shown` is false for payloads and for long values: the log
    records only that they changed.
    """

    field: str
    before: Any
    after: Any
    is_shown: bool


class JobChangeView(Struct, kw_only=True, frozen=True):
    """One change of a job: author, time, origin and the changed fields.

    `origin` is `code` (an app that declares jobs), `file` (`rota apply`), `import`, `cli`,
    `dashboard`, `api`, or `transaction` (`rota.in_transaction`); null for changes by earlier
    releases. `version` is the job's version after the change; null if unknown. `details` contains
    other facts, such as the reason of a pause.
    """

    id: int
    at: str
    author: str
    origin: str | None
    action: str
    version: int | None
    changes: list[ChangedFieldView]
    details: dict[str, Any]
