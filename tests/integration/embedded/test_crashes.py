"""What is killed comes back, and nothing that was acknowledged is lost. Proves O1 and F48."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from tests.integration.embedded.conftest import (
    GONE,
    SOON,
    answers,
    ask,
    await_stop,
    has_stopped,
)
from tests.support.processes import PROC, User, innocent, keeper_of, kill, postmaster_of

from rota.core.errors import EmbeddedFailed
from rota.store.embedded import start
from rota.store.embedded.binaries import find_in_wheels
from rota.store.embedded.locks import FileLock
from rota.store.embedded.polling import wait_until

Begin = Callable[..., User]
WRITERS = 4
ENOUGH = 200


async def write_until_cut(url: str, crash: Callable[[], None]) -> set[int]:
    """Insert rows on several connections, crash in the middle, return what was acknowledged."""
    acknowledged: set[int] = set()
    enough = asyncio.Event()

    async def write(writer: int) -> None:
        connection = await asyncpg.connect(url)
        try:
            for number in range(writer, 1_000_000, WRITERS):
                await connection.execute("insert into acked values ($1)", number)
                acknowledged.add(number)
                if len(acknowledged) >= ENOUGH:
                    enough.set()
        except GONE:
            connection.terminate()

    async def strike() -> None:
        await enough.wait()
        await asyncio.to_thread(crash)

    async with asyncio.timeout(SOON):
        await asyncio.gather(strike(), *(write(writer) for writer in range(WRITERS)))
    return acknowledged


def empty_table(url: str) -> None:
    ask(url, "drop table if exists acked")
    ask(url, "create table acked (id int)")


def rows(url: str) -> set[int]:
    return set(ask(url, "select array_agg(id) from acked"))


def test_a_killed_server_comes_back_with_every_acknowledged_row(home: Path) -> None:
    with start(home) as server:
        empty_table(server.url)

        acknowledged = asyncio.run(write_until_cut(server.url, lambda: kill(postmaster_of(home))))

        assert wait_until(lambda: answers(server.url), seconds=SOON)
        assert acknowledged <= rows(server.url)


def test_a_server_that_is_killed_again_and_again_comes_back_each_time(home: Path) -> None:
    with start(home) as server:
        for _ in range(3):
            dead = postmaster_of(home)
            kill(dead)
            assert wait_until(lambda: answers(server.url), seconds=SOON)
            assert postmaster_of(home) != dead


def test_a_server_comes_back_on_its_socket_even_if_its_port_was_taken(home: Path) -> None:
    with start(home) as server, socket.socket() as thief:
        keeper = keeper_of(home)
        os.kill(keeper, signal.SIGSTOP)
        kill(postmaster_of(home))
        assert wait_until(lambda: takes(thief, server.tcp_url), seconds=SOON)
        os.kill(keeper, signal.SIGCONT)

        assert wait_until(lambda: answers(server.url), seconds=SOON)


def takes(thief: socket.socket, url: str) -> bool:
    thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        thief.bind(("127.0.0.1", urlsplit(url).port))
        thief.listen()
    except OSError:
        return False
    return True


def test_the_keeper_and_the_server_do_not_inherit_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_PASSWORD", "hunter2")
    monkeypatch.setenv("ROTA_DATABASE_URL", "postgresql://rota:hunter2@db/rota")

    with start(home):
        inherited = [
            (PROC / str(number) / "environ").read_bytes()
            for number in (keeper_of(home), postmaster_of(home))
        ]

    assert not [each for each in inherited if b"hunter2" in each]
    assert all(b"PATH=" in each for each in inherited)
    await_stop(home)


def test_a_new_keeper_goes_on_with_the_server_of_a_killed_one(home: Path) -> None:
    with start(home) as server:
        running = postmaster_of(home)
        kill(keeper_of(home))
        assert answers(server.url)

        with start(home) as newcomer:
            assert newcomer.url == server.url
            assert postmaster_of(home) == running

    await_stop(home)


def test_an_adopted_server_is_started_again_when_it_is_killed(home: Path, user: Begin) -> None:
    with start(home) as server:
        kill(keeper_of(home))
        user(home).arrive()

        kill(postmaster_of(home))

        assert wait_until(lambda: answers(server.url), seconds=SOON)


def test_a_user_gets_its_server_back_after_all_else_was_killed(home: Path) -> None:
    with start(home) as server:
        kill(keeper_of(home), postmaster_of(home))
        assert wait_until(lambda: not answers(server.url), seconds=SOON)

        server.ensure_running()

        assert answers(server.url)


def test_when_everything_is_killed_at_once_the_next_start_recovers(home: Path, user: Begin) -> None:
    victim = user(home).arrive()
    empty_table(victim.url)

    def kill_all() -> None:
        kill(keeper_of(home), postmaster_of(home), victim.process.pid)

    acknowledged = asyncio.run(write_until_cut(victim.url, kill_all))

    with start(home) as server:
        assert acknowledged <= rows(server.url)


def test_a_busy_session_of_a_dead_server_does_not_hold_up_the_next_one(
    home: Path, user: Begin
) -> None:
    """A session that computes does not notice for a long time that its server is dead."""
    victim = user(home).arrive()
    endless = "do $$ begin loop null; end loop; end $$"
    watching = "select count(*) from pg_stat_activity where query like 'do $$%'"

    with psql(victim.url, endless) as busy:
        assert wait_until(lambda: ask(victim.url, watching) == 1, seconds=SOON)
        kill(keeper_of(home), postmaster_of(home), victim.process.pid)
        with start(home) as server:
            assert answers(server.url)
            assert busy.wait(SOON) != 0


@contextlib.contextmanager
def psql(url: str, statement: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [str(next(find_in_wheels()) / "psql"), url, "-c", statement]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("name", ["postmaster.pid", ".s.PGSQL.{port}.lock"])
@pytest.mark.parametrize("state", ["alive", "a zombie"])
def test_a_stranger_named_by_a_stale_file_is_neither_trusted_nor_harmed(
    home: Path, name: str, state: str
) -> None:
    with start(home) as server:
        file = home / "data" / name.format(port=urlsplit(server.tcp_url).port)
        text = file.read_text()
    await_stop(home)
    owner = (home / "data").stat()

    with innocent(owner.st_uid) as stranger:
        if state == "a zombie":
            stranger.kill()  # nobody reaps it before the end of this test
        file.write_text("\n".join([str(stranger.pid), *text.splitlines()[1:]]) + "\n")
        os.chown(file, owner.st_uid, owner.st_gid)
        with start(home) as server:
            assert answers(server.url)
        await_stop(home)

        assert stranger.poll() is None if state == "alive" else stranger.wait() == -signal.SIGKILL


def test_no_second_server_starts_while_one_may_work_out_of_our_sight(home: Path) -> None:
    """Such as in another container, whose processes we cannot see but whose locks we share."""
    with FileLock(home / "server.lock") as elsewhere:
        assert elsewhere.try_exclusive()

        with pytest.raises(EmbeddedFailed, match="another server still uses"):
            start(home)


def test_a_keeper_that_is_told_to_stop_lets_its_users_finish(home: Path) -> None:
    with start(home) as server:
        os.kill(keeper_of(home), signal.SIGTERM)
        assert not wait_until(lambda: has_stopped(home), seconds=0.5)
        assert answers(server.url)

    assert wait_until(lambda: has_stopped(home), seconds=SOON)


def test_a_keeper_that_is_told_to_stop_twice_stops_at_once(home: Path) -> None:
    with start(home):
        keeper = os.pidfd_open(keeper_of(home))

        def told_again() -> bool:
            """Two signals that come close together are one to the kernel."""
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(keeper, signal.SIGTERM)
            return has_stopped(home)

        assert wait_until(told_again, seconds=SOON)
        os.close(keeper)


def test_a_server_whose_keeper_was_killed_still_ends_with_its_last_user(home: Path) -> None:
    with start(home):
        kill(keeper_of(home))

    assert wait_until(lambda: has_stopped(home), seconds=SOON)


def test_a_home_that_is_removed_under_its_server_is_let_go_of(area: Path) -> None:
    home = area / "home"
    with start(home, durable=False):
        server = postmaster_of(home)
        keeper = keeper_of(home)
        # The server removes and makes files meanwhile.
        assert wait_until(lambda: is_removed(home), seconds=SOON)
        kill(server)

        assert wait_until(lambda: not Path(f"/proc/{keeper}").exists(), seconds=SOON)


def is_removed(folder: Path) -> bool:
    """Remove what is there now; whether that was all."""
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()
