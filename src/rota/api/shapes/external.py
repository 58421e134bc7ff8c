"""Runs that are carried out elsewhere, as JSON. Room: api/shapes."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.api.shapes.pieces import Json, Labels, Name


class ExternalDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """A process that is about to do something, and wants it on record."""

    job: Annotated[Name, Meta(description="Of which job; made, with the kind `exec`, if need be.")]
    host: Annotated[
        Annotated[str, Meta(min_length=1, max_length=180)],
        Meta(description="Where it is, to find the process by."),
    ]
    payload: Annotated[Json, Meta(description="What it does, for whoever looks.")] = None
    labels: Annotated[
        Annotated[Labels, Meta(max_length=32)], Meta(description="Of the job, if it is made.")
    ] = {}


class ExternalRun(Struct, kw_only=True, frozen=True):
    """Without a word about it for `lease_seconds` it is taken for lost."""

    job_id: str
    run_id: str
    lease_seconds: int
    log_url: str


class OutputPiece(Struct, kw_only=True, forbid_unknown_fields=True):
    seq: Annotated[
        Annotated[int, Meta(ge=0, le=20_000)],
        Meta(description="Counted from 0: a piece that comes twice is kept once."),
    ]
    text: Annotated[Annotated[str, Meta(max_length=16_000)], Meta(description="What it wrote.")]
    stream: Annotated[Literal["stdout", "stderr"], Meta(description="Where it wrote it.")] = (
        "stdout"
    )


class ExternalWord(Struct, kw_only=True, forbid_unknown_fields=True):
    """That it goes on, and what it wrote meanwhile."""

    output: Annotated[
        Annotated[list[OutputPiece], Meta(max_length=200)],
        Meta(description="What it wrote since the last time."),
    ] = []


class ExternalEnd(ExternalWord, kw_only=True, forbid_unknown_fields=True):
    exit_code: Annotated[
        Annotated[int, Meta(ge=0, le=255)], Meta(description="0 is success, anything else is not.")
    ]
    why: Annotated[
        Annotated[str, Meta(max_length=1000)] | None,
        Meta(description="What went wrong; the exit code unless it is said."),
    ] = None


class ExternalAnswer(Struct, kw_only=True, frozen=True):
    """`cancel`: somebody asked for it to be stopped."""

    run_id: str
    cancel: bool
    status: str
