"""What a handler raised can be read in its log (E14)."""

from rota.flow.execute.tracebacks import told


def fail() -> None:
    empty: dict[str, int] = {}
    try:
        empty["first"]
    except KeyError as error:
        raise ValueError("second") from error


def raised() -> BaseException:
    try:
        fail()
    except ValueError as error:
        return error
    raise AssertionError


def test_the_error_comes_last_and_its_cause_before_it() -> None:
    text = told(raised())

    assert text.index("KeyError: 'first'") < text.index("ValueError: second")
    assert 'raise ValueError("second") from error' in text


def test_an_error_that_is_its_own_cause_is_told_once() -> None:
    error = raised()
    error.__cause__ = error

    assert told(error).count("ValueError: second") == 1
