"""A worker that notifies, from its settings to what its database keeps (E9, E17)."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.mailbox import Mailbox, mailbox, text_of
from tests.support.shop import open_shop

from rota.config.loader import load_settings
from rota.core.policy import DelayGrowth, Policy, RetryJitter, RetryPolicy
from rota.core.states import RunState
from rota.processes.built_in_executors import build_notify_executor
from rota.processes.executor_factory import ExecutorSetup, build_executor_factory
from rota.sdk.webhooks import new_secret
from rota.store import logs

# Apprise imports what the next Python no longer has, where there still is one.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

PASSWORD = "hunter2/&?"
AT_ONCE = RetryPolicy(
    max_retries=1, growth=DelayGrowth.CONSTANT, base_delay=timedelta(0), jitter=RetryJitter.NONE
)


def url(box: Mailbox, password: str, to: str) -> str:
    at = f"rota:{password}@127.0.0.1:{box.port}"
    return f"mailto://{at}?from=rota@example.org&to={to}@example.org"


async def test_a_worker_sends_as_its_settings_say_and_repeats_only_what_failed(
    database: str, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    file = tmp_path / "rota.toml"
    async with mailbox(password=PASSWORD) as post, open_shop(database) as shop:
        post.replies["oncall@example.org"] = ["451 later, please"]
        file.write_text(
            f"""
            [channels.ops]
            url = "{url(post, "${MAIL_PASSWORD}", "ops")}"
            tenants = ["*"]
            [channels.oncall]
            url = "{url(post, f"${{file:{tmp_path}/password}}", "oncall")}"
            tenants = ["default"]
            """
        )
        settings = load_settings(environment={}, file=file, default_files=())
        setup = ExecutorSetup(settings=settings, environment={"MAIL_PASSWORD": PASSWORD})
        shop.others = (lambda: build_notify_executor(setup),)
        async with shop.worker():
            payload = {"channel": ["oncall", "ops"], "body": "attempt {attempt}"}
            run_id = await shop.submit("notify", payload, policy=Policy(retries=AT_ONCE))
            run = await shop.ends(run_id)
        attempts = await shop.attempts(run_id)
        said = b"".join(line.chunk for line in await logs.read_lines(shop.conn, run_id)).decode()

    assert (run.state, run.attempt) == (RunState.SUCCEEDED, 2)
    assert json.loads(run.result or "") == {"sent": ["oncall", "ops"]}
    assert attempts == [(1, "failed")]
    assert post.recipients == ["ops@example.org", "oncall@example.org"]
    assert [text_of(message) for message in post.messages] == ["attempt 1", "attempt 2"]
    assert said == "oncall: the mail server answered 451\nops: sent\noncall: sent\n"


def test_a_worker_takes_these_kinds_only_if_its_settings_name_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PARTNER_SECRET", new_secret())
    named = {
        "channels": {"ops": {"url": "json://localhost"}},
        "webhooks": {"partner": {"secrets": ["${PARTNER_SECRET}"]}},
    }

    def kinds(**executors: Any) -> set[str]:
        settings = load_settings(environment={}, flags={"executors": executors}, default_files=())
        return {kind for each in build_executor_factory(settings)() for kind in each.kinds}

    assert {"notify", "webhook"} <= kinds(**named)
    assert not {"notify", "webhook"} & kinds()
