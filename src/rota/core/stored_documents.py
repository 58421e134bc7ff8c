"""Supports reading stored JSON that a newer version of Rota may have written.

Input is read strictly: an unknown field is rejected. A stored document is read leniently, because
during a rolling upgrade, and after a rollback of the code, older code reads what newer code wrote:

- an unknown field is ignored, and kept when the document is written again;
- an unknown value of a choice has a documented fallback where one is safe, and is also kept;
- any other unknown value raises `NewerDocument`. The caller sets that one job or run aside until a
  process of a newer version reads it; nothing is quarantined, ended or lost.

docs/adr/0033-stored-documents.md explains why, CONTRIBUTING.md how to add a field or a value.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeVar

from rota.core.errors import InvalidInput, NewerDocument

Choice = TypeVar("Choice", bound=StrEnum)
_TOP = re.compile(r"[^.\[]+")


@dataclass(frozen=True, slots=True)
class UnreadFields:
    """Records which top-level fields of a stored document could not be read completely."""

    fields: set[str] = field(default_factory=set)

    def add(self, path: str) -> None:
        found = _TOP.match(path)
        if found is not None:
            self.fields.add(found.group())

    def select_from(self, document: Mapping[str, object]) -> dict[str, object]:
        """Return these fields as they are stored, to be written back with the others."""
        return {name: value for name, value in document.items() if name in self.fields}


def to_newer_document(error: InvalidInput) -> NewerDocument:
    """Convert an input error of a stored document into `NewerDocument`."""
    return NewerDocument(error.field, error.value, error.wanted)


def check_known(value: StrEnum, field_name: str) -> None:
    """Raise `NewerDocument` for a member that `create_unknown_member` created."""
    if value not in type(value).__members__.values():
        raise NewerDocument(field_name, value.value, f"expected {' or '.join(type(value))}")


def create_unknown_member(choices: type[Choice], value: str) -> Choice:
    """Return an enum member for an unknown value; it can be shown, and equals no known member."""
    member = str.__new__(choices, value)
    member._name_ = value
    member._value_ = value
    return member
