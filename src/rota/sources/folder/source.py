"""Reads files that arrive in a folder; each file becomes one event.

A file's id is its name, size and modification time. A file is read once it has not changed for
`settle`, so that a file that is still being copied is not read too early; a program that writes to
a temporary name and renames can use `settle = "0s"`. Names that begin with a dot or end in .tmp or
.part are ignored.

A file that was read stays in place, or moves to `done` once its event is committed. If files stay,
the position is the newest ctime of a file that was read (copying tools cannot set ctime back), with
the files read in the hour before it, because a slow file may arrive late. If there are more than a
thousand in that hour, the older ones are read again after a restart; Rota deduplicates them by id.
"""

import asyncio
import contextlib
import fnmatch
import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, NamedTuple

from rota.core.errors import InvalidInput
from rota.core.source import EMPTY_BATCH, Batch, Message
from rota.sources.options import SourceOptions

UNFINISHED_SUFFIXES: Final = (".tmp", ".part")
# Nanoseconds; far longer than any file takes to settle.
LATE_FILE_MARGIN_NS: Final = int(timedelta(hours=1) / timedelta(microseconds=1)) * 1000
# The most hashes in a position.
REMEMBERED_FILES_MAX: Final = 1000
SETTLE_MAX: Final = timedelta(minutes=10)


class FolderFile(NamedTuple):
    """A file as found by one scan of the folder."""

    name: str
    size: int
    changed: int
    arrived: int

    @property
    def id(self) -> str:
        return f"{escape_name(self.name)}:{self.size}:{self.changed}"

    @property
    def digest(self) -> str:
        return blake2b(self.id.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSpec:
    path: Path
    pattern: str
    settle: timedelta
    done: Path | None


def make(options: Mapping[str, Any]) -> "FolderSource":
    return FolderSource(read_options(options))


def read_options(values: Mapping[str, Any]) -> FolderSpec:
    options = SourceOptions(values)
    wanted = "the path of a folder"
    done = options.read_optional_text("done", None, wanted=wanted)
    spec = FolderSpec(
        path=make_absolute("path", options.read_text("path", wanted=wanted)),
        pattern=options.read_optional_text("pattern", "*", wanted="a pattern such as *.csv") or "*",
        settle=options.read_duration(
            "settle",
            timedelta(seconds=2),
            shortest=timedelta(0),
            longest=SETTLE_MAX,
        ),
        done=None if done is None else make_absolute("done", done),
    )
    options.refuse_others()
    if spec.done == spec.path:
        raise InvalidInput("done", done, "must be a different folder than path")
    return spec


def make_absolute(name: str, text: str) -> Path:
    """Make a path absolute, relative to the working directory, as for the embedded database."""
    if text.startswith("~"):
        raise InvalidInput(name, text, "`~` is not expanded; write the full path")
    return Path(text).absolute()


def read_loop_time() -> float:
    return asyncio.get_running_loop().time()


class FolderSource:
    """Reads a folder. `now` is a monotonic clock in seconds, used to see whether a file settled."""

    def __init__(self, spec: FolderSpec, *, now: Callable[[], float] = read_loop_time) -> None:
        self._spec = spec
        self._now = now
        self._newest = 0
        # Read files, by digest with their ctime, that are within SLACK of the newest.
        self._taken: dict[str, int] = {}
        # The time since when a file has not changed, by id.
        self._since: dict[str, float] = {}
        self._batch: list[FolderFile] = []
        self._left = 0

    async def open(self, position: str | None) -> None:
        known: dict[str, Any] = json.loads(position or '{"newest": 0, "taken": []}')
        self._newest = known["newest"]
        # Their arrival times are not stored; they are dropped an hour after this start.
        self._taken = dict.fromkeys(known["taken"], self._newest)
        self._since, self._batch = {}, []
        await asyncio.to_thread(check_folders, self._spec)

    async def read(self, *, limit: int, within: timedelta) -> Batch:
        del within  # only another scan finds more files; the caller decides when
        files = await asyncio.to_thread(list_files, self._spec)
        settled = self._select_settled([file for file in files if self._is_new(file)])
        self._batch, self._left = settled[:limit], max(0, len(settled) - limit)
        if not self._batch:
            return EMPTY_BATCH
        messages = [self._message(file) for file in self._batch]
        return Batch(messages=messages, position=self._position())

    async def acknowledge(self, position: str) -> None:
        self._newest = json.loads(position)["newest"]
        batch, self._batch = self._batch, []
        if self._spec.done is None:
            self._taken = self._recent(batch)
        else:
            await asyncio.to_thread(move_done_files, self._spec, batch)

    async def lag(self) -> int | None:
        return self._left

    async def close(self) -> None:
        self._batch = []

    def _is_new(self, file: FolderFile) -> bool:
        if self._spec.done is not None:
            return True
        return file.arrived >= self._newest - LATE_FILE_MARGIN_NS and file.digest not in self._taken

    def _position(self) -> str:
        """The position after the current batch."""
        newest = max(self._newest, self._batch[-1].arrived)
        if self._spec.done is not None:
            return json.dumps({"newest": newest, "taken": []})
        taken = list(self._recent(self._batch))
        return json.dumps({"newest": newest, "taken": taken[-REMEMBERED_FILES_MAX:]})

    def _recent(self, batch: list[FolderFile]) -> dict[str, int]:
        """The files read so far, including this batch, that a later scan may find again."""
        taken = self._taken | {file.digest: file.arrived for file in batch}
        newest = max(taken.values())
        return {digest: at for digest, at in taken.items() if at >= newest - LATE_FILE_MARGIN_NS}

    def _select_settled(self, files: list[FolderFile]) -> list[FolderFile]:
        """The files that have not changed for `settle`, in the order of their arrival."""
        now, settle = self._now(), self._spec.settle.total_seconds()
        self._since = {file.id: self._since.get(file.id, now) for file in files}
        settled = [file for file in files if now - self._since[file.id] >= settle]
        return sorted(settled, key=lambda file: (file.arrived, file.name))

    def _message(self, file: FolderFile) -> Message:
        changed = datetime.fromtimestamp(file.changed / 1e9, UTC)
        done = self._spec.done
        body = {
            "name": escape_name(file.name),
            "path": escape_name(str(self._spec.path / file.name)),
            "size": file.size,
            "modified_at": changed.isoformat(),
        }
        if done is not None:
            body["done_path"] = escape_name(str(done / build_done_name(file)))
        return Message(id=file.id, body=body, subject=escape_name(file.name), time=changed)


def escape_name(name: str) -> str:
    """Escape the bytes of a name that are not UTF-8, for JSON."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def build_done_name(file: FolderFile) -> str:
    """A unique name: two files that had the same name one after the other are both kept."""
    return f"{file.changed}-{file.name}"


def check_folders(spec: FolderSpec) -> None:
    """Check the folders before the first file arrives."""
    with os.scandir(spec.path):
        pass
    if spec.done is not None:
        spec.done.mkdir(exist_ok=True)
        if spec.done.stat().st_dev != spec.path.stat().st_dev:
            raise InvalidInput("done", str(spec.done), "must be on the same file system as path")


def list_files(spec: FolderSpec) -> list[FolderFile]:
    """List the files of the folder that match the pattern, without links and folders."""
    files = []
    with os.scandir(spec.path) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(".") or name.endswith(UNFINISHED_SUFFIXES):
                continue
            if not fnmatch.fnmatchcase(name, spec.pattern):
                continue
            with contextlib.suppress(FileNotFoundError):  # deleted since the folder was listed
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    files.append(build_file(name, status))
    return files


def build_file(name: str, status: os.stat_result) -> FolderFile:
    return FolderFile(name, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def move_done_files(spec: FolderSpec, files: list[FolderFile]) -> None:
    for file in files:
        with contextlib.suppress(FileNotFoundError):  # its job has already moved or deleted it
            move_done_file(spec, file)


def move_done_file(spec: FolderSpec, file: FolderFile) -> None:
    """Move a file to `done`, unless another file has replaced it: that one was not read yet."""
    assert spec.done is not None  # noqa: S101
    source, target = spec.path / file.name, spec.done / build_done_name(file)
    if build_file(file.name, source.lstat()).id != file.id:
        return
    source.rename(target)
    # Another file may have replaced it between the check and the move.
    if build_file(file.name, target.lstat()).id != file.id:
        with contextlib.suppress(FileExistsError):
            os.link(target, source)
            target.unlink()
