"""Real programs under the shell executor: streams, environment, endings, limits (E17)."""

import asyncio
import json
import os
import pwd
import sys
from pathlib import Path

import pytest

from rota.core.executor import Stream
from rota.core.outcome import Failed, Outcome, Succeeded
from rota.executors.shell import ShellExecutor, ShellLimits
from rota.executors.shell.limits import MEGABYTE
from rota.sdk.testing import RecordingContext

PYTHON = os.path.realpath(sys.executable)


async def run(
    *argv: str,
    context: RecordingContext | None = None,
    executor: ShellExecutor | None = None,
    **payload: object,
) -> Outcome:
    executor = executor or ShellExecutor(allow=("*",))
    spec = executor.read("shell", {"argv": list(argv), **payload})
    return await executor.run(spec, context or RecordingContext())


async def python(code: str, **more: object) -> Outcome:
    return await run(PYTHON, "-I", "-S", "-c", code, **more)  # type: ignore[arg-type]


def tail_of(outcome: Outcome) -> str:
    assert isinstance(outcome, Succeeded)
    assert isinstance(outcome.result, dict)
    return str(outcome.result["stdout_tail"])


def exists(path: str) -> bool:
    return Path(path).exists()


async def test_output_goes_to_the_log_and_its_end_into_the_result() -> None:
    context = RecordingContext()

    outcome = await run("/bin/sh", "-c", "echo out; echo err >&2", context=context)

    assert outcome == Succeeded(result={"exit_code": 0, "stdout_tail": "out\n"})
    assert context.output_of(Stream.STDOUT).text == "out\n"
    assert context.output_of(Stream.STDERR).text == "err\n"


async def test_arguments_arrive_as_they_were_written() -> None:
    awkward = ["", " ", "$(id)", "; rm -rf /", "`id`", "a\nb", "'\"\\", "*", "ü", "--", "&& id"]

    code = "import sys, json; print(json.dumps(sys.argv[1:]))"
    outcome = await run(PYTHON, "-I", "-S", "-c", code, *awkward)

    assert json.loads(tail_of(outcome)) == awkward


async def test_the_environment_is_clean_and_says_which_run_this_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROTA_DATABASE_URL", "postgresql://secret@host/db")
    monkeypatch.setenv("SOME_SECRET", "s3cr3t")
    context = RecordingContext(attempt=3)

    outcome = await run("/usr/bin/env", env={"MODE": "fast", "LANG": "C"}, context=context)

    lines = tail_of(outcome).splitlines()
    seen = dict(line.split("=", 1) for line in lines)
    home = seen.pop("HOME")
    assert seen.pop("TMPDIR") == home
    assert seen.pop("PATH").startswith("/usr/local/sbin:")
    assert seen == {
        "MODE": "fast",
        "LANG": "C",
        "ROTA_RUN_ID": str(context.run_id),
        "ROTA_ATTEMPT": "3",
        "ROTA_IDEMPOTENCY_KEY": context.idempotency_key,
        "ROTA_SCHEDULED_AT": "2030-01-01T09:00:00Z",
    }


async def test_no_file_of_the_worker_is_open_in_the_program() -> None:
    outcome = await python("import os; print(sorted(os.listdir('/proc/self/fd'), key=int))")

    # The fourth is the folder that is being listed.
    assert tail_of(outcome) == "['0', '1', '2', '3']\n"


async def test_it_works_in_a_private_folder_that_is_gone_afterwards() -> None:
    code = "mkdir -p a/b; echo x > a/b/c; stat -c %a .; pwd"

    outcome = await run("/bin/sh", "-c", code)

    mode, folder = tail_of(outcome).split()
    assert mode == "700"
    assert not exists(folder)


async def test_a_given_folder_is_used_and_stays(tmp_path: Path) -> None:
    outcome = await run("/bin/sh", "-c", "echo x > made; pwd", cwd=str(tmp_path))

    assert tail_of(outcome) == f"{tmp_path}\n"
    assert (tmp_path / "made").read_text() == "x\n"


async def test_standard_input_is_the_text_of_the_payload_or_empty() -> None:
    given = await run("/bin/cat", stdin="zwölf\n" * 10)
    empty = await run("/bin/cat")

    assert given == Succeeded(result={"exit_code": 0, "stdout_tail": "zwölf\n" * 10})
    assert empty == Succeeded(result={"exit_code": 0, "stdout_tail": ""})


async def test_an_exit_code_that_is_not_ok_is_a_failure_named_after_it() -> None:
    outcome = await run("/bin/sh", "-c", "echo no space left >&2; exit 3")

    assert isinstance(outcome, Failed)
    assert outcome.failure.type == "exit 3"
    assert outcome.failure.message == "/bin/sh exited with 3: no space left"
    assert not outcome.final


async def test_other_exit_codes_may_be_ok() -> None:
    outcome = await run("/bin/sh", "-c", "exit 24", ok_codes=[0, 24])

    assert outcome == Succeeded(result={"exit_code": 24, "stdout_tail": ""})


@pytest.mark.parametrize("name", ["KILL", "TERM", "SEGV"])
async def test_a_program_that_is_killed_fails_with_the_name_of_the_signal(name: str) -> None:
    outcome = await run("/bin/sh", "-c", f"kill -{name} $$")

    assert isinstance(outcome, Failed)
    assert outcome.failure.type == f"signal SIG{name}"


@pytest.mark.parametrize(
    ("argv", "cwd"), [(["/no/such/program"], None), (["/etc/passwd"], None), (["/bin/true"], "/no")]
)
async def test_a_program_that_cannot_start_says_why(argv: list[str], cwd: str | None) -> None:
    outcome = await run(*argv, cwd=cwd)

    assert isinstance(outcome, Failed)
    assert outcome.failure.type == "cannot start"
    assert argv[0] in outcome.failure.message
    assert "Error" in outcome.failure.message


async def test_the_tail_is_at_most_four_kilobytes_of_text_that_json_can_hold() -> None:
    outcome = await python("import os; os.write(1, b'\\xff\\0' * 9000 + b'end')")

    tail = tail_of(outcome)
    assert tail.endswith("end")
    assert "\0" not in tail
    assert 4000 < len(tail.encode()) <= 4096


async def test_a_program_may_use_no_more_memory_than_it_is_given() -> None:
    executor = ShellExecutor(allow=("*",), limits=ShellLimits(memory=64 * MEGABYTE))

    modest = await python("bytearray(8 << 20)", executor=executor)
    greedy = await python("bytearray(128 << 20)", executor=executor)

    assert isinstance(modest, Succeeded)
    assert isinstance(greedy, Failed)
    assert "MemoryError" in greedy.failure.message


async def test_limits_hold_and_privileges_cannot_grow() -> None:
    executor = ShellExecutor(allow=("*",), limits=ShellLimits(open_files=77))
    code = (
        "import resource as r; print(r.getrlimit(r.RLIMIT_NOFILE), r.getrlimit(r.RLIMIT_CORE));"
        "print([l for l in open('/proc/self/status') if l.startswith('NoNewPrivs')])"
    )

    outcome = await python(code, executor=executor)

    expected = "(77, 77) (0, 0)\n['NoNewPrivs:\\t1\\n']\n"
    assert tail_of(outcome) == expected


async def test_programs_may_run_as_a_user_of_their_own() -> None:
    """As root only; anybody else can only stay who he is."""
    me = pwd.getpwuid(os.geteuid())
    user = "nobody" if me.pw_uid == 0 else me.pw_name
    executor = ShellExecutor(allow=("*",), user=user)

    outcome = await run("/bin/sh", "-c", "id -un; touch mine && echo wrote", executor=executor)

    if me.pw_uid == 0:
        assert outcome == Succeeded(result={"exit_code": 0, "stdout_tail": "nobody\nwrote\n"})
    else:  # a change of groups needs privileges: refused, not ignored
        assert isinstance(outcome, Failed)
        assert outcome.failure.type == "cannot start"


class WeighingContext(RecordingContext):
    """Looks at the memory of this process while output comes in."""

    peak = 0

    def write(self, stream: Stream, chunk: bytes) -> None:
        super().write(stream, chunk)
        WeighingContext.peak = max(self.peak, resident())


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_a_program_that_prints_without_end_does_not_grow_the_worker() -> None:
    """300 MB through a worker that keeps one (F58)."""
    context, before = WeighingContext(), resident()

    outcome = await run("/usr/bin/head", "-c", "300000000", "/dev/zero", context=context)

    assert isinstance(outcome, Succeeded)
    assert context.output_of(Stream.STDOUT).size == 300_000_000
    assert context.output_of(Stream.STDOUT).is_truncated
    assert context.peak - before < 16 * MEGABYTE


async def test_many_programs_at_once_keep_their_output_apart() -> None:
    contexts = [RecordingContext() for _ in range(10)]
    code = "i=0; while [ $i -lt 50 ]; do echo {0}; i=$((i+1)); done"

    await asyncio.gather(
        *(
            run("/bin/sh", "-c", code.format(n), context=context)
            for n, context in enumerate(contexts)
        )
    )

    for number, context in enumerate(contexts):
        assert context.output_of(Stream.STDOUT).text == f"{number}\n" * 50
