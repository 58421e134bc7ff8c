"""Real places for tests of syncing: trees of files, an object store, an SFTP server.

The object store is `rclone serve s3`, the SFTP server is asyncssh's or `rclone serve sftp`; all
listen on a free port of this machine.
"""

import asyncio
import contextlib
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh

from rota.core.outcome import Outcome
from rota.executors.sync import SyncExecutor, SyncPlace
from rota.sdk.testing import RecordingContext

KEY_ID = "test-key-id-4711"
SECRET = "canary-secret-0815"
RCLONE = Path(sys.executable).parent / "rclone"
SERVING = re.compile(r"(?:http://|listening on )127\.0\.0\.1:(\d+)")


@dataclass
class Store:
    """An object store; its buckets are the folders of `root`."""

    root: Path
    port: int

    def place(self, name: str, url: str = "s3://bucket/", **settings: Any) -> SyncPlace:
        given = {"account": KEY_ID, "secret": SECRET, **settings}
        return SyncPlace(name=name, url=url, endpoint=f"http://127.0.0.1:{self.port}", **given)


@contextlib.contextmanager
def object_store(root: Path) -> Iterator[Store]:
    (root / "bucket").mkdir(parents=True)
    options = ["--auth-key", f"{KEY_ID},{SECRET}"]
    with rclone("s3", *options, str(root)) as port:
        yield Store(root, port)


@contextlib.contextmanager
def rclone(*words: str) -> Iterator[int]:
    """`rclone serve …`; gives the port."""
    command = [str(RCLONE), "serve", *words, "--addr", "127.0.0.1:0", "--config", os.devnull, "-v"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := SERVING.search(line):
                yield int(found[1])
                break
        else:
            raise AssertionError(f"rclone ended with {process.wait()}")
    finally:
        process.kill()
        process.communicate()


@dataclass
class Machine:
    """Another machine with SFTP; its folder is `root`."""

    root: Path
    port: int
    fingerprint: str
    key_file: Path
    server: Any
    connections: list[Any]

    def place(self, name: str, path: str = "/", **settings: Any) -> SyncPlace:
        given = {"key_file": str(self.key_file), "host_keys": (self.fingerprint,), **settings}
        return SyncPlace(name=name, url=f"sftp://copier@127.0.0.1:{self.port}{path}", **given)


@contextlib.asynccontextmanager
async def sftp_machine(
    root: Path, keys: Path, kind: type[asyncssh.SFTPServer] = asyncssh.SFTPServer
) -> AsyncIterator[Machine]:
    host, user = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    key_file = keys / "id"
    key_file.write_bytes(user.export_private_key())
    key_file.chmod(0o600)
    connections: list[Any] = []

    class Listener(asyncssh.SSHServer):
        def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
            connections.append(conn)

    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=Listener,
        server_host_keys=[host],
        authorized_client_keys=asyncssh.import_authorized_keys(user.export_public_key().decode()),
        sftp_factory=lambda channel: kind(channel, chroot=os.fsencode(root)),
    )
    try:
        yield Machine(
            root, server.get_port(), host.get_fingerprint(), key_file, server, connections
        )
    finally:
        server.close()
        await server.wait_closed()


def plant(root: Path, files: Mapping[str, bytes]) -> None:
    """Files below a folder; their times are long past, as of files that nobody writes to."""
    root.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        whole = root / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_bytes(content)
        os.utime(whole, (1_700_000_000, 1_700_000_000))


def tree_of(root: Path) -> dict[str, bytes]:
    """All files below a folder, the hidden and the temporary ones, too."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


async def sync(
    places: tuple[SyncPlace, ...], context: RecordingContext | None = None, **payload: Any
) -> Outcome:
    """One attempt; `from_` is written so because of Python."""
    executor = SyncExecutor(places)
    payload = {key.rstrip("_"): value for key, value in payload.items()}
    await executor.open()
    try:
        return await executor.run(executor.read("sync", payload), context or RecordingContext())
    finally:
        await executor.close()


def result_of(outcome: Outcome) -> dict[str, Any]:
    result = getattr(outcome, "result", None)
    assert isinstance(result, dict), outcome
    return result


class HookedContext(RecordingContext):
    """Calls back when the first bytes of a file have been sent."""

    def progress(self, fraction: float, message: str = "") -> None:
        RecordingContext.progress(self, fraction, message)
        self.hook()

    def hook(self) -> None:
        raise NotImplementedError


async def cancelled_midway(places: tuple[SyncPlace, ...], **payload: Any) -> bool:
    """Cancel an attempt when the first bytes have been sent; whether it ended by that."""
    begun = asyncio.Event()

    class Watched(HookedContext):
        def hook(self) -> None:
            begun.set()

    copying = asyncio.create_task(sync(places, Watched(), **payload))
    waiting = asyncio.create_task(begun.wait())
    await asyncio.wait([copying, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    copying.cancel()
    await asyncio.wait([copying])
    return copying.cancelled()


async def silent_server() -> asyncio.Server:
    """Accepts whoever comes and says nothing."""

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()

    return await asyncio.start_server(listen, "127.0.0.1", 0)
