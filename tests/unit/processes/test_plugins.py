"""Executors and sources are found by their entry points, the built-in ones too."""

from importlib import metadata
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest

from rota.config.settings import Settings
from rota.core.errors import InvalidInput, UnusableInput
from rota.processes import event_sources, executor_factory, plugins
from rota.processes.event_sources import find_kinds
from rota.processes.executor_factory import ExecutorSetup, bind_setup, build_executor_factory
from rota.processes.plugins import find_entry_points, load_entry_point

EXECUTORS = executor_factory.ENTRY_POINT_GROUP
SOURCES = event_sources.ENTRY_POINT_GROUP


class Greeting:
    """As much of an executor as its construction needs."""

    kinds: tuple[str, ...] = ("greeting",)


class OtherHttp(Greeting):
    kinds = ("http",)


def build_configured(setup: ExecutorSetup) -> Greeting:
    greeting = Greeting()
    greeting.kinds = (f"greeting.{setup.settings.worker.slots}",)
    return greeting


def build_nothing(setup: ExecutorSetup) -> None:
    assert setup.handlers is None


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> list[EntryPoint]:
    """The entry points of other packages; they come before those of Rota, as they may."""
    others: list[EntryPoint] = []

    def find(*, group: str) -> EntryPoints:
        mine = metadata.entry_points(group=group)
        return EntryPoints([*(entry for entry in others if entry.group == group), *mine])

    monkeypatch.setattr(plugins, "entry_points", find)
    return others


def entry(name: str, target: str, group: str = EXECUTORS) -> EntryPoint:
    return EntryPoint(name, f"{__name__}:{target}", group)


def kinds_of(settings: Settings) -> set[str]:
    return {kind for each in build_executor_factory(settings)() for kind in each.kinds}


def test_every_built_in_executor_is_registered() -> None:
    assert {each.name for each in find_entry_points(EXECUTORS)} >= {
        *("etl", "http", "notify", "python", "shell", "sql", "sync", "webhook"),
    }


def test_every_built_in_source_is_registered() -> None:
    assert {*find_kinds()} >= {"folder", "kafka", "nats", "postgres_table", "redis_streams"}


@pytest.mark.parametrize("group", [EXECUTORS, SOURCES])
def test_every_built_in_entry_point_loads(group: str) -> None:
    assert all(callable(load_entry_point(each)) for each in find_entry_points(group))


def test_a_worker_without_resources_serves_what_needs_none() -> None:
    assert kinds_of(Settings()) >= {"http"}
    assert kinds_of(Settings()).isdisjoint({"sql", "etl", "python", "webhook"})


def test_a_plug_in_serves_beside_the_built_in_ones(installed: list[EntryPoint]) -> None:
    installed.append(entry("greeting", "Greeting"))

    assert kinds_of(Settings()) >= {"greeting", "http"}


def test_a_plug_in_may_have_the_name_of_a_built_in_one_if_its_kind_differs(
    installed: list[EntryPoint],
) -> None:
    installed.append(entry("http", "Greeting"))

    assert kinds_of(Settings()) >= {"greeting", "http"}


def test_two_executors_of_one_kind_are_refused(installed: list[EntryPoint]) -> None:
    installed.append(entry("other", "OtherHttp"))

    with pytest.raises(InvalidInput, match="HttpExecutor and OtherHttp; remove one"):
        build_executor_factory(Settings())()


def test_a_plug_in_that_asks_for_the_setup_gets_it(installed: list[EntryPoint]) -> None:
    installed += [entry("greeting", "build_configured"), entry("nothing", "build_nothing")]

    assert f"greeting.{Settings().worker.slots}" in kinds_of(Settings())


@pytest.mark.parametrize("builder", [Greeting, dict, lambda name="x": name, lambda *names: names])
def test_a_builder_without_required_parameters_gets_nothing(builder: Any) -> None:
    setup = ExecutorSetup(settings=Settings(), environment={})

    assert bind_setup(builder, setup) is builder


def test_a_plug_in_that_cannot_be_loaded_prevents_the_start(installed: list[EntryPoint]) -> None:
    installed.append(EntryPoint("mine", "no_such_module:Mine", EXECUTORS))

    with pytest.raises(InvalidInput, match=r"entry point of rota\.executors: .*no_such_module"):
        build_executor_factory(Settings())


def test_a_built_in_source_is_not_replaced(installed: list[EntryPoint]) -> None:
    installed += [entry("folder", "Greeting", SOURCES), entry("mine", "Greeting", SOURCES)]

    assert find_kinds()["folder"].value == "rota.sources.folder:make"
    assert find_kinds()["mine"].value == f"{__name__}:Greeting"


@pytest.mark.parametrize("group", [EXECUTORS, SOURCES])
def test_metadata_that_is_older_than_the_code_is_named(
    monkeypatch: pytest.MonkeyPatch, group: str
) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda **_query: EntryPoints())

    with pytest.raises(UnusableInput, match=f"no entry points of {group}.*make setup"):
        find_entry_points(group)
