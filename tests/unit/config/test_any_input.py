"""Whatever is written into a setting, it is accepted or refused in our own words."""

import tomllib
from datetime import UTC, date, datetime, time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rota.config.fields import FIELDS
from rota.config.loader import load_settings
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["10s", "PT10S", "1", "-1", "null", "~", "a,b", "postgres://x", "9" * 400])
    | st.sampled_from([datetime(2026, 1, 1, tzinfo=UTC), date(2026, 1, 1), time(1, 2)])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def outcome(**sources: Any) -> Settings | InvalidSetting:
    """What came of it; any other error fails the test."""
    try:
        return load_settings(**{"environment": {}, "default_files": (), **sources})
    except InvalidSetting as refused:
        return refused


@settings(max_examples=100, deadline=None, derandomize=True)
@given(field=st.sampled_from(list(FIELDS.values())), value=VALUES)
def test_any_flag_is_accepted_or_refused_with_its_path(field, value):
    came = outcome(flags={field.section: {field.name: value}})

    if isinstance(came, InvalidSetting):
        assert came.field.startswith(field.path)
        assert came.wanted in str(came)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(name=st.text("ABDEGILMOPRSTW_9", max_size=20), value=st.text(min_size=1, max_size=30))
def test_any_variable_of_ours_is_accepted_or_refused_by_its_name(name, value):
    came = outcome(environment={f"ROTA_{name}": value})

    assert came == Settings() or f"ROTA_{name}" in str(came)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(text=st.text('abc.=[]"\n {}1', max_size=40))
def test_a_file_that_says_anything_unknown_is_refused(text, tmp_path_factory):
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_text(text)

    came = outcome(file=file)

    assert isinstance(came, InvalidSetting) or not tomllib.loads(text)
