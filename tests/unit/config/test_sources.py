"""Sources of events in the settings."""

from datetime import timedelta
from pathlib import Path

import pytest

from rota.config.loader import load_settings
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting


def read(text: str, folder: Path) -> Settings:
    file = folder / "rota.toml"
    file.write_text(text)
    return load_settings(environment={}, file=file, default_files=())


def test_a_source_has_its_own_section_with_the_options_of_its_kind(tmp_path: Path) -> None:
    settings = read(
        """
        [sources.orders]
        kind = "kafka"
        every = "5s"
        [sources.orders.options]
        servers = "kafka:9092"
        topics = ["orders"]
        settings = {"security.protocol" = "ssl"}
        [sources.uploads]
        kind = "folder"
        options = {path = "/srv/in"}
        """,
        tmp_path,
    )

    orders, uploads = settings.sources.values()
    assert list(settings.sources) == ["orders", "uploads"]
    assert (orders.kind, orders.tenant, orders.every) == ("kafka", "default", timedelta(seconds=5))
    assert orders.options["settings"] == {"security.protocol": "ssl"}
    assert (uploads.type, uploads.on_bad, uploads.options) == (None, "stop", {"path": "/srv/in"})


def test_a_variable_holds_all_sources_as_toml_writes_them() -> None:
    written = '{in = {kind = "folder", options = {path = "/srv/in"}}}'

    settings = load_settings(environment={"ROTA_SOURCES": written}, default_files=())

    assert settings.sources["in"].options == {"path": "/srv/in"}


@pytest.mark.parametrize(
    ("text", "field", "wanted"),
    [
        ("sources = 7", "sources", "a table of sources"),
        ("sources.orders = 7", "sources", "orders is not a table"),
        ("[sources.orders]", "sources.orders.kind", "a kind of source"),
        ("sources.orders.kind = 'Kafka'", "sources.orders.kind", "a kind of source"),
        ("sources.orders = {kind = 'nats', batch = 0}", "sources.orders.batch", "from 1 to 1000"),
        ("sources.orders = {kind = 'nats', on_bad = 'x'}", "sources.orders.on_bad", "stop, skip"),
        (
            "sources.orders = {kind = 'nats', topic = 'x'}",
            "sources.orders.topic",
            "known settings: kind",
        ),
        ("sources.orders = {kind = 'nats', options = 'x'}", "sources.orders.options", "a table"),
        ("sources.'Not a name'.kind = 'nats'", "sources", "1 to 63 characters of a-z"),
        ("source.orders.kind = 'nats'", "source", "did you mean sources?"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(
    text: str, field: str, wanted: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        read(text, tmp_path)

    assert refusal.value.field == field
    assert wanted in refusal.value.wanted


def test_a_password_in_the_options_is_never_shown(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        read("sources.a = {kind = 'nats', options = 'hunter2'}", tmp_path)

    assert "hunter2" not in str(refusal.value)
    settings = read("sources.a = {kind = 'nats', options = {url = 'hunter2'}}", tmp_path)
    assert "hunter2" not in repr(settings)
