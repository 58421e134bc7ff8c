"""Every deliberate error, drawn as a tree. Room: core.

An error is a small value with typed fields; its sentence is made here, once, from the fields. No
status codes and no exit codes: api and cli translate, each in one place.

    RotaError
    ├── InvalidInput            what somebody handed us is wrong; says the field and what is right
    │   ├── InvalidSchedule     … in a schedule: cron, RRULE, interval, zone, calendar
    │   │   └── SearchTooLong   … whose times take more steps to find than a search may take
    │   ├── InvalidExpression   … in an expression; says at which character
    │   ├── NameTaken           … a name that another has already
    │   ├── InvalidSetting      … in the settings; the field is the path of the setting
    │   ├── InvalidSignature    … in the headers of a signed webhook
    │   ├── KeyReused           … in an idempotency key, which came with another request before
    │   ├── ResourceUnavailable … in the name of a worker's resource, which the tenant cannot use
    │   └── NewerDocument       … in a stored document: a value that only newer code knows
    ├── IllegalMove             the state of a job or run forbids this
    ├── LeaseLost               somebody else owns this attempt, shard or session now
    ├── NotFound                no such job, run, queue …
    ├── Unauthenticated         nobody knows who asks: no key, a wrong one, an expired one
    ├── NotAllowed              it is known who asks, and the role does not permit it
    ├── TooMany                 more than a rate lets through
    ├── ComputationTooLong      a request takes more processor time to answer than it may
    ├── Overloaded              more computations wait than a process takes on
    ├── QuotaExceeded           more than a tenant may have
    ├── Conflict                something else has what was asked for, or changed meanwhile
    ├── VersionChanged          it was edited since the version that the caller has seen
    ├── ExpressionFailed        an expression cannot be evaluated with these values
    ├── SealingFailed           a secret cannot be sealed or opened
    ├── StoreUnavailable        the database is away; waiting and trying again is right
    │   └── MigrationBlocked    a migration found its tables locked, every time it tried
    ├── StoreRefused            the database cannot be used as it is; waiting will not help
    │   └── SchemaMismatch      its schema is not the one this code knows
    ├── StoreFailed             the database refused a statement for a reason nobody foresaw
    └── EmbeddedFailed          the embedded PostgreSQL could not be started or kept
"""

from dataclasses import dataclass

SHOWN = 80


def cut(value: object, *, limit: int = SHOWN) -> str:
    """Show a value in an error: as a literal, and never longer than a line."""
    text = repr(value)
    if len(text) <= limit:
        return text
    return f"{text[: limit - 1]}… ({len(text)} characters)"


class RotaError(Exception):
    """The root of the tree; never raised itself."""


@dataclass(eq=False)
class InvalidInput(RotaError):
    field: str
    value: object
    wanted: str

    def __str__(self) -> str:
        return f"{self.field}: {cut(self.value)} is not accepted; {self.wanted}"


@dataclass(eq=False)
class UnusableInput(InvalidInput):
    """A missing file, or a module that cannot be imported: `wanted` is the whole sentence."""

    def __str__(self) -> str:
        return self.wanted


@dataclass(eq=False)
class InvalidSchedule(InvalidInput):
    """A schedule that cannot be evaluated, or that would never fire."""


@dataclass(eq=False)
class SearchTooLong(InvalidSchedule):
    """A schedule whose times take more steps to find than one search may take."""

    field: str = "schedule"
    value: object = "its next time"
    wanted: str = ""
    limit: int = 0

    def __post_init__(self) -> None:
        self.wanted = self.wanted or (
            f"its search may take {self.limit:,} steps and takes more: use fewer rules, fewer or "
            "longer blackout windows, or times that lie outside them"
        )


@dataclass(eq=False)
class InvalidExpression(InvalidInput):
    """An expression that cannot be read; `position` counts characters from 0."""

    position: int


@dataclass(eq=False)
class NameTaken(InvalidInput):
    """A name that another thing of the same sort has already."""


@dataclass(eq=False)
class InvalidSetting(InvalidInput):
    """A setting with an unknown name, a wrong type or a value out of range."""


@dataclass(eq=False)
class InvalidSignature(InvalidInput):
    """A webhook that is not signed, not with this secret, or too long ago."""


@dataclass(eq=False)
class KeyReused(InvalidInput):
    """An idempotency key that came with another request before."""


@dataclass(eq=False)
class ResourceUnavailable(InvalidInput):
    """A connection, a channel or another resource of a worker that a tenant cannot use."""

    tenant: str

    def __str__(self) -> str:
        value = cut(self.value)
        return f"{self.field}: {value} is not available to tenant {self.tenant!r}; {self.wanted}"


@dataclass(eq=False)
class NewerDocument(InvalidInput):
    """A stored document has a value that this version of Rota does not know."""

    def __str__(self) -> str:
        return (
            f"{self.field}: {cut(self.value)} is not known to this version of Rota "
            f"({self.wanted}); it waits for a process of a version that knows it"
        )


@dataclass(eq=False)
class IllegalMove(RotaError):
    thing: str
    state: str
    event: str

    def __str__(self) -> str:
        return f"a {self.thing} that is {self.state} cannot {self.event}"


@dataclass(eq=False)
class LeaseLost(RotaError):
    thing: str
    id: object

    def __str__(self) -> str:
        return f"{self.thing} {self.id} is held by somebody else now"


@dataclass(eq=False)
class NotFound(RotaError):
    thing: str
    id: object

    def __str__(self) -> str:
        return f"there is no {self.thing} {cut(self.id)}"


@dataclass(eq=False)
class Unauthenticated(RotaError):
    reason: str

    def __str__(self) -> str:
        return f"this request carries no valid key: {self.reason}"


@dataclass(eq=False)
class NotAllowed(RotaError):
    permission: str
    role: str

    def __str__(self) -> str:
        return f"the role {self.role} may not {self.permission}"


@dataclass(eq=False)
class TooMany(RotaError):
    """`retry_after` is in seconds."""

    what: str
    retry_after: float

    def __str__(self) -> str:
        return f"too many {self.what}; again in {self.retry_after:.3g} s"


@dataclass(eq=False)
class ComputationTooLong(RotaError):
    """A request whose answer takes more processor time than a request may take."""

    limit_s: float

    def __str__(self) -> str:
        return (
            f"the answer may take {self.limit_s:g} s of processor time and takes more: ask for "
            "fewer jobs at once, or use schedules and calendars with fewer rules and windows"
        )


@dataclass(eq=False)
class Overloaded(RotaError):
    """`retry_after` is in seconds."""

    retry_after: float

    def __str__(self) -> str:
        return f"too many computations wait; try again in {self.retry_after:.3g} s"


@dataclass(eq=False)
class QuotaExceeded(RotaError):
    """`retry_after` is in seconds, and None where waiting alone does not help."""

    quota: str
    most: object
    asked: str
    retry_after: float | None = None

    def __str__(self) -> str:
        return f"the quota {self.quota} of this tenant is {self.most}: {self.asked}"


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
        return f"the {self.thing} has version {self.found} now, not {self.wanted}"


@dataclass(eq=False)
class ExpressionFailed(RotaError):
    text: str
    position: int
    reason: str

    def __str__(self) -> str:
        where = f"at character {self.position + 1}"
        return f"the expression {cut(self.text)} fails {where}: {self.reason}"


@dataclass(eq=False)
class SealingFailed(RotaError):
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"secrets cannot be used: {self.reason}; {self.remedy}"


@dataclass(eq=False)
class StoreUnavailable(RotaError):
    """`is_down` when the server itself answered that it cannot be used: it refused the connection,
    is starting or stopping, or is not a primary. False when it was silent.
    """

    reason: str
    is_down: bool = False

    def __str__(self) -> str:
        return f"the database is not available: {self.reason}"


@dataclass(eq=False, kw_only=True)
class MigrationBlocked(StoreUnavailable):
    """Other sessions held locks that a migration needs; `reason` says which sessions."""

    migration: str
    tries: int

    def __str__(self) -> str:
        return (
            f"{self.migration} was not applied in {self.tries} tries: {self.reason}; "
            "end the transactions that hold the locks, then run `rota migrate` again"
        )


@dataclass(eq=False)
class StoreRefused(RotaError):
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"this database cannot be used: {self.reason}; {self.remedy}"


@dataclass(eq=False)
class SchemaMismatch(StoreRefused):
    """The database's schema is not the one this code knows."""


@dataclass(eq=False)
class StoreFailed(RotaError):
    sqlstate: str
    message: str

    def __str__(self) -> str:
        return f"the database refused a statement ({self.sqlstate}): {self.message}"


@dataclass(eq=False)
class EmbeddedFailed(RotaError):
    reason: str
    remedy: str

    def __str__(self) -> str:
        return f"the embedded PostgreSQL cannot run: {self.reason}; {self.remedy}"
