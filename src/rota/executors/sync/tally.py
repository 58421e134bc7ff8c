"""Counts the work and the errors of an attempt, and reports its progress and result."""

from collections.abc import Callable
from dataclasses import dataclass, field

from rota.core.executor import AttemptContext, Stream
from rota.core.outcome import Failed, Failure
from rota.executors.sync.planning import Plan
from rota.executors.sync.tree import printable

MOST_TOLD = 20
MOST_LISTED = 200
# Limits for the names in a result (which may have 64 KB) and for a message (8 KB).
MOST_BYTES = 24 * 1024
LONGEST_MESSAGE = 4 * 1024
# Bytes added per file, so that a million empty files show progress.
PER_FILE = 16 * 1024
TOLD_EVERY = 0.25


@dataclass(slots=True)
class Listed:
    """Keeps the first names of many, and counts all."""

    names: list[str] = field(default_factory=list)
    count: int = 0
    _bytes: int = 0

    def add(self, path: str) -> None:
        self.count += 1
        name = printable(path)
        self._bytes += len(name.encode())
        if len(self.names) < MOST_LISTED and self._bytes <= MOST_BYTES:
            self.names.append(name)

    @property
    def is_cut(self) -> bool:
        return self.count > len(self.names)


@dataclass(slots=True, kw_only=True)
class Tally:
    """Counts the work of one attempt; `monotonic` returns seconds."""

    context: AttemptContext
    monotonic: Callable[[], float]
    copied: int = 0
    skipped: int = 0
    deleted: int = 0
    vanished: int = 0
    bytes: int = 0
    troubles: int = 0
    told: list[str] = field(default_factory=list)
    copies: Listed = field(default_factory=Listed)
    removals: Listed = field(default_factory=Listed)
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

    def expect(self, plan: Plan) -> None:
        self.skipped += plan.same
        self._all_bytes, self._all_files = plan.bytes, plan.files

    def say(self, line: str) -> None:
        self.context.write(Stream.STDOUT, f"{line}\n".encode())

    def trouble(self, path: str, reason: str) -> None:
        """Record that one file failed."""
        self.troubles += 1
        line = f"{printable(path) or '(root folder)'}: {reason}"
        if len(self.told) < MOST_TOLD:
            self.told.append(line)
        self.context.write(Stream.STDERR, f"{line}\n".encode())

    def sent(self, size: int) -> None:
        self.sending += size
        self._report_progress()

    def arrived(self, size: int) -> None:
        self.copied += 1
        self.bytes += size
        self.sending -= size

    def passed(self, size: int) -> None:
        """Record that a file was copied, skipped or failed."""
        self._files += 1
        self._passed += size
        self._report_progress()

    def end(self) -> None:
        """Report the final progress, regardless of the interval."""
        self._last = -TOLD_EVERY
        self._report_progress()

    def _report_progress(self) -> None:
        now = self.monotonic()
        if now - self._last < TOLD_EVERY:
            return
        self._last = now
        whole = self._all_bytes + self._all_files * PER_FILE
        bytes_ = min(self._passed + self.sending, self._all_bytes)
        done = bytes_ + self._files * PER_FILE
        files = f"{self._files} of {self._all_files} files"
        message = f"{files}, {size_of(bytes_)} of {size_of(self._all_bytes)}"
        self.context.progress(min(max(done / whole, 0.0), 1.0) if whole else 1.0, message)

    def result(self) -> dict[str, object]:
        return {
            "copied": self.copied,
            "skipped": self.skipped,
            "deleted": self.deleted,
            "vanished": self.vanished,
            "bytes": self.bytes,
            "seconds": self._seconds(),
        }

    def foretold(self, refusal: str | None) -> dict[str, object]:
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

    def failed(self) -> Failed:
        count = f"{self.troubles} files" if self.troubles != 1 else "1 file"
        rest = self.troubles - len(self.told)
        reasons = "; ".join(self.told) + (f"; and {rest} more" if rest else "")
        message = f"{count} could not be copied, {self.copied} copied: {reasons}"
        return failed("files left behind", message)

    def _seconds(self) -> float:
        return round(self.monotonic() - self._began, 3)


def failed(type_: str, message: str, *, final: bool = False) -> Failed:
    cut = message.encode(errors="replace")[:LONGEST_MESSAGE].decode(errors="ignore")
    return Failed(failure=Failure(type=type_, message=cut), final=final)


def size_of(count: int) -> str:
    """Format a number of bytes, such as `1.4 GB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.4g} TB"
