"""What the tests of the embedded server share: homes, people and ways to ask.

Making a cluster takes a second, so most tests use one home, one after the other. Each leaves it
whole and stopped; the fixture sees to the latter.
"""

import asyncio
import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from tests.support.processes import Person, User, myself

from rota.store.embedded import start
from rota.store.embedded.binaries import find_in_wheels
from rota.store.embedded.install_copies import copy_install
from rota.store.embedded.locks import FileLock
from rota.store.embedded.polling import wait_until

SOON = 20.0
CODE = Path(__file__).parents[3]
# The last one is what asyncpg says when a server dies between two statements.
GONE = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


def ask(url: str, question: str) -> Any:
    """Ask one question on a connection of its own."""

    async def asking() -> Any:
        connection = await asyncpg.connect(url, timeout=5)
        try:
            return await connection.fetchval(question)
        finally:
            await connection.close()

    return asyncio.run(asking())


def answers(url: str) -> bool:
    try:
        return bool(ask(url, "select 1") == 1)
    except GONE:
        return False


def is_gone(home: Path) -> bool:
    """Whether the last process of the server is gone: all of them carry this lock."""
    with FileLock(home / "server.lock") as lock:
        return lock.try_exclusive()


def is_kept(home: Path) -> bool:
    with FileLock(home / "keeper.lock") as lock:
        return not lock.try_exclusive()


def has_stopped(home: Path) -> bool:
    return is_gone(home) and not is_kept(home)


@pytest.fixture
def area() -> Iterator[Path]:
    """A new folder with a short path that every user can pass through, unlike pytest's own."""
    folder = public_folder()
    yield folder
    for lock in folder.rglob("users.lock"):
        await_stop(lock.parent)
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def old_home() -> Iterator[Path]:
    folder = public_folder()
    start(folder / "home").close()
    yield folder / "home"
    shutil.rmtree(folder)


@pytest.fixture
def home(old_home: Path) -> Iterator[Path]:
    """A home that was used before and is not in use now."""
    await_stop(old_home)
    yield old_home
    await_stop(old_home)


def public_folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="rota-test-", dir="/tmp"))
    folder.chmod(0o755)
    return folder


def await_stop(home: Path) -> None:
    assert wait_until(lambda: has_stopped(home), seconds=SOON), f"the server of {home} still runs"


@contextlib.contextmanager
def without(path: Path) -> Iterator[None]:
    """Take a file or folder away for a while."""
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)
    try:
        yield
    finally:
        aside.rename(path)


@pytest.fixture
def user() -> Iterator[Callable[..., User]]:
    """Make processes that use a home; none outlives the test."""
    begun: list[User] = []

    def begin(home: Path, **options: Any) -> User:
        begun.append(User.begin(home, **options))
        return begun[-1]

    yield begin
    for process in begun:
        process.end()


def python_for(uid: int) -> str | None:
    """Find an interpreter that a user can run: ours may lie where only its owner gets."""
    asked = "import sys; sys.exit(sys.version_info < (3, 11))"
    for python in (str(Path(sys.executable).resolve()), "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            done = subprocess.run(
                [python, "-c", asked], check=False, cwd="/", user=uid, extra_groups=()
            )
            if done.returncode == 0:
                return python
    return None


def people() -> list[str]:
    """Name the users that this machine lets us be: root can also be nobody."""
    if os.geteuid() == 0 and python_for(pwd.getpwnam("nobody").pw_uid):
        return ["me", "nobody"]
    return ["me"]


@pytest.fixture(scope="session")
def staged() -> Iterator[Path]:
    """Copies of the code and the programs that any user can read."""
    folder = Path(tempfile.mkdtemp(prefix="rota-staged-", dir="/tmp"))
    folder.chmod(0o755)
    shutil.copytree(CODE / "src" / "rota", folder / "src" / "rota")
    shutil.copy(CODE / "tests" / "support" / "processes.py", folder / "program.py")
    copy_install(next(find_in_wheels()), into=folder)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=people())
def person(request: pytest.FixtureRequest, staged: Path) -> Person:
    """Everybody we can be, one after the other."""
    return myself() if request.param == "me" else another(request.param, staged)


@pytest.fixture
def unprivileged(staged: Path) -> Person:
    """Somebody who is not root: whom permissions apply to."""
    return another("nobody", staged) if "nobody" in people() else myself()


def another(name: str, staged: Path) -> Person:
    entry = pwd.getpwnam(name)
    return Person(
        name=entry.pw_name,
        uid=entry.pw_uid,
        gid=entry.pw_gid,
        python=python_for(entry.pw_uid) or sys.executable,
        source=staged / "src",
        program=staged / "program.py",
        binaries=copy_install(next(find_in_wheels()), into=staged),
    )
