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
POSIX_SHARED_MEMORY_MIN_BYTES = 256 * MB

NAME_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
DURABILITY_SETTINGS = ("fsync", "synchronous_commit", "full_page_writes")
RESERVED_SETTINGS = (
    *("port", "listen_addresses", "unix_socket_directories", "data_directory", "config_file"),
    *("hba_file", "ident_file", "external_pid_file", "logging_collector", "log_destination"),
)


LZ4 = ("wal_compression", "lz4")
SYNCFS = ("recovery_init_sync_method", "syncfs")
# Settings that some builds of PostgreSQL support and others do not.
OPTIONAL_SETTINGS = (LZ4, SYNCFS)

SettingRow = tuple[str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSetting:
    name: str
    value: str
    reason: str


def clamp(low: int, value: int, high: int) -> int:
    return max(low, min(value, high))


def megabytes(size: int) -> str:
    return f"{size // MB}MB"


def tune_server(
    machine: Machine, *, supported: Collection[tuple[str, str]]
) -> tuple[ServerSetting, ...]:
    """Return all settings for this machine; `granted` lists the OPTIONAL ones that work here."""
    rows = (
        *memory_rows(machine),
        *wal_rows(machine, supported),
        *vacuum_rows(),
        *session_rows(),
        *log_rows(),
    )
    return tuple(
        ServerSetting(name=name, value=value, reason=reason) for name, value, reason in rows
    )


def memory_rows(machine: Machine) -> list[SettingRow]:
    shared = clamp(128 * MB, machine.memory // 8, 4 * GB)
    roomy = machine.shared_memory >= POSIX_SHARED_MEMORY_MIN_BYTES
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
            megabytes(clamp(64 * MB, machine.memory // 32, 256 * MB)),
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


def wal_rows(machine: Machine, supported: Collection[tuple[str, str]]) -> list[SettingRow]:
    wal_max = clamp(256 * MB, machine.free_disk // 10, 4 * GB)
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
            "lz4" if LZ4 in supported else "off",
            "page images after a checkpoint are most of the log; pglz costs more than it saves",
        ),
        ("checkpoint_timeout", "15min", "each checkpoint writes the page images again"),
        ("checkpoint_completion_target", "0.9", "spreads the writes"),
        ("max_slot_wal_keep_size", "1GB", "a forgotten replication slot must not fill the disk"),
    ]
    if machine.syncs_at_once and SYNCFS in supported:
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


def vacuum_rows() -> list[SettingRow]:
    return [
        ("autovacuum_naptime", "5s", "a queue produces thousands of dead rows per second"),
        ("autovacuum_vacuum_cost_delay", "1ms", "keeps up without disturbing other work"),
        ("autovacuum_vacuum_cost_limit", "2000", "the default is meant for spinning disks"),
        ("autovacuum_max_workers", "3", "one long vacuum of history must not block the queue's"),
    ]


def session_rows() -> list[SettingRow]:
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


def log_rows() -> list[SettingRow]:
    return [
        ("log_timezone", "UTC", "as timezone"),
        ("log_line_prefix", "%m [%p] ", "time and process id"),
        ("lc_messages", "C", "diagnosis.py reads English"),
        ("log_lock_waits", "on", "logs lock waits of more than a second"),
    ]


def durability_flags(*, durable: bool) -> dict[str, str]:
    """Return the settings that no file may change."""
    return dict.fromkeys(DURABILITY_SETTINGS, "on" if durable else "off")


def refuse_reserved(custom: Mapping[str, str]) -> None:
    """Refuse custom settings that are reserved or malformed."""
    for name, value in custom.items():
        if name.lower() in DURABILITY_SETTINGS:
            wanted = "must not be set: durability is always on, except in homes created for tests"
        elif name.lower() in RESERVED_SETTINGS:
            wanted = "must not be set: Rota controls this setting"
        elif not NAME_PATTERN.fullmatch(name):
            wanted = "a setting's name must consist of letters, digits, underscores and dots"
        elif any(character < " " for character in value):
            wanted = "must be one line of text"
        else:
            continue
        raise InvalidSetting(field=f"embedded.settings.{name}", value=value, wanted=wanted)


def render_configuration(table: tuple[ServerSetting, ...], custom: Mapping[str, str]) -> str:
    """Render postgresql.conf: the settings with their reasons, then the custom settings."""
    lines = [
        "# Written by Rota at every start of the server. For lasting changes, use ALTER SYSTEM.",
        *(f"{row.name} = {quote_value(row.value)}  # {row.reason}" for row in table),
        *(f"{name} = {quote_value(value)}  # custom" for name, value in custom.items()),
    ]
    return "\n".join(lines) + "\n"


def quote_value(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
