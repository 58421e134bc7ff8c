"""Defines the resource limits of one program.

The operator of the worker sets them, never a payload. The kernel enforces them per process; a limit
on everything that a program starts needs a cgroup around the worker.
"""

from dataclasses import dataclass
from datetime import timedelta

from rota.core.errors import InvalidSetting

MEGABYTE = 1024 * 1024
# An ordinary program cannot start with less.
MEMORY_MIN_BYTES = 16 * MEGABYTE
OPEN_FILES_MIN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellLimits:
    """Limits of one program; None means unlimited.

    `processes` counts all processes of the user, so it is useful only together with a separate user
    for programs. Core dumps are always off, because they would hold secrets.
    """

    # Private writable memory, not address space: some runtimes reserve far more than they use.
    memory: int | None = 2048 * MEGABYTE
    open_files: int = 1024
    processes: int | None = None
    file_size: int | None = None
    cpu: timedelta | None = None

    def __post_init__(self) -> None:
        self._require_minimum("memory", MEMORY_MIN_BYTES)
        self._require_minimum("open_files", OPEN_FILES_MIN)
        self._require_minimum("processes", 1)
        self._require_minimum("file_size", 0)
        if self.cpu is not None and self.cpu < timedelta(seconds=1):
            raise InvalidSetting(
                "executors.shell_limits.cpu", self.cpu, "must be at least 1 second"
            )

    def _require_minimum(self, name: str, minimum: int) -> None:
        value = getattr(self, name)
        if value is not None and value < minimum:
            wanted = f"must be at least {minimum}"
            raise InvalidSetting(f"executors.shell_limits.{name}", value, wanted)

    def to_rlimits(self) -> dict[str, int]:
        """Return the limits under their kernel names, without the unlimited ones."""
        limits = {
            "RLIMIT_CORE": 0,
            "RLIMIT_DATA": self.memory,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_FSIZE": self.file_size,
            "RLIMIT_CPU": None if self.cpu is None else int(self.cpu.total_seconds()),
        }
        return {name: value for name, value in limits.items() if value is not None}
