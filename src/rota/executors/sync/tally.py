"""Counts the work and the errors of an attempt, and reports its progress and result."""

from collections.abc import Callable
from dataclasses import dataclass, field

from rota.core.executor import AttemptContext, Stream
from rota.core.outcome import Failed, Failure
from rota.executors.sync.planner import SyncPlan
from rota.executors.sync.tree import printable

REPORTED_ERRORS_MAX = 20
LISTED_NAMES_MAX = 200
# Limits for the names in a result (which may have 64 KB) and for a message (8 KB).
LISTED_NAMES_MAX_BYTES = 24 * 1024
FAILURE_MESSAGE_MAX_BYTES = 4 * 1024
# Bytes added per file, so that a million empty files show progress.
PROGRESS_BYTES_PER_FILE = 16 * 1024
PROGRESS_INTERVAL_S = 0.25


@dataclass(slots=True)
class NameList:
    """Keeps the first names of many, and counts all."""

    names: list[str] = field(default_factory=list)
    count: int = 0
    _bytes: int = 0

    def add(self, path: str) -> None:
        self.count += 1
        name = printable(path)
        self._bytes += len(name.encode())
        if len(self.names) < LISTED_NAMES_MAX and self._bytes <= LISTED_NAMES_MAX_BYTES:
            self.names.append(name)

    @property
    def is_cut(self) -> bool:
        return self.count > len(self.names)


@dataclass(slots=True, kw_only=True)
class SyncTally:
    """Counts the work of one attempt; `monotonic` returns seconds."""

    context: AttemptContext
    monotonic: Callable[[], float]
    copied: int = 0
    skipped: int = 0
    deleted: int = 0
    vanished: int = 0
    bytes: int = 0
    error_count: int = 0
    errors: list[str] = field(default_factory=list)
    copies: NameList = field(default_factory=NameList)
    removals: NameList = field(default_factory=NameList)
    # Bytes sent of files that have not arrived completely.
    sending: int = 0
    _all_bytes: int = 0
    _all_files: int = 0
    # Bytes of files that were copied, skipped or failed.
    _passed: int = 0
    _files: int = 0
    _began: float = field(init=False)
    _last: float = -1.0

    def __post_init__(self) -> None:
        self._began = self.monotonic()

    def expect(self, plan: SyncPlan) -> None:
        self.skipped += plan.same
        self._all_bytes, self._all_files = plan.bytes, plan.files

    def log_line(self, line: str) -> None:
        self.context.write(Stream.STDOUT, f"{line}\n".encode())

    def record_error(self, path: str, reason: str) -> None:
        """Record that one file failed."""
        self.error_count += 1
        line = f"{printable(path) or '(root folder)'}: {reason}"
        if len(self.errors) < REPORTED_ERRORS_MAX:
            self.errors.append(line)
        self.context.write(Stream.STDERR, f"{line}\n".encode())

    def record_sent(self, size: int) -> None:
        self.sending += size
        self._report_progress()

    def record_copied(self, size: int) -> None:
        self.copied += 1
        self.bytes += size
        self.sending -= size

    def record_finished(self, size: int) -> None:
        """Record that a file was copied, skipped or failed."""
        self._files += 1
        self._passed += size
        self._report_progress()

    def end(self) -> None:
        """Report the final progress, regardless of the interval."""
        self._last = -PROGRESS_INTERVAL_S
        self._report_progress()

    def _report_progress(self) -> None:
        now = self.monotonic()
        if now - self._last < PROGRESS_INTERVAL_S:
            return
        self._last = now
        whole = self._all_bytes + self._all_files * PROGRESS_BYTES_PER_FILE
        bytes_ = min(self._passed + self.sending, self._all_bytes)
        done = bytes_ + self._files * PROGRESS_BYTES_PER_FILE
        files = f"{self._files} of {self._all_files} files"
        message = f"{files}, {format_size(bytes_)} of {format_size(self._all_bytes)}"
        self.context.progress(min(max(done / whole, 0.0), 1.0) if whole else 1.0, message)

    def build_result(self) -> dict[str, object]:
        return {
            "copied": self.copied,
            "skipped": self.skipped,
            "deleted": self.deleted,
            "vanished": self.vanished,
            "bytes": self.bytes,
            "seconds": self._seconds(),
        }

    def build_dry_run_result(self, refusal: str | None) -> dict[str, object]:
        """Return the result of a dry run."""
        return {
            "dry_run": True,
            "would_copy": self.copies.count,
            "would_skip": self.skipped,
            "would_delete": self.removals.count,
            "bytes": self.bytes,
            "copy": self.copies.names,
            "delete": self.removals.names,
            "truncated": self.copies.is_cut or self.removals.is_cut,
            "refusal": refusal,
            "seconds": self._seconds(),
        }

    def build_failed(self) -> Failed:
        count = f"{self.error_count} files" if self.error_count != 1 else "1 file"
        rest = self.error_count - len(self.errors)
        reasons = "; ".join(self.errors) + (f"; and {rest} more" if rest else "")
        message = f"{count} could not be copied, {self.copied} copied: {reasons}"
        return build_failed("files left behind", message)

    def _seconds(self) -> float:
        return round(self.monotonic() - self._began, 3)


def build_failed(type_: str, message: str, *, final: bool = False) -> Failed:
    cut = message.encode(errors="replace")[:FAILURE_MESSAGE_MAX_BYTES].decode(errors="ignore")
    return Failed(failure=Failure(type=type_, message=cut), final=final)


def format_size(count: int) -> str:
    """Format a number of bytes, such as `1.4 GB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.4g} TB"
