"""The shell executor under the suite that every executor must pass (E17)."""

from typing import Any

from rota.executors.shell import ShellExecutor
from rota.sdk.testing.executor_contract import ExecutorContract


class TestShell(ExecutorContract):
    good_payload = {"argv": ["/bin/echo", "hello"]}  # noqa: RUF012
    bad_payloads = ({}, {"argv": "echo"}, {"argv": ["echo"]}, "echo", None, 7, [], {"x": 1})
    failing_payload = {"argv": ["/bin/sh", "-c", "echo broken >&2; exit 3"]}  # noqa: RUF012
    slow_payload = {"argv": ["/bin/sh", "-c", "trap '' TERM; sleep 60 & sleep 60"]}  # noqa: RUF012
    loud_payload = {"argv": ["/usr/bin/head", "-c", "100000000", "/dev/zero"]}  # noqa: RUF012

    def make_executor(self) -> ShellExecutor:
        return ShellExecutor(allow=("*",))

    def speaking_payload(self, word: str) -> Any:
        return {"argv": ["/bin/echo", word]}
