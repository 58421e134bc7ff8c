"""The output of a run that something outside carries out has the bound of every attempt."""

import asyncio

from tests.support.serving import Answer, Served

from rota.store.logs import ATTEMPT_LOG_MAX_BYTES, LOG_TRUNCATED_LINE

PIECE = 16_000


async def begin(api: Served) -> str:
    begun = await api.platform.post("/v1/runs/external", {"job": "backup", "host": "db1"})
    return str(begun.json["run_id"])


async def say(api: Served, run_id: str, first: int, number: int) -> Answer:
    output = [{"seq": first + at, "text": "x" * PIECE} for at in range(number)]
    return await api.platform.post(f"/v1/runs/{run_id}/external", {"output": output})


async def stored(api: Served) -> int:
    return int(await api.conn.fetchval("select sum(octet_length(chunk)) from rota.run_logs"))


async def test_output_beyond_the_bound_is_cut_once_and_visibly(api: Served) -> None:
    run_id = await begin(api)
    for first in range(0, 200, 40):
        assert (await say(api, run_id, first, 40)).status == 200
    logs = (await api.platform.get(f"/v1/runs/{run_id}/logs?limit=1000")).json

    assert await stored(api) == ATTEMPT_LOG_MAX_BYTES + len(LOG_TRUNCATED_LINE)
    assert logs["data"][-1]["text"] == LOG_TRUNCATED_LINE.decode()
    # Who follows the log can go on from the last line.
    after = await api.platform.get(f"/v1/runs/{run_id}/logs?after={logs['cursor']}")
    assert (after.status, after.json["data"]) == (200, [])


async def test_several_who_tell_at_once_do_not_pass_the_bound_together(api: Served) -> None:
    run_id = await begin(api)
    told = await asyncio.gather(*(say(api, run_id, first, 40) for first in range(0, 320, 40)))

    assert {each.status for each in told} == {200}
    assert await stored(api) == ATTEMPT_LOG_MAX_BYTES + len(LOG_TRUNCATED_LINE)


async def test_a_piece_that_comes_twice_takes_no_room(api: Served) -> None:
    run_id = await begin(api)
    for _ in range(5):
        await say(api, run_id, 0, 40)

    assert await stored(api) == 40 * PIECE
