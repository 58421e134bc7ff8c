"""Jobs of an app, from the decorator to the result: a real `rota up`, real workers (I3, E17)."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.integration.cli.test_up import ROTA, environment, said_when_up
from tests.support.shop import CLOCK

import rota
from rota.sdk.app.sender import ClientSender

PATIENCE = 30.0
BILLING = """
import os
from dataclasses import dataclass
from datetime import datetime, timedelta

import rota

app = rota.App("billing")


@dataclass
class Receipt:
    order: str
    paid_at: datetime
    amount: int = 0


@app.job()
async def add(left: int, right: int = 2) -> int:
    return left + right


@app.job()
def pay(ctx: rota.SyncContext, order: str, paid_at: datetime) -> Receipt:
    ctx.log.warning("paying %s", order)
    print("printed")
    return Receipt(order, paid_at, len(order))


@app.job(isolation="process")
def apart(ctx: rota.SyncContext, numbers: list[int]) -> list[int]:
    ctx.log.info("apart")
    return [os.getpid(), sum(numbers)]


@app.job(retries={"max": 3, "base": "100ms", "cap": "100ms"})
async def flaky(ctx: rota.Context) -> int:
    if ctx.attempt < 3:
        raise rota.Retry("not yet", after=timedelta(milliseconds=10))
    return ctx.attempt


@app.job(retries=0)
def broken() -> None:
    raise ValueError("no money")


@app.job(guarantee="exactly_once")
async def book(ctx: rota.Context, amount: int) -> None:
    async with ctx.transaction() as connection:
        await connection.execute("create table if not exists bookings (amount integer)")
        await connection.execute("insert into bookings values ($1)", amount)


@app.job(guarantee="exactly_once")
def lend(ctx: rota.SyncContext, amount: int) -> int:
    with ctx.transaction(result=amount) as connection:
        connection.execute("create table if not exists loans (amount integer)")
        connection.execute("insert into loans values ($1)", amount)
    return amount


@app.job(guarantee="exactly_once")
def forget(amount: int) -> None:
    pass


@app.job(isolation="process")
def isolated(ctx: rota.SyncContext) -> None:
    with ctx.transaction():
        pass


@app.job(cron="0 9 * * 1-5", timezone="Europe/Berlin", retries=5, timeout="10m")
def report(day: str = "today") -> None:
    pass
"""


@dataclass(kw_only=True)
class Running:
    """A `rota up` that serves an app, and that app as a program sees it that submits."""

    folder: Path
    client: rota.Client
    app: Any

    def kinds(self, run_id: str) -> dict[str, str]:
        """What the streams of a run's log say."""
        said: dict[str, str] = {}
        for line in self.client.get_logs(run_id).items:
            said[line.stream] = said.get(line.stream, "") + line.text
        return said


@pytest.fixture(scope="module")
def billing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("billing")
    (folder / "billing.py").write_text(BILLING)
    with started(folder, "up", "billing:app") as process:
        said = said_when_up(process)
        url = str(re.findall(r"API at (\S+),", said)[0])
        key = (folder / ".rota" / "admin.key").read_text().strip()
        module = loaded(folder / "billing.py")
        module.app.sender = ClientSender(url, key)
        with rota.Client(url, key) as client:
            yield Running(folder=folder, client=client, app=module)
        module.app.close()


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # The annotations of its functions are looked up there.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


@contextmanager
def started(folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    with (folder / "log").open("a") as log:
        process = subprocess.Popen(
            [ROTA, *words],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            yield process
        finally:
            process.kill()
            process.communicate()


def hear(process: subprocess.Popen[str], wanted: str) -> str:
    """The next line that says this."""
    assert process.stdout is not None
    said = ""
    while wanted not in said:
        line = process.stdout.readline()
        assert line, f"it ended after: {said}"
        said = line
    return said


def until(look: Callable[[], Any], wanted: object) -> None:
    end = CLOCK.monotonic() + PATIENCE
    while (seen := look()) != wanted:
        assert CLOCK.monotonic() < end, f"still {seen!r}, not {wanted!r}"


def test_a_submitted_job_gives_its_result(billing: Running) -> None:
    submitted = billing.app.add.submit(3, right=4)

    assert submitted.result(PATIENCE) == 7
    assert submitted.status() == "succeeded"


async def test_async_code_submits_and_waits_as_well(billing: Running) -> None:
    submitted = await billing.app.add.submit_async(3)

    assert await submitted.result_async(PATIENCE) == 5
    assert await submitted.status_async() == "succeeded"


def test_arguments_and_results_keep_their_types_and_the_log_its_records(billing: Running) -> None:
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    submitted = billing.app.pay.submit("o-17", noon)

    assert submitted.result(PATIENCE) == billing.app.Receipt("o-17", noon, 4)
    until(
        lambda: billing.kinds(submitted.run_id),
        {"record": "WARNING billing.pay: paying o-17\n", "stdout": "printed\n"},
    )


def test_a_job_in_a_process_of_its_own_is_served_alike(billing: Running) -> None:
    submitted = billing.app.apart.submit([1, 2, 3])

    pid, total = submitted.result(PATIENCE)

    assert total == 6
    assert pid != os.getpid()
    until(lambda: billing.kinds(submitted.run_id), {"record": "INFO billing.apart: apart\n"})


def test_a_retry_is_another_attempt(billing: Running) -> None:
    assert billing.app.flaky.submit().result(PATIENCE) == 3


def test_a_failure_reaches_whoever_waits(billing: Running) -> None:
    with pytest.raises(rota.RunFailed, match="is dead: ValueError: no money"):
        billing.app.broken.submit().result(PATIENCE)


def test_a_run_is_completed_in_the_transaction_of_its_function(billing: Running) -> None:
    submitted = billing.app.book.submit(5)

    assert submitted.result(PATIENCE) is None
    assert billing.app.lend.submit(7).result(PATIENCE) == 7
    with pytest.raises(rota.RunFailed, match=r"returned without using ctx\.transaction\(\)"):
        billing.app.forget.submit(7).result(PATIENCE)


def test_a_function_in_a_process_has_no_transaction(billing: Running) -> None:
    with pytest.raises(rota.RunFailed, match="needs a handler without isolation"):
        billing.app.isolated.submit().result(PATIENCE)
    with pytest.raises(rota.ApiError, match="its executor cannot complete the run"):
        billing.app.isolated.options(guarantee="exactly_once").submit()


def test_wrong_arguments_that_came_past_the_sdk_fail_without_a_retry(billing: Running) -> None:
    made = billing.client.create_job(kind="billing.add", payload={"left": "x"})

    def ended() -> str:
        return billing.client.get_run(str(made.run_id)).status

    until(ended, "dead")
    run = billing.client.get_run(str(made.run_id))
    assert run.attempt_number == 1
    assert run.error_message == ("InvalidInput: left: 'x' is invalid: expected int, got str")


def test_a_later_submission_runs_when_its_time_has_come(billing: Running) -> None:
    submitted = billing.app.add.after("1s", 1, 1)

    assert submitted.run_id is None
    assert submitted.result(PATIENCE) == 2


def test_many_are_submitted_together_and_equal_ones_once(billing: Running) -> None:
    made = billing.app.add.submit_many([(1,), (2,), {"left": 3, "right": 0}])
    unique = billing.app.add.options(unique={"key": "one", "within": "1h"})

    assert [each.result(PATIENCE) for each in made] == [3, 4, 3]
    assert [unique.submit(n).deduplicated for n in (1, 2)] == [False, True]


def test_the_schedule_is_registered_as_declared(billing: Running) -> None:
    (job,) = billing.client.list_jobs(label="rota.app:billing").items

    assert (job.name, job.kind, job.version) == ("billing.report", "billing.report", 1)
    assert (job.cron_expression, job.timezone) == ("0 9 * * 1-5", "Europe/Berlin")
    assert (job.max_retries, job.timeout, job.payload) == (5, "PT10M", {})


SHOP = """
import rota

app = rota.App("shop")


@app.job({when})
def version() -> int:
    return {version}
"""


def shop(folder: Path, version: int, *, when: str = "every='1h'") -> None:
    (folder / "shop.py").write_text(SHOP.format(version=version, when=when))


def served_version(billing: Running) -> Any:
    app = rota.App("shop")
    app.sender = billing.app.app.sender

    @app.job()
    def version() -> int: ...  # type: ignore[empty-body]

    return version.submit().result(PATIENCE)


def test_a_worker_takes_over_new_code_and_keeps_the_old_while_the_new_is_broken(
    billing: Running, tmp_path: Path
) -> None:
    shop(tmp_path, 1)
    words = ("worker", "shop:app", "--reload", "--data", str(billing.folder / ".rota"))
    with started(tmp_path, *words) as process:
        hear(process, "worker ready")
        (before,) = billing.client.list_jobs(label="rota.app:shop").items
        until(lambda: served_version(billing), 1)

        shop(tmp_path, 22, when="every='2h'")
        hear(process, "Changed: shop.py")
        hear(process, "worker ready")
        (after,) = billing.client.list_jobs(label="rota.app:shop").items
        until(lambda: served_version(billing), 22)

        (tmp_path / "shop.py").write_text("def (:")
        told = hear(process, "cannot be imported")
        still = served_version(billing)
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)

    assert (before.version, after.version) == (1, 2)
    assert (after.schedule or {})["every"]["interval"] == "PT2H"
    assert "the old code keeps running: cannot import " in told
    assert (still, code) == (22, 0)
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_an_app_that_is_wrong_is_one_clear_line(tmp_path: Path) -> None:
    source = "import rota\napp = rota.App('x')\napp.job(cron='61 * * * *')\n"
    (tmp_path / "wrong.py").write_text(source)

    done = subprocess.run(
        [ROTA, "worker", "wrong:app"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.returncode == 64
    assert "schedule.cron: '61 * * * *' is invalid" in done.stderr
    assert "wrong.py, line 3" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / ".rota").exists()
