"""A TCP proxy in a process of its own, which a test freezes to make a network fall silent.

While it is frozen the kernel still takes connections and bytes, and nothing comes back: the worst
that a broken network does. Thawed, it delivers what was on its way, late.

As a program: `python silent_proxy.py LISTEN_PORT TARGET_PORT`.
"""

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(kw_only=True)
class SilentProxy:
    port: int
    tree: "ProcessTree"


@contextmanager
def running_silent_proxy(folder: Path, target: int) -> Iterator[SilentProxy]:
    """A proxy in front of a port of this machine."""
    port = find_free_ports(1)[0]
    command = [sys.executable, "-S", __file__, str(port), str(target)]
    tree = ProcessTree.start("proxy", command, log=folder / "proxy.log")
    try:
        wait_until(lambda: is_listening(port), "the proxy")
        yield SilentProxy(port=port, tree=tree)
    finally:
        tree.end()


async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()
    target.transport.abort()


async def serve(port: int, target: int) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, beyond = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(carry(reader, beyond), carry(there, writer))

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2])))
else:
    # The program needs the standard library only and starts without ours.
    from tests.support.guarded import ProcessTree, wait_until
    from tests.support.ports import find_free_ports
    from tests.support.postgres import is_listening
