"""Packages that the tests need are installed also beside another package manager."""

import io
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tools import system_packages

HOLDER = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


class Said(io.TextIOBase):
    """A stream that another thread writes to."""

    def __init__(self) -> None:
        self._text = ""
        self._written = threading.Condition()

    def write(self, text: str) -> int:
        with self._written:
            self._text += text
            self._written.notify_all()
        return len(text)

    def wait_for(self, text: str) -> None:
        with self._written:
            assert self._written.wait_for(lambda: text in self._text, timeout=60), self._text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root folder with the locks of a system on which nothing is installed."""
    for name in system_packages.LOCK_FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "var/lib/dpkg/status").touch()
    return tmp_path


@contextmanager
def held(lock: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock until its standard input closes."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, lock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.communicate()


@pytest.mark.parametrize("name", system_packages.LOCK_FILES)
def test_a_lock_is_waited_for_and_its_holder_is_named(
    root: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with held(root / name) as holder:
        over = system_packages.wait_for_locks(root, timeout_s=0)

        assert not over
        assert f"process {holder.pid} holds {root / name}; waiting" in capsys.readouterr().err
    assert system_packages.wait_for_locks(root, timeout_s=0)


@pytest.mark.skipif(
    shutil.which("apt-get", path=system_packages.PATH) is None,
    reason="a system without apt has none of its locks",
)
def test_apt_installs_when_the_lock_is_free_and_not_before(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = Said()
    # A thread writes to it while this one reads, which a captured stream does not bear.
    monkeypatch.setattr(sys, "stderr", said)
    folders = {"State": "lib/apt", "State::status": "lib/dpkg/status", "Cache": "cache/apt"}
    options = tuple(f"-oDir::{name}={root}/var/{path}" for name, path in folders.items())
    done: list[bool] = []
    installing = threading.Thread(
        target=lambda: done.append(system_packages.install([], root=root, options=options))
    )

    with held(root / "var/lib/dpkg/lock-frontend"):
        installing.start()
        said.wait_for("waiting up to")
        before = list(done)
    installing.join(timeout=60)

    assert (before, done) == ([], [True])
