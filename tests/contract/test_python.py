"""Python jobs under the suite that every executor must pass, in each way they are run (E17)."""

from typing import Any

from tests.support import contract_jobs

import rota
from rota.executors.python import PythonExecutor
from rota.sdk.testing.executor_contract import ExecutorContract


class OfPython(ExecutorContract):
    good_payload = {"say": "hello"}  # noqa: RUF012
    bad_payloads = ({"say": 1}, {"shout": "x"}, "hello", 7, [])
    failing_payload = {"fail": True}  # noqa: RUF012
    slow_payload = {"seconds": 60}  # noqa: RUF012
    app: rota.App = contract_jobs.on_loop
    name = "on_loop"

    def make_executor(self) -> PythonExecutor:
        source = f"tests.support.contract_jobs:{self.name}.handlers"
        return PythonExecutor(self.app.handlers, source=source)

    def speaking_payload(self, word: str) -> Any:
        return {"say": word}


class TestOnTheLoop(OfPython):
    pass


class TestInAThread(OfPython):
    app = contract_jobs.in_thread
    name = "in_thread"


class TestInAProcess(OfPython):
    app = contract_jobs.in_child
    name = "in_child"
    # A process has to be there before it can be stopped.
    HEAD_START = 1.5
