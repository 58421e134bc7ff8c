"""Defines every setting of the embedded server, each with its reason.

Pure functions: from measurements of the machine to text. Settings that no file may override go to
the command line; the rest goes to postgresql.conf, where ALTER SYSTEM can change it. Clients set
the timeouts of statements and transactions themselves.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from rota.core.errors import InvalidSetting
from rota.store.embedded.machine import Machine

MB = 1 << 20
GB = 1 << 30
ENOUGH_SHARED_MEMORY = 256 * MB

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
DURABILITY = ("fsync", "synchronous_commit", "full_page_writes")
KEPT = (
    *("port", "listen_addresses", "unix_socket_directories", "data_directory", "config_file"),
    *("hba_file", "ident_file", "external_pid_file", "logging_collector", "log_destination"),
)


LZ4 = ("wal_compression", "lz4")
SYNCFS = ("recovery_init_sync_method", "syncfs")
# Settings that some builds of PostgreSQL support and others do not.
OPTIONAL = (LZ4, SYNCFS)

Row = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    name: str
    value: str
    reason: str


def within(low: int, value: int, high: int) -> int:
    return max(low, min(value, high))


def megabytes(size: int) -> str:
    return f"{size // MB}MB"


def tuning(machine: Machine, *, granted: Collection[tuple[str, str]]) -> tuple[Setting, ...]:
    """Return all settings for this machine; `granted` lists the OPTIONAL ones that work here."""
    rows = (
        *memory_rows(machine),
        *wal_rows(machine, granted),
        *vacuum_rows(),
        *session_rows(),
        *log_rows(),
    )
    return tuple(Setting(name=name, value=value, reason=reason) for name, value, reason in rows)


def memory_rows(machine: Machine) -> list[Row]:
    shared = within(128 * MB, machine.memory // 8, 4 * GB)
    roomy = machine.shared_memory >= ENOUGH_SHARED_MEMORY
    return [
        (
            "shared_buffers",
            megabytes(shared),
            "an eighth of the memory: the hot tables fit, and the rest of the machine stays usable",
        ),
        (
            "effective_cache_size",
            megabytes(max(shared, machine.memory // 2)),
            "the kernel caches the rest",
        ),
        ("work_mem", "8MB", "a hundred sessions may each use it several times"),
        (
            "maintenance_work_mem",
            megabytes(within(64 * MB, machine.memory // 32, 256 * MB)),
            "vacuums a hot table in one pass",
        ),
        (
            "dynamic_shared_memory_type",
            "posix" if roomy else "mmap",
            "a container's /dev/shm is often 64 MB: too small for parallel queries",
        ),
        ("max_connections", "100", "each Rota process uses a few"),
        (
            "max_locks_per_transaction",
            "256",
            "one query covers a month of daily partitions and their indexes",
        ),
        ("jit", "off", "compiling takes longer than Rota's statements"),
        ("random_page_cost", "1.1", "solid state disks"),
    ]


def wal_rows(machine: Machine, granted: Collection[tuple[str, str]]) -> list[Row]:
    wal_max = within(256 * MB, machine.free_disk // 10, 4 * GB)
    rows = [
        (
            "max_wal_size",
            megabytes(wal_max),
            "few checkpoints under load; a tenth of the free disk",
        ),
        (
            "min_wal_size",
            megabytes(min(256 * MB, wal_max)),
            "recycles files without filling the disk at rest",
        ),
        ("wal_buffers", "16MB", "a batch of finished runs fits"),
        (
            "wal_compression",
            "lz4" if LZ4 in granted else "off",
            "page images after a checkpoint are most of the log; pglz costs more than it saves",
        ),
        ("checkpoint_timeout", "15min", "each checkpoint writes the page images again"),
        ("checkpoint_completion_target", "0.9", "spreads the writes"),
        ("max_slot_wal_keep_size", "1GB", "a forgotten replication slot must not fill the disk"),
    ]
    if machine.syncs_at_once and SYNCFS in granted:
        reason = "one call instead of one per file: restarts in tenths of a second after a crash"
        rows.append((*SYNCFS, reason))
    if machine.platform == "darwin":
        rows.append(
            (
                "wal_sync_method",
                "fsync_writethrough",
                "without it, macOS leaves commits in the disk's cache",
            )
        )
    return rows


def vacuum_rows() -> list[Row]:
    return [
        ("autovacuum_naptime", "5s", "a queue produces thousands of dead rows per second"),
        ("autovacuum_vacuum_cost_delay", "1ms", "keeps up without disturbing other work"),
        ("autovacuum_vacuum_cost_limit", "2000", "the default is meant for spinning disks"),
        ("autovacuum_max_workers", "3", "one long vacuum of history must not block the queue's"),
    ]


def session_rows() -> list[Row]:
    return [
        (
            "client_connection_check_interval",
            "5s",
            "ends statements of dead clients and releases their locks",
        ),
        ("tcp_keepalives_idle", "3", "detects a vanished client within five seconds"),
        ("tcp_keepalives_interval", "1", "as above"),
        ("tcp_keepalives_count", "2", "as above"),
        ("password_encryption", "scram-sha-256", "the only kind of password in use"),
        ("timezone", "UTC", "one time everywhere"),
        (
            "default_text_search_config",
            "pg_catalog.simple",
            "does not depend on the machine's locale",
        ),
    ]


def log_rows() -> list[Row]:
    return [
        ("log_timezone", "UTC", "as timezone"),
        ("log_line_prefix", "%m [%p] ", "time and process id"),
        ("lc_messages", "C", "diagnosis.py reads English"),
        ("log_lock_waits", "on", "logs lock waits of more than a second"),
    ]


def kept(*, durable: bool) -> dict[str, str]:
    """Return the settings that no file may change."""
    return dict.fromkeys(DURABILITY, "on" if durable else "off")


def refuse_unfit(wishes: Mapping[str, str]) -> None:
    """Refuse custom settings that are reserved or malformed."""
    for name, value in wishes.items():
        if name.lower() in DURABILITY:
            wanted = "must not be set: durability is always on, except in homes created for tests"
        elif name.lower() in KEPT:
            wanted = "must not be set: Rota controls this setting"
        elif not NAME.fullmatch(name):
            wanted = "a setting's name must consist of letters, digits, underscores and dots"
        elif any(character < " " for character in value):
            wanted = "must be one line of text"
        else:
            continue
        raise InvalidSetting(field=f"embedded.settings.{name}", value=value, wanted=wanted)


def configuration(table: tuple[Setting, ...], wishes: Mapping[str, str]) -> str:
    """Render postgresql.conf: the settings with their reasons, then the custom settings."""
    lines = [
        "# Written by Rota at every start of the server. For lasting changes, use ALTER SYSTEM.",
        *(f"{row.name} = {quoted(row.value)}  # {row.reason}" for row in table),
        *(f"{name} = {quoted(value)}  # custom" for name, value in wishes.items()),
    ]
    return "\n".join(lines) + "\n"


def quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
