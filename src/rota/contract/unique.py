"""Reads the rules that deduplicate submissions."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, field

from rota.contract.field_types import Duration
from rota.core.submissions import LIMIT_KEY_CHARACTERS_MAX
from rota.core.time import durations
from rota.core.uniqueness import KEY_HELD_MAX, HeldWhile, OnConflict, UniqueRule


class UniqueDraft(Struct, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Deduplicates submissions: the first one with a key becomes a run; a later one returns that
    run, is rejected, or replaces it.
    """

    key: Annotated[
        Annotated[str, Meta(min_length=1, max_length=LIMIT_KEY_CHARACTERS_MAX)],
        Meta(
            description="Submissions with the same key are duplicates; `{args.id}` is replaced by "
            "the value in the payload."
        ),
    ]
    held_while: Annotated[
        Literal["queued", "live"] | UnsetType,
        Meta(
            description="How long the key is held: until the run starts (`queued`) or until it has "
            "finished (`live`). Default: `live`."
        ),
    ] = field(name="while", default=UNSET)
    within: (
        Annotated[
            Duration,
            Meta(
                description="Minimum time that the key is held, even after the run has finished; "
                "at most a year. Default: no minimum."
            ),
        ]
        | UnsetType
    ) = UNSET
    on_conflict: Annotated[
        Literal["return", "reject", "replace"] | UnsetType,
        Meta(
            description="What a later submission does: `return` the existing run, `reject` with "
            "409, or `replace` the existing run. Default: `return`."
        ),
    ] = UNSET


def to_unique(draft: UniqueDraft) -> UniqueRule:
    within = draft.within
    values: dict[str, Any] = {"key": draft.key}
    if draft.held_while is not UNSET:
        values["held_while"] = HeldWhile(draft.held_while)
    if draft.on_conflict is not UNSET:
        values["on_conflict"] = OnConflict(draft.on_conflict)
    if within is not UNSET:
        values["within"] = durations.parse(within, field="unique.within", maximum=KEY_HELD_MAX)
    return UniqueRule(**values)
