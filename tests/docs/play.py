"""Carries out the blocks of a page, as a reader with two terminals would."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from queue import Queue
from typing import Final

import yaml
from tests.docs.pages import Block, Command, commands, fits

BIN: Final = Path(sys.executable).parent
# What goes on until it is stopped, and how it says that it is ready.
SERVERS: Final = {"rota up": "Rota is up", "rota worker ": "worker ready"}
LONGEST: Final = 120.0
# Only root starts programs as another user; the page says that others leave it out.
OTHER_USER: Final = re.compile(r"(?m)^shell_user = .*\n")


@dataclass
class Play:
    """A page in a folder of its own, with a port of its own. `rota` and `python` are those of the
    folder `programs`.
    """

    folder: Path
    programs: Path = BIN
    running: list["subprocess.Popen[str]"] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        port = free_port()
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ROTA_")}
        self.environment = (
            kept
            | {
                "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
                "ROTA_API__PORT": str(port),
                "ROTA_URL": f"http://127.0.0.1:{port}",
                "COLUMNS": "100",
                "NO_COLOR": "1",
            }
            | self.environment
        )

    def carry_out(self, block: Block) -> None:
        if block.word == "not run":
            return
        if block.word in {"file", "append"}:
            target = self.folder / block.value
            target.parent.mkdir(parents=True, exist_ok=True)
            before = target.read_text() if block.word == "append" else ""
            body = block.body if os.geteuid() == 0 else OTHER_USER.sub("", block.body)
            # As an editor leaves it: two empty lines between two functions.
            target.write_text(f"{before}\n\n{body}" if before else body)
            return
        match block.language:
            case "python":
                self.python(block.body)
            case "console" | "sh":
                found = list(commands(block.body))
                assert found, "no line begins with a prompt: what is to be run here?"
                for command in found:
                    self.command(command, code=int(block.value) if block.word == "fails" else 0)
            case "json":
                json.loads(block.body)
            case "toml":
                tomllib.loads(block.body)
            case "yaml":
                list(yaml.safe_load_all(block.body))
            case other:
                raise AssertionError(f"nobody knows how to run {other!r}")

    def python(self, code: str) -> None:
        if "def test_" in code:
            name = f"test_block_{len(list(self.folder.glob('test_block_*')))}.py"
            (self.folder / name).write_text(code)
            self.run(
                [
                    str(self.programs / "python"),
                    "-m",
                    "pytest",
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    name,
                ]
            )
        else:
            (self.folder / "block.py").write_text(code)
            self.run([str(self.programs / "python"), "block.py"])

    def command(self, command: Command, *, code: int) -> None:
        if command.text.startswith(tuple(SERVERS)) and "--help" not in command.text:
            self.serve(command.text)
            return
        if command.text.startswith("cd "):
            self.folder = self.folder / command.text[3:]
            return
        said = self.run(["bash", "-ec", command.text], code=code)
        if command.printed is not None:
            shown = f"the page shows\n{command.printed}\nand it printed\n{said}"
            assert fits(said, command.printed), shown

    def run(self, arguments: list[str], *, code: int = 0) -> str:
        done = subprocess.run(
            arguments,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST,
            check=False,
        )
        assert done.returncode == code, (
            f"{arguments[-1]}\nended with {done.returncode}: {done.stdout}"
        )
        return done.stdout

    def serve(self, command: str) -> None:
        """Start it in the background and wait until it is ready. What is started again was stopped
        before: a reader does that with Ctrl-C.
        """
        if any(each.args == ["bash", "-c", f"exec {command}"] for each in self.running):
            self.stop()
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.running.append(process)
        lines: Queue[str] = Queue()
        threading.Thread(target=forward, args=(process, lines), daemon=True).start()
        (ready,) = (word for begins, word in SERVERS.items() if command.startswith(begins))
        said = ""
        while ready not in said:
            line = lines.get(timeout=LONGEST)
            assert line, f"{command} ended: {said}"
            said += line

    def stop(self) -> None:
        running, self.running = self.running, []
        for process in reversed(running):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def forward(process: "subprocess.Popen[str]", lines: "Queue[str]") -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put("")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])
