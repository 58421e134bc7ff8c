"""`rota api` as a process of its own, while hundreds of half requests are open (T1)."""

import asyncio
import resource
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.gated import durable_server
from tests.support.installation import PATIENCE, ROTA, clean
from tests.support.raw_http import HALF_HEAD, Dial

CONNECTIONS = 400
FEW_FILES = 256


@contextmanager
def api_process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """`rota api`, started with few open files allowed, and what it said: its addresses."""
    with durable_server() as server:
        yield from started(server.url, folder)


def started(database: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    settings = clean(
        ROTA_API__PORT="0",
        ROTA_API__CLIENT_CONNECTIONS=str(CONNECTIONS),
        ROTA_API__CLIENT_CONNECTIONS_PER_ADDRESS=str(CONNECTIONS),
        ROTA_DATABASE__URL=database,
        ROTA_DATABASE__DATA=str(folder),
    )
    process = subprocess.Popen(
        ["sh", "-c", f'ulimit -S -n {FEW_FILES}; exec "{ROTA}" api'],
        env=settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "probes and metrics at" in line:
                break
        yield process, said
    finally:
        process.kill()
        process.communicate()


def get(url: str, key: str | None = None) -> int:
    asked = urllib.request.Request(url)
    if key is not None:
        asked.add_header("Authorization", f"Bearer {key}")
    with urllib.request.urlopen(asked, timeout=PATIENCE) as response:
        return int(response.status)


async def test_keys_and_probes_are_served_while_hundreds_of_half_requests_are_open(
    tmp_path: Path,
) -> None:
    dial = Dial()
    with api_process(tmp_path) as (process, said):
        url = said[0].split()[2].rstrip(",")
        health = said[-1].split()[4].removesuffix("/readyz")
        key = (tmp_path / "admin.key").read_text().strip()
        try:
            await dial.many(url, 3 * CONNECTIONS // 2, HALF_HEAD)
            answers = [
                await asyncio.to_thread(get, f"{url}/v1/whoami", key),
                await asyncio.to_thread(get, f"{url}/readyz"),
                await asyncio.to_thread(get, f"{health}/livez"),
                await asyncio.to_thread(get, f"{health}/readyz"),
            ]
        finally:
            dial.close()
        soft, _ = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)

    assert answers == [200, 200, 200, 200]
    assert soft > CONNECTIONS
