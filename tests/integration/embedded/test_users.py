"""Who uses the server decides how long it lives, however the users end. Proves O1."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import asyncpg
from tests.integration.embedded.conftest import SOON, answers, ask, has_stopped, is_gone
from tests.support.processes import User, postmaster_of

from rota.store.embedded import start
from rota.store.embedded.polling import wait_until

Begin = Callable[..., User]


def test_eight_processes_racing_for_a_new_home_share_one_server(area: Path, user: Begin) -> None:
    home = area / "home"

    users = [user(home, durable=False) for _ in range(8)]
    urls = {each.arrive().url for each in users}
    began = {ask(each.url, "select pg_postmaster_start_time()") for each in users}

    assert len(urls) == 1
    assert len(began) == 1


def test_a_killed_user_does_not_take_the_server_from_another(home: Path, user: Begin) -> None:
    first, second = user(home).arrive(), user(home).arrive()
    server = postmaster_of(home)

    first.kill()
    assert not is_gone(home)
    assert answers(second.url)
    assert postmaster_of(home) == server
    second.leave()

    assert wait_until(lambda: has_stopped(home), seconds=SOON)


def test_the_server_stops_by_itself_when_its_only_user_is_killed(home: Path, user: Begin) -> None:
    only = user(home).arrive()

    only.kill()

    assert wait_until(lambda: has_stopped(home), seconds=SOON)
    assert not (home / "data" / "postmaster.pid").exists()
    assert not (home / "endpoint.json").exists()


def test_a_user_killed_while_the_server_starts_leaves_nothing_running(
    area: Path, user: Begin
) -> None:
    home = area / "home"
    impatient = user(home, durable=False)
    assert wait_until(lambda: any(home.glob("init-*")), seconds=SOON)

    impatient.kill()

    assert wait_until(lambda: has_stopped(home), seconds=SOON)


def test_open_sessions_do_not_hold_up_the_stop(home: Path) -> None:
    async def leave_with_a_session_open() -> None:
        with await asyncio.to_thread(start, home) as server:
            connection = await asyncpg.connect(server.url)
        assert await asyncio.to_thread(wait_until, lambda: has_stopped(home), seconds=SOON)
        connection.terminate()

    asyncio.run(leave_with_a_session_open())
