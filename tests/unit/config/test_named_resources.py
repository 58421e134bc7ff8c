"""Tables of named things in the settings, and secrets that they refer to."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tools.reference.settings_page import render_settings

from rota.config.loader import load_settings
from rota.config.secret_references import resolve_references
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting


def read(text: str, folder: Path) -> Settings:
    file = folder / "rota.toml"
    file.write_text(text)
    return load_settings(environment={}, file=file, default_files=())


def refusal(text: str, folder: Path) -> InvalidSetting:
    with pytest.raises(InvalidSetting) as raised:
        read(text, folder)
    return raised.value


def test_each_thing_has_its_own_settings_and_defaults(tmp_path: Path) -> None:
    settings = read(
        """
        [executors.channels.ops]
        url = "mailto://example.org"
        timeout = "5s"
        [executors.channels.on-call]
        url = "slack://a/b/c"
        allow_to = true
        """,
        tmp_path,
    )

    ops, oncall = settings.executors.channels.values()
    assert list(settings.executors.channels) == ["ops", "on-call"]
    assert (ops.url, ops.timeout, ops.allow_to) == (
        "mailto://example.org",
        timedelta(seconds=5),
        False,
    )
    assert (oncall.timeout, oncall.allow_to) == (timedelta(seconds=30), True)


def test_a_variable_holds_the_table_as_toml_writes_it() -> None:
    written = '{ops = {url = "${OPS_URL}"}, oncall = {url = "${ONCALL_URL}"}}'

    settings = load_settings(environment={"ROTA_EXECUTORS__CHANNELS": written}, default_files=())

    assert list(settings.executors.channels) == ["ops", "oncall"]


@pytest.mark.parametrize(
    ("text", "field", "wanted"),
    [
        ("executors.channels = 7", "executors.channels", "a table of channels"),
        ("executors.channels.ops = 7", "executors.channels", "ops is not a table"),
        ("[executors.channels.ops]", "executors.channels.ops.url", "an Apprise URL"),
        (
            "executors.channels.ops.ulr = 'x'",
            "executors.channels.ops.ulr",
            "known settings: url, allow_to, timeout",
        ),
        ("executors.channels.ops.url = 7", "executors.channels.ops.url", "an Apprise URL"),
        (
            "executors.channels.ops = {url = 'x', timeout = '1h'}",
            "executors.channels.ops.timeout",
            "a duration from 1 second to 5 minutes",
        ),
        (
            "executors.channels.'Not a name'.url = 'x'",
            "executors.channels",
            "1 to 63 characters of a-z",
        ),
        ("executors.webhooks.p.secrets = []", "executors.webhooks.p.secrets", "a list of secrets"),
    ],
)
def test_what_is_wrong_is_refused_with_the_name_of_the_thing(
    text: str, field: str, wanted: str, tmp_path: Path
) -> None:
    refused = refusal(text, tmp_path)

    assert refused.field == field
    assert wanted in refused.wanted
    assert str(tmp_path) in refused.wanted


@pytest.mark.parametrize("value", ["{ops = ", "7", "ops", '{ops = {url = "a"}}\n[api]\nport = 1'])
def test_a_variable_that_is_no_table_is_refused(value: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        load_settings(environment={"ROTA_EXECUTORS__CHANNELS": value}, default_files=())

    assert refused.value.field == "executors.channels"
    assert "in ROTA_EXECUTORS__CHANNELS" in refused.value.wanted


@pytest.mark.parametrize(
    "text",
    [
        "executors.channels.ops.url = ['mailto://hunter2@x']",
        "executors.channels.ops = 'mailto://hunter2@x'",
        "executors.channels = 'mailto://hunter2@x'",
        "executors.channels.'mailto://hunter2@x'.url = 'x'",
        "executors.webhooks.p.secrets = 'hunter2'",
        "executors.webhooks.p.secrets = [7, 'hunter2']",
    ],
)
def test_no_refusal_shows_a_secret(text: str, tmp_path: Path) -> None:
    assert "hunter2" not in str(refusal(text, tmp_path))


def test_printing_the_settings_shows_no_secret(tmp_path: Path) -> None:
    settings = read(
        "executors.channels.ops.url = 'mailto://hunter2@x'\n"
        "executors.webhooks.p.secrets = ['hunter2']",
        tmp_path,
    )

    assert "hunter2" not in repr(settings)


def test_the_page_explains_the_settings_of_a_named_thing() -> None:
    page = render_settings()

    assert "### [executors.channels.NAME]" in page
    assert "| `allow_to` | `false` | true or false |" in page
    assert "`${NAME}` stands for an environment variable" in page


class TestReferences:
    def given(self, text: str, **environment: str) -> str:
        return resolve_references(text, field="executors.channels.ops.url", environment=environment)

    def refused(self, text: str, **environment: str) -> InvalidSetting:
        with pytest.raises(InvalidSetting) as raised:
            self.given(text, **environment)
        return raised.value

    def test_a_text_without_references_stays_as_it_is(self) -> None:
        assert self.given("mailto://a$b:{c}@example.org") == "mailto://a$b:{c}@example.org"

    def test_a_variable_inside_of_a_url_is_encoded_and_alone_it_is_not(self) -> None:
        assert self.given("x://u:${P}@h/${Q}", P="a/b@c%", Q="q") == "x://u:a%2Fb%40c%25@h/q"
        assert self.given("${URL}", URL="x://u:a%2F@h") == "x://u:a%2F@h"

    def test_a_file_is_read_without_the_end_of_its_line(self, tmp_path: Path) -> None:
        file = tmp_path / "secret"
        file.write_bytes(b"hunter2\r\n")

        assert self.given(f"${{file:{file}}}") == "hunter2"

    def test_what_was_looked_up_is_not_looked_at_again(self) -> None:
        assert self.given("${A}", A="${B}") == "${B}"

    @pytest.mark.parametrize(
        ("text", "environment", "wanted"),
        [
            ("${GONE}", {}, "set the environment variable GONE"),
            ("x://${EMPTY}", {"EMPTY": ""}, "set the environment variable EMPTY"),
            ("${not a name}", {}, "expected ${NAME}"),
            ("${}", {}, "expected ${NAME}"),
            ("${file:}", {}, "must be readable"),
            ("${file:/nonexistent/secret}", {}, "No such file or directory"),
        ],
    )
    def test_a_reference_to_nothing_is_refused(
        self, text: str, environment: dict[str, str], wanted: str
    ) -> None:
        refused = self.refused(text, **environment)

        assert refused.field == "executors.channels.ops.url"
        assert wanted in refused.wanted

    @pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"x" * 70_000])
    def test_a_file_that_cannot_be_a_secret_is_refused_and_not_shown(
        self, content: Any, tmp_path: Path
    ) -> None:
        file = tmp_path / "secret"
        file.write_bytes(content)

        refused = self.refused(f"${{file:{file}}}")

        assert str(file) in str(refused)
        assert "xxxx" not in str(refused)
