"""Every rule about code finds a module that breaks it, and leaves one alone that keeps it."""

import pytest
from tools import code_rules
from tools.code_rules import Module


def check(rule_name: str, *modules: Module) -> list[str]:
    return list(getattr(code_rules, rule_name)(modules))


BROKEN = {
    "find_missing_docstrings": Module("core/a.py", "x = 1\n"),
    "find_long_modules": Module("core/a.py", "x = 1\n" * (code_rules.MODULE_LINES_MAX + 1)),
    "find_uninformative_modules": Module("core/helpers.py", '"""Helps."""\n'),
    "find_stray_sql": Module("core/a.py", 'TEXT = "select id from rota.jobs"\n'),
    "find_participle_functions": Module("core/a.py", "def told():\n    pass\n"),
    "find_generic_constants": Module("core/a.py", "MOST = 3\n"),
    "find_unused_names": Module("core/a.py", "def forgotten():\n    pass\n"),
    "find_unused_settings": Module("config/a.py", "class Pool:\n    pool_min: int = 1\n"),
}
KEPT = {
    "find_missing_docstrings": Module("core/a.py", '"""Does it."""\n'),
    "find_long_modules": Module("core/a.py", "x = 1\n" * code_rules.MODULE_LINES_MAX),
    "find_uninformative_modules": Module("core/leases.py", '"""Leases."""\n'),
    "find_stray_sql": Module("core/a.py", 'TEXT = "update your settings"\n'),
    "find_participle_functions": Module("core/a.py", "def read_told():\n    pass\n"),
    "find_generic_constants": Module("core/a.py", "CLAIM_BATCH_MAX = 3\n"),
    "find_unused_names": Module(
        "core/a.py", "def read():\n    pass\n\nVALUE = read\nprint(VALUE)\n"
    ),
    "find_unused_settings": Module(
        "config/a.py", "class Pool:\n    size: int = 1\n\nPool().size\n"
    ),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_module_that_breaks_a_rule_is_found(rule: str) -> None:
    assert len(check(rule, BROKEN[rule])) == 1


@pytest.mark.parametrize("rule", KEPT)
def test_a_module_that_keeps_a_rule_is_not_found(rule: str) -> None:
    assert check(rule, KEPT[rule]) == []


def test_a_docstring_is_no_sql_and_a_string_after_it_is() -> None:
    text = 'def a():\n    """Select the jobs from the list."""\n    return "select id from t"\n'
    assert check("find_stray_sql", Module("core/a.py", text)) == [
        "core/a.py:3: SQL outside store/sql"
    ]


def test_a_class_name_in_two_modules_is_found() -> None:
    one = Module("core/a.py", "class Rate:\n    pass\n")
    other = Module("store/b.py", "class Rate:\n    pass\n")
    assert check("find_duplicate_classes", one, other) == [
        "class Rate is defined in core/a.py, store/b.py; rename all but one"
    ]


def test_the_generated_client_may_repeat_the_classes_of_the_api() -> None:
    one = Module("api/a.py", "class JobView:\n    pass\n")
    mirror = Module("sdk/client/generated/b.py", "class JobView:\n    pass\n")
    assert check("find_duplicate_classes", one, mirror) == []


def test_a_participle_may_name_a_property() -> None:
    text = "class A:\n    @property\n    def used(self):\n        return 1\n"
    assert check("find_participle_functions", Module("core/a.py", text)) == []


def test_an_entry_point_uses_what_it_names() -> None:
    text = "def build_http_executor():\n    pass\n"
    assert check("find_unused_names", Module("core/a.py", text)) == []


def test_every_rule_is_tried_here() -> None:
    assert {rule.__name__ for rule in code_rules.RULES} == {*BROKEN, "find_duplicate_classes"}
