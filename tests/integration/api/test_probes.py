"""Health probes: answered on their own listener while nothing else is (O6)."""

import asyncio
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.support.ports import find_free_ports
from tests.support.raw_http import HALF_HEAD, Dial, request, status_of
from tests.support.serving import Served, serving
from tests.support.shop import until

from rota.config.observe import ObserveSettings
from rota.core.errors import InvalidSetting
from rota.runtime import observe_listener

PATIENCE_S = 20.0


def probe(url: str) -> int:
    """The status of a probe, asked outside of any event loop."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


async def test_probes_are_answered_on_a_port_of_their_own(api: Served) -> None:
    assert api.observe_url is not None
    assert api.observe_url != api.url

    statuses = [
        await asyncio.to_thread(probe, f"{api.observe_url}{path}")
        for path in ("/livez", "/healthz", "/readyz?verbose", "/v1/jobs")
    ]

    assert statuses == [200, 200, 200, 404]


async def test_other_methods_are_refused(api: Served, dial: Dial) -> None:
    assert api.observe_url is not None
    conn = await dial(api.observe_url)
    await conn.send(b"POST /metrics HTTP/1.1\r\nhost: a\r\ncontent-length: 0\r\n\r\n")

    assert status_of(await conn.read_to_end()) == 405


async def test_probes_are_answered_while_the_event_loop_is_blocked(api: Served) -> None:
    with ThreadPoolExecutor() as pool:
        asked = [
            pool.submit(probe, f"{api.observe_url}{path}")
            for path in ("/livez", "/readyz", "/metrics")
        ]
        # Waits in the loop's own thread: the API answers nothing until all are answered.
        statuses = [each.result(timeout=PATIENCE_S) for each in asked]

    assert statuses == [200, 200, 200]


async def test_probes_are_answered_while_all_connections_are_half_open(
    database: str, tmp_path: Path, dial: Dial
) -> None:
    limits: dict[str, Any] = {"client_connections": 16, "client_connections_per_address": 16}
    async with serving(database, tmp_path, **limits) as api:
        await dial.many(api.url, 200, HALF_HEAD)

        assert await asyncio.to_thread(probe, f"{api.observe_url}/readyz") == 200
        assert await asyncio.to_thread(probe, f"{api.url}/readyz") == 200


async def test_a_process_that_stops_is_not_ready(api: Served) -> None:
    before = (await api.stranger().get("/readyz")).status
    api.stop.request()

    async def is_not_ready() -> bool:
        try:
            return await asyncio.to_thread(probe, f"{api.observe_url}/readyz") == 503
        except OSError:
            return True

    assert before == 200
    assert await until(is_not_ready)


async def test_half_a_probe_is_closed_and_many_give_way(
    api: Served, dial: Dial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observe_listener, "PROBE_TIMEOUT_S", 0.2)
    monkeypatch.setattr(observe_listener, "PROBE_CONNECTIONS_MAX", 5)
    assert api.observe_url is not None
    half = await dial.many(api.observe_url, 20, b"GET /livez")
    whole = await dial(api.observe_url)
    await whole.send(request("/livez"))
    large = await dial(api.observe_url)
    await large.send(b"GET /livez HTTP/1.1\r\nX-Filler: ".ljust(10_000, b"y"))

    assert status_of(await whole.read_to_end()) == 200
    assert [await each.read_to_end() for each in (*half, large)] == [b""] * 21


async def test_several_processes_find_each_a_port_and_one_can_do_without(
    database: str, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
    async with (
        serving(database, tmp_path / "a") as first,
        serving(database, tmp_path / "a") as second,
        serving(database, tmp_path / "a", observe=ObserveSettings(listen="off")) as third,
    ):
        urls = [first.observe_url, second.observe_url, third.observe_url]

    assert len({url for url in urls if url is not None}) == 2
    assert urls[2] is None


async def test_a_port_that_was_asked_for_is_taken_or_refused(database: str, tmp_path: Path) -> None:
    (port,) = find_free_ports(1)
    listen = f"127.0.0.1:{port}"
    async with serving(database, tmp_path, observe=ObserveSettings(listen=listen)) as api:
        assert api.observe_url == f"http://{listen}"
        with pytest.raises(InvalidSetting, match=r'observe.listen.*already in use.*"auto"'):
            async with serving(database, tmp_path, observe=ObserveSettings(listen=listen)):
                pass
    with pytest.raises(InvalidSetting, match=r"0\.0\.0\.0:7071"):
        async with serving(database, tmp_path, observe=ObserveSettings(listen="7071")):
            pass


async def test_probes_are_in_no_bucket(database: str, tmp_path: Path) -> None:
    async with serving(database, tmp_path, unknown_per_second=1) as api:
        strangers = [await api.stranger("wrong").get("/v1/whoami") for _ in range(8)]
        probes = [await api.stranger().get(path) for path in ("/healthz", "/readyz") * 10]

    assert {each.status for each in strangers} <= {401, 429}
    assert {each.status for each in probes} == {200}
