"""Where traces go, and what is no such place (O6)."""

import pytest

from rota.config.loader import load_settings
from rota.core.errors import InvalidSetting


def test_nothing_is_traced_unless_somebody_says_so():
    assert load_settings(environment={}, default_files=()).traces.endpoint is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ENDPOINT", "localhost:4318"),
        ("ENDPOINT", "ftp://localhost"),
        ("ENDPOINT", "http://user:password@localhost:4318"),
        ("ENDPOINT", "http://local host"),
        ("ONE_IN", "0"),
        ("ONE_IN", "0.5"),
        ("ONE_IN", "1000001"),
        ("HEADERS", "no colon"),
        ("HEADERS", "a b: c"),
        ("HEADERS", "name:"),
        ("HEADERS", "name: ü"),
    ],
)
def test_what_cannot_be_meant_is_refused(name: str, value: str):
    with pytest.raises(InvalidSetting, match=f"traces.{name.lower()}") as refused:
        load_settings(environment={f"ROTA_TRACES__{name}": value}, default_files=())

    assert name != "HEADERS" or value not in str(refused.value)


def test_the_headers_of_a_collector_are_nobodys_business():
    settings = load_settings(environment={"ROTA_TRACES__HEADERS": "x-key: abc"}, default_files=())

    assert settings.traces.headers == ("x-key: abc",)
    assert "abc" not in repr(settings)
