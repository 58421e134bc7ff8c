"""`rota status`: problems first, and an exit code for monitoring (I12)."""

from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import pytest
from tests.support.installation import Installation, Said, ran

from rota.cli.problem_lines import has_bad


def paused_queue(installation: Installation) -> str:
    """A paused queue in which a run waits."""
    queue = f"q{uuid4().hex[:8]}"
    installation.rota("jobs", "create", queue, "--kind", "kit.greet", "--queue", queue)
    installation.rota("queues", "pause", queue)
    return queue


def clear(installation: Installation, queue: str) -> None:
    installation.rota("queues", "resume", queue)
    installation.rota("runs", "cancel", "--queue", queue, "--since", "1d", "--yes")


def test_a_status_begins_with_the_problems_and_their_remedies(installation: Installation) -> None:
    queue = paused_queue(installation)
    try:
        said = installation.rota("status")
        plain = installation.rota("status", "--json")
    finally:
        clear(installation, queue)

    at = next(number for number, line in enumerate(said.lines) if queue in line)
    assert said.code == 0
    assert said.lines[at].startswith(
        f"warning  Queue {queue} is paused for all tenants; 1 run cannot start. (for "
    )
    assert f"→ A platform administrator resumes it with `rota queues resume {queue}`." in said.out
    assert at < next(number for number, line in enumerate(said.lines) if line.startswith("PROCESS"))
    assert "queue_paused" in {problem["code"] for problem in plain.json["problems"]}


def test_a_check_fails_while_there_is_a_problem(installation: Installation) -> None:
    queue = paused_queue(installation)
    try:
        said = installation.rota("status", "--check")
        quiet = installation.rota("status", "--check", "--quiet")
        plain = installation.rota("status", "--check", "--json")
    finally:
        clear(installation, queue)
    after = installation.rota("status", "--check", "--json")

    assert (said.code, quiet.code, plain.code) == (1, 1, 1)
    assert f"Queue {queue} is paused" in said.out
    assert quiet.out == ""
    assert queue in names(plain)
    assert queue not in names(after)


def names(said: Said) -> set[str]:
    return {problem["subject"]["name"] for problem in said.json}


def test_an_unreachable_server_has_an_exit_code_of_its_own(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    said = ran("status", "--check", "--url", f"http://127.0.0.1:{unused_tcp_port}", folder=tmp_path)

    assert said.code == 69


@pytest.mark.parametrize(
    ("severities", "is_bad"),
    [([], False), (["info"], False), (["info", "warning"], True), (["page"], True)],
)
def test_a_warning_is_bad_and_an_info_is_not(severities: list[str], *, is_bad: bool) -> None:
    problems = [SimpleNamespace(severity=severity) for severity in severities]

    assert has_bad(problems) is is_bad
