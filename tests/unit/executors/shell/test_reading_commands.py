"""What a shell payload may say (E17, limits of every input)."""

from datetime import timedelta

import pytest

from rota.contract.payloads.shell import ShellPayload
from rota.core.errors import InvalidInput, InvalidSetting
from rota.executors.shell import ShellExecutor, ShellLimits
from rota.executors.shell.spec import ARGUMENTS_MAX_BYTES, STDIN_MAX_BYTES, read_command
from rota.executors.shell.supervisor import ProgramOrder

ALLOWED = ("/bin/echo", "/usr/bin/rsync")


def read(**payload: object) -> ShellPayload:
    return read_command(payload, allow=ALLOWED)


def test_a_full_payload_is_read_with_all_its_fields() -> None:
    command = read(
        argv=["/bin/echo", "a b", ""],
        env={"MODE": "fast"},
        cwd="/srv",
        stdin="hello",
        ok_codes=[0, 24],
    )

    assert command == ShellPayload(
        argv=["/bin/echo", "a b", ""],
        env={"MODE": "fast"},
        cwd="/srv",
        stdin="hello",
        ok_codes=(0, 24),
    )


def test_what_is_left_out_has_its_default() -> None:
    command = read(argv=["/bin/echo"])

    assert (command.env, command.cwd, command.stdin) == ({}, None, None)
    assert command.ok_codes == (0,)


@pytest.mark.parametrize(
    ("payload", "field"),
    [
        ("echo hello", "payload"),
        (None, "payload"),
        ({"command": "echo"}, "payload.command"),
        ({}, "argv"),
        ({"argv": []}, "argv"),
        ({"argv": "/bin/echo hello"}, "argv"),
        ({"argv": ["/bin/echo", 1]}, "argv[1]"),
        ({"argv": ["/bin/echo", "a\0b"]}, "argv[1]"),
        ({"argv": ["/bin/echo", "\ud800"]}, "argv[1]"),
        ({"argv": ["/bin/echo", *"x" * 64]}, "argv"),
        ({"argv": ["/bin/echo", "x" * ARGUMENTS_MAX_BYTES]}, "argv"),
        ({"argv": ["echo"]}, "argv[0]"),
        ({"argv": ["./echo"]}, "argv[0]"),
        ({"argv": ["/bin/sh"]}, "argv[0]"),
        ({"argv": ["/bin/../bin/echo"]}, "argv[0]"),
        ({"argv": ["/bin//echo"]}, "argv[0]"),
        ({"argv": ["/bin/echo "]}, "argv[0]"),
        ({"argv": ["/bin/echo"], "env": ["A=b"]}, "env"),
        ({"argv": ["/bin/echo"], "env": {"A=B": "c"}}, "env"),
        ({"argv": ["/bin/echo"], "env": {"": "c"}}, "env"),
        ({"argv": ["/bin/echo"], "env": {"1A": "c"}}, "env"),
        ({"argv": ["/bin/echo"], "env": {"A": 1}}, "env.A"),
        ({"argv": ["/bin/echo"], "env": {"A": "\0"}}, "env.A"),
        ({"argv": ["/bin/echo"], "env": {"LD_PRELOAD": "/tmp/x.so"}}, "env"),
        ({"argv": ["/bin/echo"], "env": {"DYLD_INSERT_LIBRARIES": "x"}}, "env"),
        ({"argv": ["/bin/echo"], "env": {"ROTA_RUN_ID": "x"}}, "env"),
        ({"argv": ["/bin/echo"], "env": {f"V{n}": "" for n in range(65)}}, "env"),
        ({"argv": ["/bin/echo"], "env": {"A": "x" * ARGUMENTS_MAX_BYTES}}, "env"),
        ({"argv": ["/bin/echo"], "cwd": "srv"}, "cwd"),
        ({"argv": ["/bin/echo"], "cwd": 1}, "cwd"),
        ({"argv": ["/bin/echo"], "stdin": b"x"}, "stdin"),
        ({"argv": ["/bin/echo"], "stdin": "x" * (STDIN_MAX_BYTES + 1)}, "stdin"),
        ({"argv": ["/bin/echo"], "stdin": "\ud800"}, "stdin"),
        ({"argv": ["/bin/echo"], "ok_codes": []}, "ok_codes"),
        ({"argv": ["/bin/echo"], "ok_codes": [256]}, "ok_codes[0]"),
        ({"argv": ["/bin/echo"], "ok_codes": [True]}, "ok_codes[0]"),
        ({"argv": ["/bin/echo"], "ok_codes": 0}, "ok_codes"),
    ],
)
def test_a_wrong_payload_is_refused_by_the_name_of_its_field(payload: object, field: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        read_command(payload, allow=ALLOWED)

    assert refusal.value.field == field


def test_values_at_their_limits_are_accepted() -> None:
    command = read(
        argv=["/bin/echo", *"x" * 63],
        env={f"V{n}": "" for n in range(64)},
        stdin="x" * STDIN_MAX_BYTES,
        ok_codes=[0, 255],
    )

    assert len(command.argv) == len(command.env) == 64


def test_without_allowed_programs_there_is_no_such_kind() -> None:
    assert list(ShellExecutor().kinds) == []
    assert list(ShellExecutor(allow=ALLOWED).kinds) == ["shell"]


def test_a_star_allows_every_absolute_path_and_no_other() -> None:
    executor = ShellExecutor(allow=("*",))

    assert executor.read("shell", {"argv": ["/any/thing"]}).argv == ["/any/thing"]
    with pytest.raises(InvalidInput):
        executor.read("shell", {"argv": ["thing"]})


@pytest.mark.parametrize("program", ["echo", "./echo", "/bin//echo", "/bin/echo/", ""])
def test_an_allowed_program_has_one_absolute_spelling(program: str) -> None:
    with pytest.raises(InvalidSetting):
        ShellExecutor(allow=(program,))


def test_an_unknown_user_is_refused_when_the_worker_starts() -> None:
    with pytest.raises(InvalidSetting):
        ShellExecutor(allow=("*",), user="nobody-knows-this-user")


@pytest.mark.parametrize(
    "wrong",
    [{"memory": 1}, {"open_files": 0}, {"processes": 0}, {"cpu": timedelta(0)}, {"file_size": -1}],
)
def test_limits_that_no_program_could_live_with_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(InvalidSetting):
        ShellLimits(**wrong)  # type: ignore[arg-type]


def test_an_order_reaches_the_supervisor_as_it_was_written() -> None:
    order = ProgramOrder(
        argv=["/bin/echo", "", "a=b", "ü\n"],
        env={"EMPTY": "", "EQUALS": "a=b=c"},
        home="/tmp/x",
        cwd="/",
        limits={"RLIMIT_CORE": 0, "RLIMIT_NOFILE": 99},
    )

    size, body = order.encode()[:8], order.encode()[8:]
    read_back = ProgramOrder.decode(body)

    assert int(size) == len(body)
    assert all(getattr(read_back, name) == getattr(order, name) for name in ProgramOrder.__slots__)
