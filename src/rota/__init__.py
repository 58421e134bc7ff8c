"""Rota: distributed cron, job queue and job graphs in one service, on PostgreSQL.

This module holds the public names for job authors and nothing else. Each name is loaded on first
use: importing rota loads no database driver, no HTTP library and no event loop. ARCHITECTURE.md
explains the design.
"""

# Type checkers recognise this name; importing `typing` would take longer than everything else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from rota import testing
    from rota.core.errors import (
        Conflict,
        InvalidInput,
        InvalidSchedule,
        LeaseLost,
        NameTaken,
        NotFound,
        QuotaExceeded,
        RotaError,
        StoreRefused,
        StoreUnavailable,
    )
    from rota.core.executor import Fail, Retry, Snooze
    from rota.executors.python.contexts import AttemptCancelled
    from rota.executors.python.handlers import MB, Handlers
    from rota.sdk.app.app import App
    from rota.sdk.app.contexts import Context, SyncContext
    from rota.sdk.app.event_jobs import event
    from rota.sdk.app.expectations import Alert, Expect
    from rota.sdk.app.job import Job, job
    from rota.sdk.app.submission import NotFinished, RunFailed, Submission
    from rota.sdk.client import ApiError, AsyncClient, Client, Unreachable, Unreadable
    from rota.sdk.graph.builder import step
    from rota.sdk.graph.graph import Graph, index, item
    from rota.sdk.transaction import in_transaction, within

__all__ = [
    "MB",
    "Alert",
    "ApiError",
    "App",
    "AsyncClient",
    "AttemptCancelled",
    "Client",
    "Conflict",
    "Context",
    "Expect",
    "Fail",
    "Graph",
    "Handlers",
    "InvalidInput",
    "InvalidSchedule",
    "Job",
    "LeaseLost",
    "NameTaken",
    "NotFinished",
    "NotFound",
    "QuotaExceeded",
    "Retry",
    "RotaError",
    "RunFailed",
    "Snooze",
    "StoreRefused",
    "StoreUnavailable",
    "Submission",
    "SyncContext",
    "Unreachable",
    "Unreadable",
    "event",
    "in_transaction",
    "index",
    "item",
    "job",
    "step",
    "testing",
    "within",
]

# Module -> the public names it defines.
_HOMES = {
    "rota.core.errors": (
        "Conflict",
        "InvalidInput",
        "InvalidSchedule",
        "LeaseLost",
        "NameTaken",
        "NotFound",
        "QuotaExceeded",
        "RotaError",
        "StoreRefused",
        "StoreUnavailable",
    ),
    "rota.core.executor": ("Fail", "Retry", "Snooze"),
    "rota.executors.python.contexts": ("AttemptCancelled",),
    "rota.executors.python.handlers": ("MB", "Handlers"),
    "rota.sdk.app.app": ("App",),
    "rota.sdk.app.contexts": ("Context", "SyncContext"),
    "rota.sdk.app.job": ("Job", "job"),
    "rota.sdk.app.submission": ("NotFinished", "RunFailed", "Submission"),
    "rota.sdk.app.event_jobs": ("event",),
    "rota.sdk.app.expectations": ("Alert", "Expect"),
    "rota.sdk.client": ("ApiError", "AsyncClient", "Client", "Unreachable", "Unreadable"),
    "rota.sdk.graph.builder": ("step",),
    "rota.sdk.graph.graph": ("Graph", "index", "item"),
    "rota.sdk.transaction": ("in_transaction", "within"),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    """Load a public name on first use and cache it."""
    from importlib import import_module  # noqa: PLC0415 — keeps `import rota` fast

    if name == "testing":
        value: object = import_module("rota.testing")
    elif name in _HOME_OF:
        value = getattr(import_module(_HOME_OF[name]), name)
    else:
        raise AttributeError(f"module 'rota' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *__all__]
