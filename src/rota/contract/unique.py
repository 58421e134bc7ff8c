"""Uniqueness rules of submissions, as documents. Room: contract."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from rota.contract.documents import read_input
from rota.contract.pieces import Duration
from rota.core.submission import MOST_KEY
from rota.core.time import durations
from rota.core.uniqueness import LONGEST, OnConflict, Unique, While


class UniqueDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Of equal submissions one becomes a run; the others get it, are refused, or replace it."""

    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=MOST_KEY)],
        Meta(description="What makes it equal; `{args.id}` is filled from the payload."),
    ]
    held_while: Annotated[
        Literal["queued", "live"] | UnsetType,
        Meta(description="Held until the run starts, or until it has ended. Default: `live`."),
    ] = field(name="while", default=UNSET)
    within: (
        Annotated[
            Duration,
            Meta(
                description="The key is held at least this long, whatever becomes of the run; "
                "at most a year. Default: no such time."
            ),
        ]
        | UnsetType
    ) = UNSET
    on_conflict: Annotated[
        Literal["return", "reject", "replace"] | UnsetType,
        Meta(
            description="A later submission gets the first one, is refused with 409, or replaces "
            "it. Default: `return`."
        ),
    ] = UNSET


def read_unique(value: object) -> Unique:
    """Read a rule that a person or a program wrote."""
    return to_unique(read_input(UniqueDraft, value, path="unique"))


def to_unique(draft: UniqueDraft) -> Unique:
    within = draft.within
    values: dict[str, Any] = {"key": draft.key}
    if draft.held_while is not UNSET:
        values["held_while"] = While(draft.held_while)
    if draft.on_conflict is not UNSET:
        values["on_conflict"] = OnConflict(draft.on_conflict)
    if within is not UNSET:
        values["within"] = durations.parse(within, field="unique.within", longest=LONGEST)
    return Unique(**values)
