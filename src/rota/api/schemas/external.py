"""Schemas of external runs, which a process outside Rota executes."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rota.api.schemas.field_types import Json, Labels, Name


class ExternalDraft(Struct, kw_only=True, forbid_unknown_fields=True):
    """An external process that reports its run."""

    job: Annotated[
        Name, Meta(description="Name of the job; created with the kind `exec` if missing.")
    ]
    host: Annotated[
        Annotated[str, Meta(min_length=1, max_length=180)],
        Meta(description="Host on which the process runs."),
    ]
    payload: Annotated[Json, Meta(description="Description of the work. Default: none.")] = None
    labels: Annotated[
        Annotated[Labels, Meta(max_length=32)],
        Meta(description="Labels of the job, if it is created. Default: none."),
    ] = {}


class ExternalRun(Struct, kw_only=True, frozen=True):
    """A started run. It counts as lost after `lease_seconds` without a report."""

    job_id: str
    run_id: str
    lease_seconds: int
    log_url: str


class OutputPiece(Struct, kw_only=True, forbid_unknown_fields=True):
    seq: Annotated[
        Annotated[int, Meta(ge=0, le=20_000)],
        Meta(description="Sequence number from 0; a repeated piece is stored once."),
    ]
    text: Annotated[Annotated[str, Meta(max_length=16_000)], Meta(description="The output.")]
    stream: Annotated[
        Literal["stdout", "stderr"], Meta(description="Stream of the output. Default: `stdout`.")
    ] = "stdout"


class ExternalRunReport(Struct, kw_only=True, forbid_unknown_fields=True):
    """A heartbeat of an external run with its new output."""

    output: Annotated[
        Annotated[list[OutputPiece], Meta(max_length=200)],
        Meta(description="Output since the last report. Default: none."),
    ] = []


class ExternalEnd(ExternalRunReport, kw_only=True, forbid_unknown_fields=True):
    exit_code: Annotated[
        Annotated[int, Meta(ge=0, le=255)],
        Meta(description="0 is success, any other value is a failure."),
    ]
    why: Annotated[
        Annotated[str, Meta(max_length=1000)] | None,
        Meta(description="Error message. Default: the exit code."),
    ] = None


class ExternalRunState(Struct, kw_only=True, frozen=True):
    """`cancel`: a user requested cancellation; stop the process."""

    run_id: str
    cancel: bool
    status: str
