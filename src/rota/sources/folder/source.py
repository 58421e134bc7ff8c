"""Files that arrive in a folder, each once. Room: sources/folder.

A file is new when its name, size and time of change are; that is its id. It is taken when it has
stayed the same for `settle`, so that a file that is still being copied is left alone; whoever
writes under another name and renames may say `settle = "0s"`. Names that begin with a dot or end
in .tmp or .part are never looked at.

What was taken stays where it is, or goes to `done` once its event is committed. In the first case
the position is the newest time at which a taken file came into the folder (ctime, which no copying
tool sets back), with what was taken in the hour before it, because a slow file may come late. Of
more than a thousand in that hour the older ones are read again after a restart; Rota takes each
once.
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
from rota.core.source import NOTHING, Batch, Message
from rota.sources.options import Options

UNFINISHED: Final = (".tmp", ".part")
# Far more than any file takes to settle.
SLACK: Final = int(timedelta(hours=1) / timedelta(microseconds=1)) * 1000
# As many hashes are in a position.
MOST_REMEMBERED: Final = 1000
LONGEST_SETTLE: Final = timedelta(minutes=10)


class File(NamedTuple):
    """A file as one look at the folder saw it."""

    name: str
    size: int
    changed: int
    arrived: int

    @property
    def id(self) -> str:
        return f"{shown(self.name)}:{self.size}:{self.changed}"

    @property
    def digest(self) -> str:
        return blake2b(self.id.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    path: Path
    pattern: str
    settle: timedelta
    done: Path | None


def make(options: Mapping[str, Any]) -> "FolderSource":
    return FolderSource(read_options(options))


def read_options(given: Mapping[str, Any]) -> Spec:
    options = Options(given)
    wanted = "the path of a folder"
    done = options.text_or("done", None, wanted=wanted)
    spec = Spec(
        path=full_path("path", options.text("path", wanted=wanted)),
        pattern=options.text_or("pattern", "*", wanted="a pattern such as *.csv") or "*",
        settle=options.duration(
            "settle",
            timedelta(seconds=2),
            shortest=timedelta(0),
            longest=LONGEST_SETTLE,
        ),
        done=None if done is None else full_path("done", done),
    )
    options.finish()
    if spec.done == spec.path:
        raise InvalidInput("done", done, "it must be another folder than path")
    return spec


def full_path(name: str, text: str) -> Path:
    """Relative to where the process was started, as the folder of the embedded database is."""
    if text.startswith("~"):
        raise InvalidInput(name, text, "it must be a path that is written out; `~` is not")
    return Path(text).absolute()


def loop_time() -> float:
    return asyncio.get_running_loop().time()


class FolderSource:
    """`now` tells seconds that only grow; a file settles by it."""

    def __init__(self, spec: Spec, *, now: Callable[[], float] = loop_time) -> None:
        self._spec = spec
        self._now = now
        self._newest = 0
        # Taken, and looked at again by every scan: what is within the slack of the newest.
        self._taken: dict[str, int] = {}
        # Since when a file has been as it is.
        self._since: dict[str, float] = {}
        self._batch: list[File] = []
        self._left = 0

    async def open(self, position: str | None) -> None:
        known: dict[str, Any] = json.loads(position or '{"newest": 0, "taken": []}')
        self._newest = known["newest"]
        # When they came is not known any more; they are dropped an hour after this start.
        self._taken = dict.fromkeys(known["taken"], self._newest)
        self._since, self._batch = {}, []
        await asyncio.to_thread(check, self._spec)

    async def read(self, *, most: int, within: timedelta) -> Batch:
        del within  # looking again is what finds more, and that is the caller's to time
        files = await asyncio.to_thread(scan, self._spec)
        settled = self._settled([each for each in files if self._is_new(each)])
        self._batch, self._left = settled[:most], max(0, len(settled) - most)
        if not self._batch:
            return NOTHING
        messages = [self._message(each) for each in self._batch]
        return Batch(messages=messages, position=self._position())

    async def acknowledge(self, position: str) -> None:
        self._newest = json.loads(position)["newest"]
        batch, self._batch = self._batch, []
        if self._spec.done is None:
            self._taken = self._remembered(batch)
        else:
            await asyncio.to_thread(put_away, self._spec, batch)

    async def lag(self) -> int | None:
        return self._left

    async def close(self) -> None:
        self._batch = []

    def _is_new(self, file: File) -> bool:
        if self._spec.done is not None:
            return True
        return file.arrived >= self._newest - SLACK and file.digest not in self._taken

    def _position(self) -> str:
        """Where it is once the batch was taken."""
        newest = max(self._newest, self._batch[-1].arrived)
        if self._spec.done is not None:
            return json.dumps({"newest": newest, "taken": []})
        taken = list(self._remembered(self._batch))
        return json.dumps({"newest": newest, "taken": taken[-MOST_REMEMBERED:]})

    def _remembered(self, batch: list[File]) -> dict[str, int]:
        """What was taken, with this batch, and may be seen again."""
        taken = self._taken | {each.digest: each.arrived for each in batch}
        newest = max(taken.values())
        return {digest: at for digest, at in taken.items() if at >= newest - SLACK}

    def _settled(self, files: list[File]) -> list[File]:
        """Those that have not changed for a while, in the order in which they came."""
        now, settle = self._now(), self._spec.settle.total_seconds()
        self._since = {each.id: self._since.get(each.id, now) for each in files}
        settled = [each for each in files if now - self._since[each.id] >= settle]
        return sorted(settled, key=lambda each: (each.arrived, each.name))

    def _message(self, file: File) -> Message:
        changed = datetime.fromtimestamp(file.changed / 1e9, UTC)
        done = self._spec.done
        body = {
            "name": shown(file.name),
            "path": shown(str(self._spec.path / file.name)),
            "size": file.size,
            "modified_at": changed.isoformat(),
        }
        if done is not None:
            body["done_path"] = shown(str(done / name_when_done(file)))
        return Message(id=file.id, body=body, subject=shown(file.name), time=changed)


def shown(name: str) -> str:
    """A name as JSON can have it: bytes that are no UTF-8 are written out."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def name_when_done(file: File) -> str:
    """No other file's: two that had the same name one after the other both have a place."""
    return f"{file.changed}-{file.name}"


def check(spec: Spec) -> None:
    """Say at once what would go wrong with the first file."""
    with os.scandir(spec.path):
        pass
    if spec.done is not None:
        spec.done.mkdir(exist_ok=True)
        if spec.done.stat().st_dev != spec.path.stat().st_dev:
            raise InvalidInput("done", str(spec.done), "it must be on the same disk as path")


def scan(spec: Spec) -> list[File]:
    """All files of the folder whose name fits. Links and folders are none."""
    found = []
    with os.scandir(spec.path) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith(".") or name.endswith(UNFINISHED):
                continue
            if not fnmatch.fnmatchcase(name, spec.pattern):
                continue
            with contextlib.suppress(FileNotFoundError):  # gone since the folder was listed
                seen = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(seen.st_mode):
                    found.append(file_of(name, seen))
    return found


def file_of(name: str, seen: os.stat_result) -> File:
    return File(name, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def put_away(spec: Spec, files: list[File]) -> None:
    for file in files:
        with contextlib.suppress(FileNotFoundError):  # its job was quicker
            put_away_one(spec, file)


def put_away_one(spec: Spec, file: File) -> None:
    """Move a file, unless another one has its name by now: that one is still to be taken."""
    assert spec.done is not None  # noqa: S101
    here, there = spec.path / file.name, spec.done / name_when_done(file)
    if file_of(file.name, here.lstat()).id != file.id:
        return
    here.rename(there)
    # Between the look and the move another file may have come under this name.
    if file_of(file.name, there.lstat()).id != file.id:
        with contextlib.suppress(FileExistsError):
            os.link(there, here)
            there.unlink()
