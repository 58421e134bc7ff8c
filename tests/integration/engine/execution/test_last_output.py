"""A run that has ended has all its output: what it wrote last is stored before its ending (E14)."""

from typing import Any

from tests.support.shop import open_shop

from rota.core.executor import AttemptContext, Stream

RUNS = 30


async def test_whoever_sees_the_end_of_a_run_sees_everything_it_wrote(database: str) -> None:
    async with open_shop(database) as shop:

        @shop.handlers.handler("speak")
        async def speak(context: AttemptContext, _payload: Any) -> None:
            for number in range(5):
                context.write(Stream.STDOUT, f"line {number}\n".encode())
                context.write(Stream.STDERR, b"and an error\n")

        told = []
        async with shop.worker():
            for _ in range(RUNS):
                run_id = await shop.submit("speak")
                await shop.ends(run_id)
                pieces = await shop.conn.fetch(
                    "select chunk from rota.run_logs where run_id = $1 and stream = 1", run_id
                )
                told.append(b"".join(row[0] for row in pieces).count(b"line"))

    assert told == [5] * RUNS
