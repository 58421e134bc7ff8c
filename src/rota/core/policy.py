"""How the runs of a job are carried out: retries, time limits, guarantee. Room: core.

A policy is interned: jobs that say the same share one row, and a run keeps the policy it was made
with. `to_plain` writes every default out, so that a version of Rota with other defaults changes
nothing about stored jobs; `from_plain` reads what people write, and `read_stored` what was stored,
by this version or a newer one (core/documents.py).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final, TypeVar

from rota.core.documents import Unread, newer
from rota.core.errors import InvalidInput, NewerDocument
from rota.core.outcome import Guarantee
from rota.core.retry import LONGEST_DELAY, Growth, Jitter, Retries
from rota.core.time import durations

LONGEST_TIMEOUT: Final = timedelta(hours=24)
LONGEST_GRACE: Final = timedelta(minutes=10)
NO_LIMIT: Final = "none"
SECOND: Final = timedelta(seconds=1)
# Hosts with a port fit, and so do names of one's own; it is shown in sentences and in logs.
TARGET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,252}", re.ASCII)
TARGET_WANTED: Final = (
    "a name of what it depends on, such as payments or example.org:443: "
    "1 to 253 letters, digits and . _ : / -"
)

E = TypeVar("E", Guarantee, Growth, Jitter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """`timeout` is per attempt, `deadline` for the whole run from its due time on, `grace` the time
    between asking an attempt to stop and ending it by force. `target` is what its attempts depend
    on, if that is not what their executor tells (core/breaker.py). `unread` has the stored fields
    that only newer code knows.
    """

    retries: Retries = field(default_factory=Retries)
    timeout: timedelta | None = timedelta(minutes=15)
    deadline: timedelta | None = None
    grace: timedelta = timedelta(seconds=10)
    guarantee: Guarantee = Guarantee.AT_LEAST_ONCE
    target: str | None = None
    unread: Mapping[str, object] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewerPolicy(Policy):
    """Stands for a stored policy that only newer code knows. Nothing is carried out under it."""

    reason: str


USUAL: Final = Policy()
KNOWN: Final = ("retries", "timeout", "deadline", "grace", "guarantee", "target")
KNOWN_RETRIES: Final = ("max", "kind", "base", "cap", "delays", "jitter")


def to_plain(policy: Policy) -> dict[str, object]:
    """The canonical form, of types that JSON has."""
    retries = policy.retries
    plain: dict[str, object] = {
        "retries": {
            "max": retries.most,
            "kind": retries.growth.value,
            "base": durations.iso(retries.first),
            "cap": durations.iso(retries.cap),
            "delays": [durations.iso(delay) for delay in retries.delays],
            "jitter": retries.jitter.value,
        },
        "timeout": NO_LIMIT if policy.timeout is None else durations.iso(policy.timeout),
        "deadline": NO_LIMIT if policy.deadline is None else durations.iso(policy.deadline),
        "grace": durations.iso(policy.grace),
        "guarantee": policy.guarantee.value,
    }
    if policy.target is not None:
        # Only then: what jobs said before there were targets has to stay the same text.
        plain["target"] = policy.target
    return plain | dict(policy.unread)


def from_plain(value: Mapping[str, object]) -> Policy:
    """Read a policy; what is not said has its default, what is not known is refused."""
    return _read(value, None)


def read_stored(value: Mapping[str, object]) -> Policy:
    """Read a policy from the database. Unknown fields are ignored and kept, and so are unknown
    ways to wait before a retry, in place of which the usual one holds. `NewerDocument` if anything
    else is not known: nobody can guess a guarantee.
    """
    unread = Unread()
    try:
        policy = _read(value, unread)
    except InvalidInput as error:
        raise newer(error) from error
    return replace(policy, unread=unread.within(value)) if unread.fields else policy


def known_policy(value: Mapping[str, object]) -> Policy:
    """As `read_stored`; but one policy that is not known is in nobody's way."""
    try:
        return read_stored(value)
    except NewerDocument as error:
        return NewerPolicy(reason=str(error))


def _read(value: Mapping[str, object], unread: Unread | None) -> Policy:
    _refuse_unknown(value, KNOWN, "", unread)
    return Policy(
        retries=_retries(value.get("retries"), unread),
        timeout=_limit(value, "timeout", default=USUAL.timeout),
        deadline=_limit(value, "deadline", default=None),
        grace=_span(value, "grace", default=USUAL.grace, longest=LONGEST_GRACE),
        guarantee=_chosen(value, "guarantee", Guarantee, USUAL.guarantee),
        target=_target(value.get("target")),
    )


def _retries(value: object, unread: Unread | None) -> Retries:
    if value is None:
        return USUAL.retries
    if isinstance(value, int) and not isinstance(value, bool):
        return Retries(most=value)
    if not isinstance(value, Mapping):
        raise InvalidInput("retries", value, "a number, or an object such as {max: 3}")
    _refuse_unknown(value, KNOWN_RETRIES, "retries", unread)
    usual = USUAL.retries
    most = value.get("max", usual.most)
    if not isinstance(most, int) or isinstance(most, bool):
        raise InvalidInput("retries.max", most, "a whole number")
    delays = value.get("delays") or ()
    if not isinstance(delays, list | tuple):
        raise InvalidInput("retries.delays", delays, "a list of durations")
    growth = _wait(value, "kind", Growth.LIST if delays else usual.growth, unread)
    return Retries(
        most=most,
        growth=growth,
        first=_span(value, "base", default=usual.first, longest=LONGEST_DELAY, path="retries"),
        cap=_span(value, "cap", default=usual.cap, longest=LONGEST_DELAY, path="retries"),
        delays=tuple(durations.parse(each, field="retries.delays") for each in delays),
        jitter=_wait(value, "jitter", usual.jitter, unread),
    )


def _wait(value: Mapping[str, object], key: str, default: E, unread: Unread | None) -> E:
    """How retries are spaced. It is safe to space them as usual where a stored way is unknown."""
    try:
        return _chosen(value, key, type(default), default, "retries")
    except InvalidInput:
        if unread is None:
            raise
        unread.note("retries")
        return default


def _limit(value: Mapping[str, object], key: str, *, default: timedelta | None) -> timedelta | None:
    """A limit, or the word `none`: nobody gets an endless run by leaving a field out."""
    given = value.get(key)
    if given is None:
        return default
    if given == NO_LIMIT:
        return None
    longest = LONGEST_TIMEOUT if key == "timeout" else durations.LONGEST
    return durations.parse(given, field=key, shortest=SECOND / 10, longest=longest)


def _target(given: object) -> str | None:
    if given is None or given == NO_LIMIT:
        return None
    if not isinstance(given, str) or TARGET.fullmatch(given) is None:
        raise InvalidInput("target", given, TARGET_WANTED)
    return given


def _span(
    value: Mapping[str, object],
    key: str,
    *,
    default: timedelta,
    longest: timedelta,
    path: str = "",
) -> timedelta:
    given = value.get(key)
    if given is None:
        return default
    return durations.parse(given, field=f"{path}.{key}" if path else key, longest=longest)


def _chosen(
    value: Mapping[str, object], key: str, choices: type[E], default: E, path: str = ""
) -> E:
    given = value.get(key)
    if given is None:
        return default
    for choice in choices:
        if given == choice.value:
            return choice
    names = ", ".join(repr(choice.value) for choice in choices)
    raise InvalidInput(f"{path}.{key}" if path else key, given, f"one of {names}")


def _refuse_unknown(
    value: Mapping[str, object], known: tuple[str, ...], path: str, unread: Unread | None
) -> None:
    for key in value:
        if key not in known and unread is not None:
            unread.note(path or str(key))
        elif key not in known:
            name = f"{path or 'policy'}.{key}"
            raise InvalidInput(name, value[key], f"one of {', '.join(known)}")
