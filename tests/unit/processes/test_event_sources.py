"""Sources are made from settings when a process starts, or it says which setting is wrong."""

from importlib.metadata import EntryPoint
from typing import Any

import pytest

from rota.config.settings import Settings
from rota.config.sources import SourceSettings
from rota.core.errors import InvalidInput, InvalidSetting
from rota.processes import event_sources
from rota.processes.event_sources import find_factory, read_sources


def settings(**source: Any) -> Settings:
    return Settings(sources={"orders": SourceSettings(**source)})


def test_a_source_has_the_settings_of_its_section() -> None:
    options = {"path": "/srv/in"}
    (wanted,) = read_sources(settings(kind="folder", options=options, on_bad="skip"), {})

    assert (wanted.name, wanted.kind, wanted.tenant) == ("orders", "folder", "default")
    assert (wanted.reading.source, wanted.reading.type) == ("/sources/orders", "orders")
    assert wanted.skips_bad
    assert wanted.build_source() is not wanted.build_source()


def test_secrets_are_looked_up_however_deep_they_are() -> None:
    plugins = {"mine": EntryPoint("mine", f"{__name__}:make", event_sources.ENTRY_POINT_GROUP)}
    options = {"url": "x://me:${PASSWORD}@host", "more": {"keys": ["${KEY}", 7]}}

    event_sources.read_source(
        "orders",
        SourceSettings(kind="mine", options=options),
        plugins,
        {"PASSWORD": "a/b", "KEY": "k"},
    )

    assert MADE[-1] == {"url": "x://me:a%2Fb@host", "more": {"keys": ["k", 7]}}


@pytest.mark.parametrize(
    ("given", "field", "wanted"),
    [
        ({"kind": "pigeon"}, "sources.orders.kind", "known kinds: folder, kafka, nats"),
        ({"kind": "folder"}, "sources.orders.options.path", "the path of a folder"),
        (
            {"kind": "folder", "options": {"path": "${NO_SUCH_VARIABLE}"}},
            "sources.orders.options.path",
            "set the environment variable NO_SUCH_VARIABLE",
        ),
        (
            {"kind": "nats", "options": {"servers": ["${NO_SUCH_VARIABLE}"], "stream": "s"}},
            "sources.orders.options.servers",
            "set the environment variable NO_SUCH_VARIABLE",
        ),
        (
            {"kind": "kafka", "options": {"servers": "k", "topics": "t", "topic": "t"}},
            "sources.orders.options.topic",
            "unknown option; known options: ",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_path(
    given: dict[str, Any], field: str, wanted: str
) -> None:
    with pytest.raises(InvalidSetting) as refusal:
        read_sources(settings(**given), {})

    assert refusal.value.field == field
    assert wanted in refusal.value.wanted


def test_a_library_that_is_missing_is_named_with_its_extra() -> None:
    from rota.sources.options import import_library  # noqa: PLC0415

    with pytest.raises(InvalidInput) as refusal:
        import_library("no_such_library", extra="kafka")

    assert "rota[kafka]" in refusal.value.wanted


MADE: list[Any] = []


def make(options: Any) -> Any:
    MADE.append(options)


def test_a_plug_in_is_found_by_the_name_of_its_entry_point() -> None:
    entry = EntryPoint("mine", f"{__name__}:make", event_sources.ENTRY_POINT_GROUP)

    assert find_factory("mine", {"mine": entry}, path="sources.x") is not None


def test_a_plug_in_that_cannot_be_loaded_is_said() -> None:
    entry = EntryPoint("mine", "no_such_module:make", event_sources.ENTRY_POINT_GROUP)

    with pytest.raises(InvalidSetting) as refusal:
        find_factory("mine", {"mine": entry}, path="sources.x")

    assert "no_such_module" in str(refusal.value)
