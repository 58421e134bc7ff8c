"""What handlers in a process of their own find in their environment (E3)."""

from pathlib import Path
from typing import Any

import pytest

from rota.config.loader import load_settings
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting
from rota.processes.child_environment import build_child_environment, check_passed_environment

FILE = """
[executors.channels.ops]
url = "mailto://rota:${MAIL_PASSWORD}@example.org"
[executors.webhooks.partner]
secrets = ["${APP_PARTNER_SECRET}"]
"""
WORKER = {
    "PATH": "/bin",
    "HOME": "/home/rota",
    "LC_ALL": "C",
    "PYTHONUTF8": "1",
    "APP_URL": "postgresql://app@db/app",
    "APP_PARTNER_SECRET": "whsec_",
    "MAIL_PASSWORD": "hunter2",
    "HTTPS_PROXY": "http://me:pw@proxy",
    "ROTA_URL": "http://127.0.0.1:7070",
    "ROTA_DATABASE_URL": "postgresql://rota:pw@db/rota",
    "ROTA_API__MASTER_KEY": "/run/master.key",
    "ROTA_API_KEY": "rota_key",
}
USUAL = {"PATH", "HOME", "LC_ALL", "PYTHONUTF8", "ROTA_URL"}


def settings(folder: Path, *passed: str) -> Settings:
    file = folder / "rota.toml"
    file.write_text(FILE)
    flags: dict[str, Any] = {"worker": {"pass_environment": list(passed)}}
    return load_settings(environment={}, file=file, flags=flags, default_files=())


@pytest.mark.parametrize(
    ("passed", "more"),
    [
        ((), set()),
        (("APP_URL",), {"APP_URL"}),
        (("APP_*",), {"APP_URL"}),
        (("*",), {"APP_URL", "HTTPS_PROXY"}),
        (("ROTA_API_KEY",), {"ROTA_API_KEY"}),
    ],
)
def test_variables_are_passed_by_name_and_those_of_rota_never(
    tmp_path: Path, passed: tuple[str, ...], more: set[str]
) -> None:
    wanted = settings(tmp_path, *passed)
    check_passed_environment(wanted)

    assert build_child_environment(wanted, WORKER).keys() == USUAL | more


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ROTA_DATABASE_URL", "are never passed"),
        ("ROTA_*", "are never passed"),
        ("MAIL_PASSWORD", "executors.channels.ops.url references it"),
        ("APP_PARTNER_SECRET", "executors.webhooks.partner.secrets references it"),
    ],
)
def test_a_name_that_would_hand_out_a_secret_of_rota_is_refused(
    tmp_path: Path, name: str, reason: str
) -> None:
    with pytest.raises(InvalidSetting, match=reason) as refused:
        check_passed_environment(settings(tmp_path, name))

    assert refused.value.field == "worker.pass_environment"


@pytest.mark.parametrize("name", ["", "A B", "=", "*_URL", "APP_*_URL", "1A"])
def test_a_name_that_no_variable_has_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidSetting, match="list of variable names"):
        settings(tmp_path, name)
