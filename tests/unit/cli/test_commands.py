"""The commands as a whole: everything the API does, and a page about all of it (I4)."""

import re
import subprocess
import sys
from pathlib import Path

from rota.api import resources
from rota.api.operations import catalogue
from rota.cli import output
from rota.cli.main import COMMANDS
from rota.core.errors import InvalidInput, NotFound, StoreUnavailable
from rota.sdk.client.errors import ApiError, Unreachable

SOURCE = Path(output.__file__).parent
# What has no use on a command line, or is the same by another name.
ELSEWHERE = {
    "call_hook": "whoever calls it signs, and has no key",
    "get_health": "readiness says more, and `doctor` asks for it",
    "get_openapi": "a document for programs that generate clients",
    "get_page": "for browsers",
    "get_page_file": "for browsers",
    "get_problem": "for browsers",
    "list_executions": "`runs list --worker`",
    "list_outcomes": "`jobs runs`, for one job",
    "patch_job": "the same as update_job",
    "send_ping": "the sender has a URL and no key",
    "send_ping_signal": "the sender has a URL and no key",
    "send_ping_signal_with_output": "the sender has a URL and no key",
    "send_ping_with_output": "the sender has a URL and no key",
}


def test_every_operation_of_the_api_is_on_the_command_line() -> None:
    resources.load_operations()
    files = [*SOURCE.rglob("*.py"), *(SOURCE.parent / "sdk" / "external").rglob("*.py")]
    text = "\n".join(path.read_text() for path in files)
    names = {each.name for each in catalogue.operations}

    missing = {name for name in names if not re.search(rf"\.{name}\b", text)}

    assert missing == names & set(ELSEWHERE)


def test_every_command_has_one_name_and_a_sentence() -> None:
    names = [command.name for command in COMMANDS]

    assert len(set(names)) == len(names)
    assert all(command.help.endswith(".") for command in COMMANDS)


def test_exit_codes_say_whose_turn_it_is() -> None:
    away = Unreachable(url="http://x", reason="refused")
    codes = {
        status: output.get_exit_code(ApiError(status=status)) for status in (400, 403, 404, 409)
    }
    later = {
        status: output.get_exit_code(ApiError(status=status)) for status in (422, 429, 500, 503)
    }

    assert codes == {400: 64, 403: 77, 404: 66, 409: 1}
    assert later == {422: 64, 429: 69, 500: 69, 503: 69}
    assert output.get_exit_code(away) == 69
    assert output.get_exit_code(InvalidInput("a", "b", "c")) == 64
    assert output.get_exit_code(NotFound("job", "x")) == 66
    assert output.get_exit_code(StoreUnavailable("gone")) == 69


def test_one_calendar_is_another_word_for_calendars() -> None:
    said = {
        name: subprocess.run(
            [sys.executable, "-m", "rota", name, "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in ("calendar", "calendars")
    }

    for command in ("list", "show", "put", "delete"):
        assert all(command in text for text in said.values())
