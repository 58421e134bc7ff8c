"""What one program may use. Room: executors/shell.

Set by whoever runs the worker, never by a payload. The kernel enforces them per process; a bound on
everything that a program starts needs a cgroup around the worker.
"""

from dataclasses import dataclass
from datetime import timedelta

from rota.core.errors import InvalidSetting

MEGABYTE = 1024 * 1024
# Less is not enough to start an ordinary program.
LEAST_MEMORY = 16 * MEGABYTE
LEAST_OPEN_FILES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellLimits:
    """None is no limit. `processes` counts all processes of the user, so it is of use only together
    with a user of the programs' own. Core dumps are always off: they would hold secrets.
    """

    # Private writable memory, not address space: several runtimes reserve far more than they use.
    memory: int | None = 2048 * MEGABYTE
    open_files: int = 1024
    processes: int | None = None
    file_size: int | None = None
    cpu: timedelta | None = None

    def __post_init__(self) -> None:
        self._at_least("memory", LEAST_MEMORY)
        self._at_least("open_files", LEAST_OPEN_FILES)
        self._at_least("processes", 1)
        self._at_least("file_size", 0)
        if self.cpu is not None and self.cpu < timedelta(seconds=1):
            raise InvalidSetting("executors.shell_limits.cpu", self.cpu, "at least 1 second")

    def _at_least(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if value is not None and value < least:
            raise InvalidSetting(f"executors.shell_limits.{name}", value, f"at least {least}")

    def kernel(self) -> dict[str, int]:
        """The limits under the names that the kernel knows them by."""
        wanted = {
            "RLIMIT_CORE": 0,
            "RLIMIT_DATA": self.memory,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_FSIZE": self.file_size,
            "RLIMIT_CPU": None if self.cpu is None else int(self.cpu.total_seconds()),
        }
        return {name: value for name, value in wanted.items() if value is not None}
