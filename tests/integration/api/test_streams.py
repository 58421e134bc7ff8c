"""The live feed and followed logs: how many, and what they cost (T1, O2)."""

import asyncio
from datetime import UTC, datetime
from uuid import UUID

from tests.support.raw_http import Dial, RawConnection, request, status_of
from tests.support.serving import Served
from tests.support.shop import until

from rota.api.streams import StreamLimits
from rota.engine.observability.log_tails import LogTails
from rota.store import logs
from rota.store.driver import Connection
from rota.store.logs import LogPiece
from rota.store.pool import DatabaseAccess, open_pool

LIMITS = StreamLimits()
LINE_AT = datetime(2026, 11, 17, tzinfo=UTC)


async def waiting_run(api: Served) -> str:
    """A run that nobody will take."""
    made = await api.platform.post("/v1/jobs", {"kind": "nobody.serves.this"})
    return str(made.json["run_id"])


async def write_lines(conn: Connection, run_id: str, first: int, number: int) -> None:
    plain = UUID(run_id.removeprefix("run_"))
    places = range(first, first + number)
    await logs.append_pieces(
        conn, [LogPiece(plain, 1, seq, 1, LINE_AT, f"line {seq}\n".encode()) for seq in places]
    )


async def open_stream(dial: Dial, api: Served, path: str, key: str | None) -> RawConnection:
    raw = await dial(api.url)
    await raw.send(request(path, f"Authorization: Bearer {key}"))
    return raw


async def status_of_stream(raw: RawConnection) -> int:
    return status_of(await raw.reader.readuntil(b"\r\n\r\n"))


async def test_the_feed_and_followed_logs_share_one_limit_of_a_key(api: Served, dial: Dial) -> None:
    viewer = await api.caller("viewer")
    follow = f"/v1/runs/{await waiting_run(api)}/logs?follow=true"
    paths = ["/v1/feed", follow] * LIMITS.per_key

    raws = [await open_stream(dial, api, path, viewer.key) for path in paths]
    statuses = [await status_of_stream(raw) for raw in raws]
    other = await open_stream(dial, api, follow, api.platform.key)

    assert statuses.count(200) == LIMITS.per_key
    assert statuses.count(429) == LIMITS.per_key
    assert await status_of_stream(other) == 200


async def test_a_stream_that_was_closed_makes_room_for_another(api: Served, dial: Dial) -> None:
    key = (await api.caller("viewer")).key
    raws = [await open_stream(dial, api, "/v1/feed", key) for _ in range(LIMITS.per_key)]
    before = [await status_of_stream(raw) for raw in raws]
    raws[0].close()

    async def is_let_in() -> bool:
        return await status_of_stream(await open_stream(dial, api, "/v1/feed", key)) == 200

    assert set(before) == {200}
    assert await until(is_let_in)


async def test_all_followers_of_a_run_get_every_line_and_its_end(api: Served, dial: Dial) -> None:
    run_id = await waiting_run(api)
    await write_lines(api.conn, run_id, 0, 700)
    follow = f"/v1/runs/{run_id}/logs?follow=true"
    places = ["", "&after=1.599", "&after=1.698"]
    raws = [await open_stream(dial, api, f"{follow}{place}", api.platform.key) for place in places]
    for raw in raws:
        await raw.reader.readuntil(b'"text":"line 699')
    await write_lines(api.conn, run_id, 700, 3)
    await api.platform.post(f"/v1/runs/{run_id}/cancel")

    texts = [await raw.reader.readuntil(b"event: end") for raw in raws]

    for text in texts:
        assert [text.count(f"line {seq}\\n".encode()) for seq in (700, 701, 702)] == [1, 1, 1]


async def test_followers_share_one_look_at_their_run(api: Served) -> None:
    run_id = UUID((await waiting_run(api)).removeprefix("run_"))
    async with open_pool(DatabaseAccess(url=api.access.url), size=2) as pool:
        tails = LogTails(pool, clock=api.database_clock)

        async def follow(rounds: int) -> None:
            with tails.follow(1, run_id) as follower:
                for _ in range(rounds):
                    await follower.next_lines()

        await asyncio.gather(*(follow(4) for _ in range(50)))

    assert tails.looks < 12, "fifty who look four times each would be 200"


async def test_a_place_that_is_not_there_yet_holds_up_nobody(api: Served) -> None:
    run_id = await waiting_run(api)
    plain = UUID(run_id.removeprefix("run_"))
    async with open_pool(DatabaseAccess(url=api.access.url), size=2) as pool:
        tails = LogTails(pool, clock=api.database_clock)
        with tails.follow(1, plain, after=(9, 9)), tails.follow(1, plain) as follower:
            first = await follower.next_lines()
            await write_lines(api.conn, run_id, 0, 3)

            async def read() -> int:
                return len(await follower.next_lines())

            assert len(first) == 0
            assert await until(read) == 3
