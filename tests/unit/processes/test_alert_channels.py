"""Channels from settings: what is refused, what is reported, and what nobody gets to see."""

import re
import sys
from pathlib import Path

import apprise
import pytest

from rota.config.loader import load_settings
from rota.config.settings import Settings
from rota.core.alerts.finding import Severity
from rota.core.errors import InvalidSetting
from rota.executors.http.alert_channels import AlertmanagerChannel, WebhookAlertChannel
from rota.executors.notify.alert_channel import AppriseAlertChannel
from rota.processes.alert_channels import (
    build_alert_channels,
    build_notify_channels,
    find_deprecated_setting,
)
from rota.sdk.webhooks import new_secret
from rota.store.alert_channels import ChannelReport

ROOT = Path(__file__).resolve().parents[3]


def read(text: str, folder: Path) -> Settings:
    file = folder / "rota.toml"
    file.write_text(text)
    return load_settings(environment={}, file=file, default_files=())


def refuse(text: str, folder: Path, **environment: str) -> InvalidSetting:
    with pytest.raises(InvalidSetting) as raised:
        build_alert_channels(read(text, folder), environment)
    return raised.value


def test_each_channel_is_built_by_the_scheme_of_its_url(tmp_path: Path) -> None:
    settings = read(
        """
        [channels.mail]
        url = "mailtos://rota:${MAIL_PASSWORD}@example.org"
        tenants = ["acme", "globex"]
        default = true
        recovery = false
        [channels.pager]
        url = "${PAGER_URL}"
        tenants = ["*"]
        severity = "page"
        recovery = false
        messages_per_hour = 5
        pages_per_hour = 50
        [channels.prometheus]
        url = "alertmanager+http://alertmanager:9093"
        tenants = ["*"]
        [channels.hook]
        url = "webhook+https://example.org/hook"
        secrets = ["${HOOK_SECRET}"]
        tenants = ["*"]
        """,
        tmp_path,
    )

    built = build_alert_channels(
        settings,
        {
            "MAIL_PASSWORD": "hunter2",
            "PAGER_URL": "pagerduty://hunter2@key",
            "HOOK_SECRET": new_secret(),
        },
    )

    assert [type(each.channel) for each in built.values()] == [
        AppriseAlertChannel,
        AppriseAlertChannel,
        AlertmanagerChannel,
        WebhookAlertChannel,
    ]
    assert [each.report.kind for each in built.values()] == [
        *("email", "pagerduty", "alertmanager", "webhook")
    ]
    assert built["mail"].report == ChannelReport(
        name="mail", kind="email", tenants=("acme", "globex"), is_default=True, recovery=False
    )
    assert built["pager"].report == ChannelReport(
        name="pager",
        kind="pagerduty",
        tenants=("*",),
        # Its alert would stay open.
        recovery=True,
        minimum_severity=Severity.PAGE,
        messages_per_hour=5,
        pages_per_hour=50,
    )
    assert "hunter2" not in repr((settings, built))


@pytest.mark.parametrize(
    ("text", "field", "wanted"),
    [
        ("url = 'hunter2'", "channels.ops.url", "expected a URL with a scheme"),
        ("url = 'mailto://${ABSENT}@x'", "channels.ops.url", "set the environment variable ABSENT"),
        ("url = 'webhook+https://x.example'", "channels.ops.secrets", "required for a webhook"),
        (
            "url = 'webhook+https://x.example'\nsecrets = ['hunter2']",
            "channels.ops.secrets",
            "expected whsec_",
        ),
        (
            "url = 'mailto://hunter2@x.example'\nsecrets = ['hunter2']",
            "channels.ops.secrets",
            "must be empty",
        ),
        (
            "url = 'alertmanager+http://u:hunter2@ho st'",
            "channels.ops.url",
            "must be plain ASCII",
        ),
        (
            "url = 'alertmanager+ftp://u:hunter2@host'",
            "channels.ops.url",
            "expected a URL such as alertmanager+https://",
        ),
    ],
)
def test_a_wrong_channel_keeps_the_process_from_starting_and_shows_no_secret(
    text: str, field: str, wanted: str, tmp_path: Path
) -> None:
    refused = refuse(f"[channels.ops]\ntenants = ['*']\n{text}", tmp_path)

    assert refused.field == field
    assert wanted in refused.wanted
    assert "hunter2" not in str(refused)


@pytest.mark.parametrize(
    ("text", "field", "wanted"),
    [
        ("channels.ops.url = 'mailto://hunter2'", "channels.ops.tenants", "a list of tenant names"),
        ("channels.ops = {tenants = ['*']}", "channels.ops.url", "a URL such as mailto://"),
        ("channels.ops = {url = 'x', tenants = []}", "channels.ops.tenants", "a list of tenant"),
        (
            "channels.ops = {url = 'x', tenants = ['*'], severity = 'loud'}",
            "channels.ops.severity",
            "one of info, warning, page",
        ),
        (
            "channels.ops = {url = 'x', tenants = ['*'], messages_per_hour = 0}",
            "channels.ops.messages_per_hour",
            "a whole number from 1 to 3600",
        ),
        (
            """
            channels.ops = {url = 'x', tenants = ['*']}
            executors.channels.ops.url = 'mailto://hunter2'
            """,
            "executors.channels",
            "without ops, which [channels.ops] defines",
        ),
    ],
)
def test_settings_of_a_channel_are_checked_when_they_are_read(
    text: str, field: str, wanted: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSetting) as refused:
        read(text, tmp_path)

    assert refused.value.field == field
    assert wanted in refused.value.wanted
    assert "hunter2" not in str(refused.value)


def test_a_process_with_channels_and_without_apprise_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)

    refused = refuse("channels.ops = {url = 'slack://a/b/c', tenants = ['*']}", tmp_path)

    assert "install rota[notify]" in refused.wanted


def test_own_kinds_need_no_apprise(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    settings = read("channels.am = {url = 'alertmanager+http://am', tenants = ['*']}", tmp_path)

    assert list(build_alert_channels(settings, {})) == ["am"]


def test_notify_jobs_use_both_tables_and_alerts_only_the_new_one(tmp_path: Path) -> None:
    settings = read(
        """
        [channels.ops]
        url = "mailto://example.org"
        tenants = ["acme"]
        allow_to = true
        [channels.am]
        url = "alertmanager+http://am:9093"
        tenants = ["*"]
        [executors.channels.older]
        url = "mailto://${WORKERS_PASSWORD}@example.org"
        """,
        tmp_path,
    )

    notify = build_notify_channels(settings, {"WORKERS_PASSWORD": "x"})

    assert {name: (each.tenants, each.allow_to) for name, each in notify.items()} == {
        "older": (("default",), False),
        "ops": (("acme",), True),
    }
    # A scheduler does not need the secrets of workers.
    assert list(build_alert_channels(settings, {})) == ["ops", "am"]


def test_the_older_table_is_found_to_warn_of_it(tmp_path: Path) -> None:
    older = read("executors.channels.ops.url = 'mailto://example.org'", tmp_path)
    newer = read("channels.ops = {url = 'mailto://example.org', tenants = ['*']}", tmp_path)

    assert find_deprecated_setting(older) == "executors.channels"
    assert find_deprecated_setting(newer) is None


@pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")
def test_every_example_of_the_page_is_a_channel_that_can_send(tmp_path: Path) -> None:
    text = (ROOT / "docs/howto/channels.md").read_text()
    examples = re.findall(r"^```toml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    names = set(re.findall(r"\$\{(\w+)\}", text)) - {"NAME"}
    environment = dict.fromkeys(names, "a1b2c3d4e5f60718293a4b5c6d7e8f90")
    environment |= {"SLACK_A": "T1JJ3T3L2", "SLACK_B": "A1BRTD4JD", "ALERT_SECRET": new_secret()}

    built = build_alert_channels(read("\n".join(examples), tmp_path), environment)

    assert {each.report.kind for each in built.values()} == {
        *("email", "slack", "teams", "pagerduty", "jira", "alertmanager", "webhook")
    }
    for name, each in built.items():
        if isinstance(each.channel, AppriseAlertChannel):
            assert apprise.Apprise.instantiate(each.channel.url) is not None, name
