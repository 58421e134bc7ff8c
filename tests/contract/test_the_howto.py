"""The executor of docs/howto/write-an-executor.md, as it is printed, passes the suite (E17)."""

import re
import sys
import types
from pathlib import Path
from typing import Any

from rota.sdk.testing.executor_contract import ExecutorContract

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "write-an-executor.md"


def printed(number: int) -> dict[str, Any]:
    """Run the n-th Python example of the page, and return its names."""
    code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[number]
    name = f"printed_{number}"
    module = sys.modules[name] = types.ModuleType(name)
    module.__dict__["GreetingExecutor"] = None if number == 0 else GREETING
    exec(compile(code.replace("from my_package", "# "), str(PAGE), "exec"), module.__dict__)
    return module.__dict__


GREETING = printed(0)["GreetingExecutor"]
SUITE = printed(1)["TestGreeting"]


class TestPrinted(SUITE):  # type: ignore[misc, valid-type]
    HEAD_START = 0.1


def test_the_page_counts_the_tests_of_the_suite() -> None:
    tests = [name for name in dir(ExecutorContract) if name.startswith("test_")]

    assert len(tests) == 14
    assert "fourteen tests" in PAGE.read_text()


async def test_the_printed_test_passes() -> None:
    await printed(2)["test_it_greets"]()
