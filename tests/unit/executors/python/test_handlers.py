"""The registry: which function carries out which kind (E17)."""

import functools
from datetime import timedelta
from typing import Any

import pytest

from rota.core.errors import InvalidInput
from rota.executors.python import MB, Handlers, PythonExecutor, PythonLimits


async def nothing(context: Any, payload: Any) -> None:
    pass


def nothing_sync(context: Any, payload: Any) -> None:
    pass


class Callable:
    async def __call__(self, context: Any, payload: Any) -> None:
        pass


def test_a_registered_function_stays_what_it_is_and_is_found_by_kind():
    handlers = Handlers()

    registered = handlers.handler("billing.charge")(nothing)

    assert registered is nothing
    assert handlers.kinds == ("billing.charge",)
    assert handlers.find("billing.charge").call is nothing


def test_a_kind_is_refused_twice():
    handlers = Handlers()
    handlers.handler("charge")(nothing)

    with pytest.raises(InvalidInput) as refusal:
        handlers.handler("charge")(nothing_sync)

    assert (refusal.value.field, refusal.value.value) == ("kind", "charge")
    assert handlers.find("charge").call is nothing


def test_one_decorator_cannot_register_two_functions():
    handlers = Handlers()
    register = handlers.handler("charge")
    register(nothing)

    with pytest.raises(InvalidInput, match="already has a handler"):
        register(nothing_sync)


@pytest.mark.parametrize("kind", ["", "x" * 201, "a\nb", "a\x00b", 3, None])
def test_what_is_no_name_is_refused_as_a_kind(kind: Any):
    with pytest.raises(InvalidInput) as refusal:
        Handlers().handler(kind)

    assert refusal.value.field == "kind"


@pytest.mark.parametrize("kind", ["x", "x" * 200, "bericht.für.alle"])
def test_a_name_of_1_to_200_characters_is_a_kind(kind: str):
    handlers = Handlers()

    handlers.handler(kind)(nothing)

    assert handlers.kinds == (kind,)


def test_an_unknown_kind_is_refused_with_some_that_are_known():
    handlers = Handlers()
    for number in range(9):
        handlers.handler(f"kind-{number}")(nothing)

    with pytest.raises(InvalidInput) as refusal:
        PythonExecutor(handlers).read("kind-9", None)

    assert refusal.value.field == "kind"
    assert "kind-0, kind-1, kind-2, kind-3, kind-4 and 4 more" in refusal.value.wanted


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"isolation": "docker"}, "isolation"),
        ({"isolation": None}, "isolation"),
        ({"memory": 512 * MB}, "memory"),
        ({"isolation": "process", "memory": 63 * MB}, "memory"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], field: str):
    with pytest.raises(InvalidInput) as refusal:
        Handlers().handler("charge", **options)

    assert refusal.value.field == field


@pytest.mark.parametrize("thing", ["billing.charge", None])
def test_what_cannot_be_called_is_refused_as_a_handler(thing: Any):
    with pytest.raises(InvalidInput) as refusal:
        Handlers().handler("charge")(thing)

    assert refusal.value.field == "handler"


@pytest.mark.parametrize(
    ("call", "is_async"),
    [
        (nothing, True),
        (functools.partial(nothing), True),
        (Callable(), True),
        (nothing_sync, False),
        (functools.partial(nothing_sync), False),
    ],
)
def test_async_handlers_are_told_from_sync_ones(call: Any, is_async: bool):
    handlers = Handlers()

    handlers.handler("charge")(call)

    assert handlers.find("charge").is_async is is_async
    assert handlers.find("charge").on_loop is is_async


def whole(payload: Any) -> int:
    if not isinstance(payload, int):
        raise InvalidInput("payload", payload, "a whole number")
    return payload + 1


def test_a_check_decides_what_the_handler_gets():
    handlers = Handlers()
    handlers.handler("charge", check=whole)(nothing)
    executor = PythonExecutor(handlers)

    assert executor.read("charge", 1).payload == 2
    with pytest.raises(InvalidInput, match="a whole number"):
        executor.read("charge", "1")


def test_a_check_refuses_before_a_process_is_asked_and_is_left_to_it_otherwise():
    handlers = Handlers()
    handlers.handler("charge", check=whole, isolation="process")(nothing)
    executor = PythonExecutor(handlers, source="app:handlers")

    assert executor.read("charge", 1).payload == 1
    with pytest.raises(InvalidInput, match="a whole number"):
        executor.read("charge", "1")


@pytest.mark.parametrize("source", ["", "app", "app:", ":handlers"])
def test_a_source_that_names_no_attribute_is_refused(source: str):
    with pytest.raises(InvalidInput) as refusal:
        PythonExecutor(Handlers(), source=source)

    assert refusal.value.field == "source"


async def test_handlers_in_processes_need_a_source():
    handlers = Handlers()
    handlers.handler("charge", isolation="process")(nothing)

    with pytest.raises(InvalidInput) as refusal:
        await PythonExecutor(handlers).open()

    assert refusal.value.field == "source"
    assert "charge" in refusal.value.wanted


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"threads": 0}, "limits.threads"),
        ({"children": 0}, "limits.children"),
        ({"runs_per_child": 0}, "limits.runs_per_child"),
        ({"idle": timedelta(seconds=-1)}, "limits.idle"),
    ],
)
def test_limits_that_allow_nothing_are_refused(limits: dict[str, Any], field: str):
    with pytest.raises(InvalidInput) as refusal:
        PythonLimits(**limits)

    assert refusal.value.field == field
