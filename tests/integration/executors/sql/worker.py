"""A worker process with the kinds `sql` and `etl`, to be killed: `worker.py DATABASE SETTINGS`.

`rota worker` itself refuses the tests' database, which trades durability for speed.
"""

import asyncio
import os
import sys
from pathlib import Path

from tests.support.shop import open_shop

from rota.config.loader import load_settings
from rota.processes.built_in_executors import build_etl_executor, build_sql_executor
from rota.processes.executor_factory import ExecutorSetup


async def main(database: str, settings: str) -> None:
    read = load_settings(environment={}, file=Path(settings), default_files=())
    setup = ExecutorSetup(settings=read, environment=os.environ)
    sql, etl = build_sql_executor(setup), build_etl_executor(setup)
    assert sql is not None
    assert etl is not None
    async with open_shop(database) as shop:
        shop.others = (lambda: sql, lambda: etl)
        async with shop.worker():
            await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
