"""Defines every error that Rota raises on purpose, and renders its message.

An error is a small value with typed fields; `__str__` renders the message from them. Errors carry
no HTTP status and no exit code: api and cli translate them, each in one place.

    RotaError
    ├── InvalidInput            an input value is wrong; names the field and what is allowed
    │   ├── UnusableInput       … a missing file, or a module that cannot be imported
    │   ├── InvalidSchedule     … in a schedule: cron, RRULE, interval, zone, calendar
    │   │   └── SearchTooLong   … finding its times takes more steps than a search may take
    │   ├── InvalidExpression   … in an expression; has the position of the character
    │   ├── NameTaken           … a name that is already in use
    │   ├── InvalidSetting      … in the settings; the field is the path of the setting
    │   ├── InvalidSignature    … in the headers of a signed webhook
    │   ├── KeyReused           … an idempotency key that an earlier, different request used
    │   ├── ResourceUnavailable … the name of a worker's resource that the tenant cannot use
    │   └── NewerDocument       … in a stored document: a value that only a newer version knows
    ├── IllegalMove             the state of a job, run or backfill does not allow the action
    ├── LeaseLost               another process holds this attempt, shard or session now
    ├── NotFound                the job, run, queue … does not exist
    ├── Unauthenticated         the API key is missing, malformed, unknown, expired or revoked
    ├── NotAllowed              the caller's role does not permit the action
    ├── TooMany                 a rate limit was exceeded
    ├── ComputationTooLong      a request needs more processor time than its limit
    ├── Overloaded              too many computations are queued in this process
    ├── QuotaExceeded           the request exceeds a quota of the tenant
    ├── Conflict                the resource is in use, or was changed concurrently
    ├── VersionChanged          the resource was edited after the caller read it
    ├── ExpressionFailed        an expression cannot be evaluated with these values
    ├── SecretsUnavailable      a secret cannot be encrypted or decrypted
    ├── StoreUnavailable        the database cannot be reached; retrying may help
    │   └── MigrationBlocked    a migration did not get its table locks in any of its tries
    ├── StoreRefused            the database is unsuitable; retrying does not help
    │   └── SchemaMismatch      its schema does not match this version of Rota
    ├── StoreFailed             the database rejected a statement for an unexpected reason
    └── EmbeddedFailed          the embedded PostgreSQL could not be started or kept running
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

VALUE_CHARACTERS_SHOWN: Final = 80
# A `wanted` that begins like this is a whole message: the value would add nothing to it.
_WITHOUT_VALUE: Final = ("required", "unknown field")
# Events that are verbs; the others are written as "be retried", "expire".
_PASSIVE: Final = {
    "cancel": "be cancelled",
    "delete": "be deleted",
    "finish": "be finished",
    "pause": "be paused",
    "quarantine": "be quarantined",
    "resume": "be resumed",
}


def shorten_value(value: object, *, limit: int = VALUE_CHARACTERS_SHOWN) -> str:
    """Return a value as a literal of at most `limit` characters, for an error message."""
    text = repr(value)
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}… ({len(text)} characters)"


class RotaError(Exception):
    """The base class of all errors; never raised itself."""


@dataclass(eq=False)
class InvalidInput(RotaError):
    """`wanted` says what is allowed: "expected …", "must be …", "required", "unknown field; …"."""

    field: str
    value: object
    wanted: str

    def __str__(self) -> str:
        if self.wanted.startswith(_WITHOUT_VALUE):
            return f"{self.field}: {self.wanted}"
        return f"{self.field}: {shorten_value(self.value)} is invalid: {self.wanted}"


@dataclass(eq=False)
class UnusableInput(InvalidInput):
    """A missing file, or a module that cannot be imported: `wanted` is the whole sentence."""

    def __str__(self) -> str:
        return self.wanted


@dataclass(eq=False)
class InvalidSchedule(InvalidInput):
    """A schedule that cannot be evaluated, or that never fires."""


@dataclass(eq=False)
class SearchTooLong(InvalidSchedule):
    """A schedule for which finding a time takes more steps than one search may take."""

    field: str = "schedule"
    value: object = "next time"
    wanted: str = ""
    limit: int = 0

    def __post_init__(self) -> None:
        self.wanted = self.wanted or (
            f"finding a time takes more than {self.limit:,} steps; use fewer rules, fewer or "
            "longer blackout windows, or times outside the blackouts"
        )


@dataclass(eq=False)
class InvalidExpression(InvalidInput):
    """An expression that cannot be parsed; `position` counts characters from 0."""

    position: int


@dataclass(eq=False)
class NameTaken(InvalidInput):
    """A name that another resource of the same type already has."""


@dataclass(eq=False)
class InvalidSetting(InvalidInput):
    """A setting with an unknown name, a wrong type or a value out of range."""


@dataclass(eq=False)
class InvalidSignature(InvalidInput):
    """A webhook without a signature, with a wrong one, or with one that is too old."""


@dataclass(eq=False)
class KeyReused(InvalidInput):
    """An idempotency key that an earlier, different request used."""


@dataclass(eq=False)
class ResourceUnavailable(InvalidInput):
    """A connection, channel or other resource of a worker that the tenant cannot use."""

    tenant: str

    def __str__(self) -> str:
        value = shorten_value(self.value)
        return f"{self.field}: {value} is not available to tenant {self.tenant!r}; {self.wanted}"


@dataclass(eq=False)
class NewerDocument(InvalidInput):
    """A value in a stored document that this version of Rota does not know."""

    def __str__(self) -> str:
        return (
            f"{self.field}: {shorten_value(self.value)} is not known to this version of Rota "
            f"({self.wanted}); it waits for a process of a newer version"
        )


@dataclass(eq=False)
class IllegalMove(RotaError):
    """The state of `thing` does not allow `event`; `allowed` are the states that do."""

    thing: str
    state: str
    event: str
    allowed: Collection[str] = ()

    def __str__(self) -> str:
        action = _PASSIVE.get(self.event, self.event)
        if not self.allowed:
            return f"{self.thing} is {self.state}; it cannot {action}"
        *others, last = self.allowed
        states = f"{', '.join(others)} or {last}" if others else last
        return f"{self.thing} is {self.state}; only {states} {self.thing}s can {action}"


@dataclass(eq=False)
class LeaseLost(RotaError):
    thing: str
    id: object

    def __str__(self) -> str:
        return f"lost the lease of {self.thing} {self.id}: another process holds it now"


@dataclass(eq=False)
class NotFound(RotaError):
    thing: str
    id: object

    def __str__(self) -> str:
        return f"{self.thing} {shorten_value(str(self.id))} not found"


@dataclass(eq=False)
class Unauthenticated(RotaError):
    reason: str

    def __str__(self) -> str:
        return f"authentication failed: {self.reason}"


@dataclass(eq=False)
class NotAllowed(RotaError):
    """`needed` is the lowest role that has the permission."""

    permission: str
    role: str
    needed: str

    def __str__(self) -> str:
        return f"role {self.role} cannot {self.permission}; role {self.needed} is required"


@dataclass(eq=False)
class RateLimitExceeded(RotaError):
    """`retry_after` is in seconds."""

    subject: str
    retry_after: float

    def __str__(self) -> str:
        return f"too many {self.subject}; retry in {self.retry_after:.3g} s"


@dataclass(eq=False)
class ComputationTooLong(RotaError):
    """A request that needs more processor time than a request may use."""

    limit_s: float

    def __str__(self) -> str:
        return (
            f"the request needs more than {self.limit_s:g} s of processor time; request fewer "
            "jobs at once, or use schedules and calendars with fewer rules and windows"
        )


@dataclass(eq=False)
class Overloaded(RotaError):
    """`retry_after` is in seconds."""

    retry_after: float

    def __str__(self) -> str:
        return f"too many computations are queued; retry in {self.retry_after:.3g} s"


@dataclass(eq=False)
class QuotaExceeded(RotaError):
    """`retry_after` is in seconds, and None where waiting alone does not help."""

    quota: str
    limit: object
    detail: str
    retry_after: float | None = None

    def __str__(self) -> str:
        return f"tenant quota {self.quota} exceeded (limit {self.limit}): {self.detail}"


@dataclass(eq=False)
class Conflict(RotaError):
    """`retry_after` is in seconds, and None where waiting alone does not help."""

    thing: str
    reason: str
    retry_after: float | None = None

    def __str__(self) -> str:
        return f"{self.thing}: {self.reason}"


@dataclass(eq=False)
class VersionChanged(RotaError):
    thing: str
    wanted: int
    found: int

    def __str__(self) -> str:
        return (
            f"{self.thing} is at version {self.found}, not {self.wanted}; "
            "read it again and repeat the change"
        )


@dataclass(eq=False)
class ExpressionFailed(RotaError):
    text: str
    position: int
    reason: str

    def __str__(self) -> str:
        where = f"at character {self.position + 1}"
        return f"expression {shorten_value(self.text)} failed {where}: {self.reason}"


@dataclass(eq=False)
class SecretsUnavailable(RotaError):
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"secrets are unavailable: {self.reason}; {self.remedy}"


@dataclass(eq=False)
class StoreUnavailable(RotaError):
    """`is_down` is true when the server answered that it is unusable: it refused the connection,
    is starting or stopping, or is not a primary. It is false when the server did not answer.
    """

    reason: str
    is_down: bool = False

    def __str__(self) -> str:
        return f"database unavailable: {self.reason}"


@dataclass(eq=False, kw_only=True)
class MigrationBlocked(StoreUnavailable):
    """Other sessions held locks that a migration needs; `reason` names the sessions."""

    migration: str
    tries: int

    def __str__(self) -> str:
        return (
            f"migration {self.migration} not applied after {self.tries} tries: {self.reason}; "
            "end the transactions that hold the locks, then run `rota migrate` again"
        )


@dataclass(eq=False)
class StoreRefused(RotaError):
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"cannot use this database: {self.reason}; {self.remedy}"


@dataclass(eq=False)
class SchemaMismatch(StoreRefused):
    """The database's schema does not match this version of Rota."""


@dataclass(eq=False)
class StoreFailed(RotaError):
    sqlstate: str
    message: str

    def __str__(self) -> str:
        return f"database rejected a statement ({self.sqlstate}): {self.message}"


@dataclass(eq=False)
class EmbeddedFailed(RotaError):
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"cannot run the embedded PostgreSQL: {self.reason}; {self.remedy}"
