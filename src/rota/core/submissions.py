"""Defines submitted jobs and runs, and checks their values.

The checks are pure; each error has the path of the field, the value and what is allowed. Every
input is bounded in size, depth and characters. flow/submit writes the jobs; contract reads their
schedules.
"""

import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from rota.core import policy as policies
from rota.core.errors import InvalidInput
from rota.core.lanes import DEFAULT_PRIORITY
from rota.core.limits import JobLimit
from rota.core.overlap import Overlap, WhenQueuePaused
from rota.core.policy import Policy
from rota.core.uniqueness import UniqueRule

NAME_CHARACTERS_MAX: Final = 200
# Format characters that are visible: they precede Arabic and Syriac numbers.
VISIBLE_FORMATS: Final = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u08e2")
JOINERS: Final = frozenset("\u200c\u200d")
DESCRIPTION_CHARACTERS_MAX: Final = 1_000
LABELS_MAX: Final = 32
LABEL_CHARACTERS_MAX: Final = 64
LIMITS_MAX: Final = 8
# The key of a gate has 200 characters, including a prefix.
LIMIT_KEY_CHARACTERS_MAX: Final = 180
PAYLOAD_BYTES_MAX: Final = 256 * 1024
PAYLOAD_DEPTH_MAX: Final = 32
OBJECT_KEYS_MAX: Final = 1_000
PAYLOAD_VALUES_MAX: Final = 50_000
INTEGER_DIGITS_MAX: Final = 64
# Created once: json.dumps creates an encoder for every call with non-default options.
_encode: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
_canonical: Final = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False
).encode
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
# Payloads with few small fields need no check of depth and size.
_FLAT_FIELDS_MAX: Final = 32
_FLAT_INTEGER_MAX: Final = 2**63
_PATH: Final = re.compile(r"args(?:\.[A-Za-z0-9_-]{1,100}){1,16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSpec:
    """A requested job or one-time submission. `schedule` is a plain object; None means on demand. A
    job without a name gets one that begins with its kind; a submission needs no name.
    """

    name: str | None
    kind: str
    tenant: str = "default"
    queue: str = "default"
    schedule: Mapping[str, object] | None = None
    payload: object = None
    policy: Policy = policies.DEFAULT_POLICY
    priority: int = DEFAULT_PRIORITY
    overlap: Overlap = Overlap.SKIP
    keep_first: bool = False
    when_queue_paused: WhenQueuePaused = WhenQueuePaused.SKIP
    limits: tuple[JobLimit, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    user_id: str | None = None
    unique: UniqueRule | None = None
    # The definition of a job whose kind is graph (core/graphs).
    graph: object = None
    description: str | None = None
    # What must hold for its runs and how violations are reported, in the stored form of
    # contract/expectation_values.py.
    expect: Mapping[str, object] | None = None
    alert: Mapping[str, object] | None = None

    @property
    def display_name(self) -> str:
        """The name to show: its name, or its kind if it has none."""
        return self.name or self.kind


class SpecVariant(NamedTuple):
    """A submission that equals `spec` except for these fields. Neighbours in a bulk request that
    differ in nothing else share one `spec`, which is checked once. `at` replaces the time in the
    schedule of `spec`; None keeps the schedule.
    """

    spec: JobSpec
    name: str | None
    payload: object
    labels: Mapping[str, str]
    user_id: str | None
    at: object = None

    @property
    def display_name(self) -> str:
        return self.name or self.spec.kind

    def to_spec(self) -> JobSpec:
        """Return the complete spec of this submission."""
        schedule = self.spec.schedule if self.at is None else {"at": self.at}
        return replace(
            self.spec,
            name=self.name,
            payload=self.payload,
            labels=self.labels,
            user_id=self.user_id,
            schedule=schedule,
        )


class SpecColumns(NamedTuple):
    """Submissions that equal `spec` except for these columns, which have one value per submission.
    `ats` is None if all submissions have the schedule of `spec`.
    """

    spec: JobSpec
    names: Sequence[str | None]
    payloads: Sequence[object]
    labels: Sequence[Mapping[str, str] | None]
    user_ids: Sequence[str | None]
    ats: Sequence[object] | None = None

    def build_first_spec(self) -> JobSpec:
        """Return the complete spec of the first submission."""
        at = None if self.ats is None else self.ats[0]
        own = self.names[0], self.payloads[0], self.labels[0] or {}, self.user_ids[0], at
        return SpecVariant(self.spec, *own).to_spec()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """A requested run of an existing job. Defaults: a new id, the payload and the priority of the
    job, due now.
    """

    job_id: UUID
    id: UUID | None = None
    payload: object = None
    due_at: datetime | None = None
    priority: int | None = None
    unique: UniqueRule | None = None


@contextmanager
def prefix_errors(path: str) -> Iterator[None]:
    """Prefix the field of an `InvalidInput` with a path."""
    try:
        yield
    except InvalidInput as error:
        error.field = f"{path}.{error.field}"
        raise


@contextmanager
def index_errors(done: Sized) -> Iterator[None]:
    """Prefix the field of an `InvalidInput` with the index of the job after those in `done`."""
    try:
        yield
    except InvalidInput as error:
        error.field = f"jobs[{len(done)}].{error.field}"
        raise


def check_name(value: object, name: str, *, max_length: int = NAME_CHARACTERS_MAX) -> str:
    """Return a name in Unicode normal form C; reject control characters."""
    wanted = f"expected text of 1 to {max_length} characters"
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(name, value, wanted)
    if value.isascii() and value.isprintable() and len(value) <= max_length:
        return value  # the common case
    text = unicodedata.normalize("NFC", value)
    if len(text) > max_length:
        raise InvalidInput(name, value, wanted)
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text):
        raise InvalidInput(name, value, f"{wanted} without control characters")
    return text


def check_visible_name(value: object, name: str, *, max_length: int = NAME_CHARACTERS_MAX) -> str:
    """Return a name that is distinguishable by sight; reject characters that reverse or hide text.

    The two joiners that some scripts and emoji need are allowed between non-ASCII characters.
    """
    text = check_name(value, name, max_length=max_length)
    if text.isascii():
        return text
    for place, char in enumerate(text):
        if unicodedata.category(char) != "Cf" or char in VISIBLE_FORMATS:
            continue
        around = text[max(0, place - 1) : place] + text[place + 1 : place + 2]
        if char not in JOINERS or len(around) < 2 or not all(near > "\x7f" for near in around):
            wanted = (
                f"expected text of 1 to {max_length} characters without invisible ones; remove "
                f"U+{ord(char):04X} ({unicodedata.name(char, 'unnamed')}) at character {place + 1}"
            )
            raise InvalidInput(name, value, wanted)
    return text


def check_visible_names(values: Sequence[str | None], name: str) -> Sequence[str | None]:
    """Check a column of names, some of which may be missing, with `check_visible_name`.

    benefit: 1 of 12 us for a submission of a bulk, measured 2026-11
    """
    given = [value for value in values if value is not None]
    joined = "".join(given)
    if joined.isascii() and joined.isprintable():
        longest = max(map(len, given), default=0)
        if longest <= NAME_CHARACTERS_MAX and all(map(str.strip, given)):
            return values
    return [None if value is None else check_visible_name(value, name) for value in values]


def check_text(value: str | None, name: str) -> str | None:
    """Return a text of several lines; reject control characters, which PostgreSQL cannot store."""
    for char in value or "":
        if char not in "\n\t" and unicodedata.category(char) in {"Cc", "Cs"}:
            wanted = f"must not contain control characters; remove U+{ord(char):04X}"
            raise InvalidInput(name, value, wanted)
    return value


def check_labels(labels: Mapping[str, str]) -> str:
    """Check the labels, and return them as JSON."""
    if len(labels) > LABELS_MAX:
        wanted = f"at most {LABELS_MAX} labels are allowed"
        raise InvalidInput("labels", f"{len(labels)} labels", wanted)
    if not labels:
        return "{}"
    checked = {
        check_visible_name(key, "labels", max_length=LABEL_CHARACTERS_MAX): check_visible_name(
            value, f"labels.{key}", max_length=LABEL_CHARACTERS_MAX
        )
        for key, value in labels.items()
    }
    return encode_canonical(checked)


def check_limits(limits: tuple[JobLimit, ...]) -> tuple[JobLimit, ...]:
    if len(limits) > LIMITS_MAX:
        wanted = f"at most {LIMITS_MAX} limits are allowed"
        raise InvalidInput("limits", f"{len(limits)} limits", wanted)
    for place, limit in enumerate(limits):
        check_name(limit.key, f"limits[{place}].key", max_length=LIMIT_KEY_CHARACTERS_MAX)
    return limits


def encode_canonical(value: object) -> str:
    """Return canonical JSON: equal values have equal texts."""
    return _canonical(value)


def encode_json(value: object, name: str, *, max_bytes: int = PAYLOAD_BYTES_MAX) -> str | None:
    """Return a payload as JSON; None stays None. Rejects values that JSON or PostgreSQL cannot
    store, and values that are too large or too deep.
    """
    if value is None:
        return None
    if not is_flat(value):
        _check_nodes(value, name)
    text = _encode(value)
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(name, text, "must not contain lone surrogates") from None
    if size > max_bytes:
        wanted = f"must be at most {max_bytes // 1024} KB"
        raise InvalidInput(name, f"{size} bytes of JSON", wanted)
    return text


def is_flat(value: object) -> bool:
    """Return whether a value is an object of a few small scalars, which needs no further checks."""
    if type(value) is not dict or len(value) > _FLAT_FIELDS_MAX:
        return False
    for key, inner in value.items():
        if type(key) is not str or "\x00" in key:
            return False
        if type(inner) is str:
            if "\x00" in inner:
                return False
        elif type(inner) is int:
            if not -_FLAT_INTEGER_MAX < inner < _FLAT_INTEGER_MAX:
                return False
        elif inner is not None and type(inner) is not bool:
            return False
    return True


def _check_nodes(value: object, name: str) -> None:
    nodes, layer = 0, [value]
    for _ in range(PAYLOAD_DEPTH_MAX + 1):
        if not layer:
            return
        nodes += len(layer)
        if nodes > PAYLOAD_VALUES_MAX:
            wanted = f"at most {PAYLOAD_VALUES_MAX:,} values are allowed in total"
            raise InvalidInput(name, "large value", wanted)
        layer = [inner for outer in layer for inner in _check_node(outer, name)]
    raise InvalidInput(name, "deep value", f"at most {PAYLOAD_DEPTH_MAX} levels are allowed")


def _check_node(value: object, name: str) -> Iterator[object]:
    """Check one value, and yield the values inside it."""
    if isinstance(value, dict):
        if len(value) > OBJECT_KEYS_MAX:
            wanted = f"at most {OBJECT_KEYS_MAX:,} keys are allowed in an object"
            raise InvalidInput(name, f"{len(value)} keys", wanted)
        if not all(isinstance(key, str) for key in value):
            raise InvalidInput(name, value, "the keys of an object must be text")
        yield from value
        yield from value.values()
    elif isinstance(value, list | tuple):
        yield from value
    else:
        _check_scalar(value, name)


def _check_scalar(value: object, name: str) -> None:
    wanted = None
    match value:
        case None | bool():
            return
        case str():
            wanted = "must not contain NUL characters" if "\x00" in value else None
        case int():
            if abs(value) >= 10**INTEGER_DIGITS_MAX:
                wanted = f"must have at most {INTEGER_DIGITS_MAX} digits"
        case float():
            wanted = None if math.isfinite(value) else "must be a finite number"
        case _:
            wanted = "expected null, true, false, a number, text, a list or an object"
    if wanted is not None:
        # Python raises an error when it formats a very long number.
        shown = "long number" if isinstance(value, int) else value
        raise InvalidInput(name, shown, wanted)


def fill_key(template: str, payload: object, name: str) -> str:
    """Fill the placeholders of a key: `customer:{args.id}` becomes `customer:42`."""
    rest = _PLACEHOLDER.sub("", template)
    if "{" in rest or "}" in rest:
        wanted = "expected placeholders such as {args.id}, each closed by }"
        raise InvalidInput(name, template, wanted)
    key = _PLACEHOLDER.sub(lambda place: _find_value(place[1], payload, name, template), template)
    return check_name(key, name, max_length=LIMIT_KEY_CHARACTERS_MAX)


def _find_value(path: str, payload: object, name: str, template: str) -> str:
    if not _PATH.fullmatch(path):
        wanted = "placeholders must begin with args, such as {args.id}"
        raise InvalidInput(name, template, wanted)
    value = payload
    for part in path.split(".")[1:]:
        value = value.get(part) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    wanted = f"the payload must have text or a whole number at {path}"
    raise InvalidInput(name, template, wanted)
