"""The traceback of an exception as data: the user's frames told from the others (E14)."""

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from rota.core.tracebacks import TracedError, mask_errors, render_traceback
from rota.runtime import tracebacks
from rota.runtime.tracebacks import locate_error, trace_error


def caught(function: Callable[[], object]) -> BaseException:
    try:
        function()
    except BaseException as error:  # noqa: BLE001 - whatever a handler may raise
        return error
    raise AssertionError


def fail() -> None:
    empty: dict[str, int] = {}
    try:
        empty["first"]
    except KeyError as error:
        raise ValueError("second") from error


def fail_again() -> None:
    try:
        fail()
    except ValueError:
        json.loads("{")


def fail_in_group() -> None:
    errors: list[Exception] = []
    for function in (fail, lambda: int("x")):
        try:
            function()
        except ValueError as error:
            errors.append(error)
    raise ExceptionGroup("two of them", errors)


def recurse() -> None:
    recurse()


def test_the_error_comes_first_and_its_cause_after_it() -> None:
    error, cause = trace_error(caught(fail))

    assert (error.relation, error.type, error.message) == ("raised", "ValueError", None)
    assert (cause.relation, cause.type, cause.message) == ("cause", "KeyError", "'first'")
    assert error.frames[-1].code == 'raise ValueError("second") from error'
    assert error.frames[-1].function == "fail"
    assert cause.frames[-1].code == 'empty["first"]'


def test_what_was_being_handled_is_told_and_libraries_are_not_the_users_own() -> None:
    error, during, cause = trace_error(caught(fail_again))

    assert [each.relation for each in (error, during, cause)] == ["raised", "context", "cause"]
    own = [frame.function for frame in error.frames if frame.is_own]
    others = {Path(frame.file).name for frame in error.frames if not frame.is_own}
    assert own == ["caught", "fail_again"]
    assert others == {"__init__.py", "decoder.py"}


def test_an_error_is_located_in_the_innermost_frame_of_the_users_code() -> None:
    module = "tests.unit.runtime.test_tracebacks"

    assert locate_error(caught(fail)) == f"{module}:fail"
    assert locate_error(caught(fail_again)) == f"{module}:fail_again"
    assert locate_error(caught(lambda: json.loads("{"))).endswith(".<locals>.<lambda>")  # type: ignore[union-attr]
    assert locate_error(ValueError("never raised")) is None


def test_the_line_of_an_error_and_the_way_its_file_was_started_do_not_matter() -> None:
    def run(source: str, name: str) -> str | None:
        place: dict[str, object] = {"__name__": name}
        exec(compile(source, "/srv/app/billing.py", "exec"), place)
        return locate_error(caught(place["charge"]))  # type: ignore[arg-type]

    source = "def charge():\n    raise ValueError('no')\n"

    assert run(source, "billing") == "billing:charge"
    assert run(f"import json\n\n{source}", "billing") == "billing:charge"
    assert run(source, "__main__") == "billing:charge"


def test_members_of_a_group_follow_with_what_caused_them() -> None:
    found = trace_error(caught(fail_in_group))

    assert [(each.relation, each.type, each.depth) for each in found] == [
        ("raised", "ExceptionGroup", 0),
        ("member", "ValueError", 1),
        ("cause", "KeyError", 1),
        ("member", "ValueError", 1),
    ]


def test_frames_of_rota_are_not_the_users_own() -> None:
    (error,) = trace_error(caught(lambda: mask_errors(None, str)))  # type: ignore[arg-type]

    assert [frame.is_own for frame in error.frames] == [True, True, False]


def test_a_handler_in_an_installed_package_is_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs may be installed as a package, beside the libraries that they call."""
    site = tmp_path / "lib" / "site-packages"
    for package, code in (
        ("library", "def call():\n    raise OSError('away')\n"),
        ("shop", "def job(library):\n    library.call()\n"),
    ):
        (site / package).mkdir(parents=True)
        (site / package / "jobs.py").write_text(code)
    modules = {}
    for package in ("library", "shop"):
        modules[package] = ModuleType(package)
        file = site / package / "jobs.py"
        exec(compile(file.read_text(), str(file), "exec"), vars(modules[package]))
    here = (*tracebacks.ROTA_FOLDERS, str(Path(__file__).parent))
    monkeypatch.setattr(tracebacks, "ROTA_FOLDERS", here)

    (error,) = trace_error(caught(lambda: modules["shop"].job(modules["library"])))

    own = [Path(frame.file).parent.name for frame in error.frames if frame.is_own]
    assert own == ["shop"]


def test_a_traceback_is_bounded_however_deep_it_is() -> None:
    (error,) = trace_error(caught(recurse))

    assert len(error.frames) == tracebacks.FRAMES_MAX
    assert error.omitted_frames > 500
    assert error.frames[0].function == "caught"


def test_an_error_that_is_its_own_cause_is_told_once() -> None:
    error = caught(fail)
    error.__cause__ = error

    assert len(trace_error(error)) == 1


def test_an_error_that_cannot_be_shown_is_an_error_all_the_same() -> None:
    class Broken(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def fail_broken() -> None:
        raise Broken

    assert trace_error(caught(fail_broken))[0].type == "Broken"
    assert tracebacks.render_message(Broken()) == "an error that cannot be shown"
    assert tracebacks.render_message(ValueError("a\x00b\ud800")) == "a�b?"


def test_as_text_the_cause_comes_before_the_error_as_in_python() -> None:
    text = render_traceback(trace_error(caught(fail)), "second")

    assert text.index("KeyError: 'first'") < text.index("direct cause")
    assert text.index("direct cause") < text.index("ValueError: second")
    assert text.startswith("Traceback (most recent call last):\n")
    assert text.endswith("ValueError: second\n")


def test_as_text_members_of_a_group_are_indented() -> None:
    text = render_traceback(trace_error(caught(fail_in_group)), "two of them")

    assert "\n  | ValueError: second\n" in text
    assert "ExceptionGroup: two of them\n" in text


def test_every_text_passes_the_mask() -> None:
    masked = mask_errors(trace_error(caught(fail)), lambda text: "***" if text else text)

    assert texts_of(masked) == {"***"}


def texts_of(errors: tuple[TracedError, ...]) -> set[str]:
    found = {error.type for error in errors}
    found |= {error.message for error in errors if error.message is not None}
    return found | {
        text
        for error in errors
        for frame in error.frames
        for text in (frame.file, frame.function, frame.code)
    }
