"""Every command writes through one writer (F12)."""

import ast
import io
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from rota.cli.terminal import EscapingStream, escape_output, raw_output

SOURCE = Path(__file__).parents[3] / "src"
COMMANDS = [*(SOURCE / "rota" / "cli").rglob("*.py"), SOURCE / "rota_bench" / "command.py"]
# Who may write past it: cursor movements of our own, what rich draws, bytes that were asked for.
RAW_USERS = {"terminal", "logs", "top", "watch", "backfills", "graphs", "jobs_as_code"}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def calls() -> Iterator[tuple[str, ast.Call]]:
    for file in COMMANDS:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call):
                yield file.stem, node


def test_what_is_printed_is_escaped_in_a_pipe_and_keeps_colours_on_a_terminal() -> None:
    pipe, terminal = io.StringIO(), Terminal()
    for stream in (pipe, terminal):
        with redirect_stdout(stream), redirect_stderr(stream), escape_output():
            print("\x1b[31mred\x1b[0m \x1b[2J")  # noqa: T201 - what is tested
            sys.stderr.writelines(["a\x9bb\n"])

    assert pipe.getvalue() == "\\u001b[31mred\\u001b[0m \\u001b[2J\na\\u009bb\n"
    assert terminal.getvalue() == "\x1b[31mred\x1b[0m \\u001b[2J\na\\u009bb\n"


def test_the_streams_are_given_back_and_never_wrapped_twice() -> None:
    out = io.StringIO()
    with redirect_stdout(out):
        with escape_output(), escape_output():
            found = sys.stdout
            assert isinstance(found, EscapingStream)
            assert found.stream is out
            assert raw_output() is out
        assert sys.stdout is out


def test_only_a_few_modules_write_past_the_writer() -> None:
    users = {
        module
        for module, call in calls()
        if isinstance(call.func, ast.Name) and call.func.id == "raw_output"
    }

    assert users <= RAW_USERS


def test_no_module_reaches_for_the_streams_behind_it() -> None:
    behind = ("sys.__stdout__", "sys.__stderr__", "sys.stdout.buffer", "sys.stderr.buffer")
    for file in COMMANDS:
        for node in ast.walk(ast.parse(file.read_text())):
            assert not (isinstance(node, ast.Attribute) and ast.unparse(node) in behind), file


def test_what_rich_draws_goes_to_a_stream_that_was_chosen() -> None:
    for module, call in calls():
        if isinstance(call.func, ast.Name) and call.func.id == "Console":
            assert [each.arg for each in call.keywords] == ["file"], module
