"""Defines the messages between a worker and its child process.

A frame is four bytes of length and one message in msgpack. Unlike pickle, decoding it runs no code.
Values that are JSON by contract (payload, result, checkpoint) are JSON inside the frame, so that a
child sees the same numbers and strings as the engine.

    worker                 child
    Call          ──▶
                  ◀──      Written, Progressed            any number of times
                  ◀──      Checkpoint | Resume | HandOut | Members
    Reply         ──▶
                  ◀──      Returned | Raised              and then the next Call
"""

import struct
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

import msgspec

from rota.core.errors import InvalidInput
from rota.core.executor import Stream
from rota.core.tracebacks import TracedError
from rota.executors.python.contexts import AttemptFacts

FRAME_MAX_BYTES: Final = 16 * 2**20
FRAME_HEAD: Final = struct.Struct("!I")


class RaisedMeaning(StrEnum):
    """What an exception means for the run."""

    ERROR = "error"
    FAIL = "fail"
    RETRY = "retry"
    SNOOZE = "snooze"
    INVALID = "invalid"
    STOPPED = "stopped"


class ChildFrame(
    msgspec.Struct, frozen=True, kw_only=True, array_like=True, tag=True, tag_field="frame"
):
    """The base class of all messages."""


class CallFrame(ChildFrame, frozen=True, kw_only=True):
    kind: str
    facts: AttemptFacts
    payload: bytes


class ReplyFrame(ChildFrame, frozen=True, kw_only=True):
    """The answer to a question, or the `error` that prevented it."""

    value: bytes = b"null"
    error: str = ""
    is_lost: bool = False


class OutputFrame(ChildFrame, frozen=True, kw_only=True):
    stream: Stream
    chunk: bytes


class ProgressFrame(ChildFrame, frozen=True, kw_only=True):
    fraction: float
    message: str


class CheckpointFrame(ChildFrame, frozen=True, kw_only=True):
    value: bytes


class ResumeFrame(ChildFrame, frozen=True, kw_only=True):
    pass


class HandOutFrame(ChildFrame, frozen=True, kw_only=True):
    items: bytes


class MembersFrame(ChildFrame, frozen=True, kw_only=True):
    step: str
    after: int


class ReturnedFrame(ChildFrame, frozen=True, kw_only=True):
    """The handler's result. `resident` is the memory that the child holds now, in bytes."""

    value: bytes
    resident: int


class RaisedFrame(ChildFrame, frozen=True, kw_only=True):
    """The handler's exception. `is_leaving` means that the child accepts no more calls."""

    type: str
    message: str
    traceback: tuple[TracedError, ...]
    own_frame: str | None
    meaning: RaisedMeaning
    delay: timedelta | None
    resident: int
    is_leaving: bool


FromWorker = CallFrame | ReplyFrame
Question = CheckpointFrame | ResumeFrame | HandOutFrame | MembersFrame
FromChild = OutputFrame | ProgressFrame | Question | ReturnedFrame | RaisedFrame

ENCODER: Final = msgspec.msgpack.Encoder()
TO_WORKER: Final[msgspec.msgpack.Decoder[FromChild]] = msgspec.msgpack.Decoder(FromChild)
TO_CHILD: Final[msgspec.msgpack.Decoder[FromWorker]] = msgspec.msgpack.Decoder(FromWorker)


def pack_frame(frame: ChildFrame) -> bytes:
    body = ENCODER.encode(frame)
    if len(body) > FRAME_MAX_BYTES:
        raise InvalidInput(
            "value", f"{len(body)} bytes", f"must be at most {FRAME_MAX_BYTES} bytes"
        )
    return FRAME_HEAD.pack(len(body)) + body


def unpack_length(head: bytes) -> int:
    """Decode the length of a frame; raise DecodeError if it exceeds the limit."""
    (count,) = FRAME_HEAD.unpack(head)
    if count > FRAME_MAX_BYTES:
        raise msgspec.DecodeError(f"frame of {count} bytes; the limit is {FRAME_MAX_BYTES}")
    return int(count)


def to_json(value: Any) -> bytes:
    return msgspec.json.encode(value)


def from_json(value: bytes) -> Any:
    return msgspec.json.decode(value)
