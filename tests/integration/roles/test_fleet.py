"""Processes with a login each do all their work, and no more than it (T1).

One API, one scheduler and one worker on a durable server; the owner's login is used to migrate and
to look at what they did.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import errors
from tests.support.role_fleet import (
    BOTH,
    SERVICE,
    WORKER,
    RoleFleet,
    migrate,
    running_fleet,
    until,
)
from tests.support.role_jobs import NIGHTLY

from rota.store.roles import ROLES_SQL


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RoleFleet]:
    folder: Path = tmp_path_factory.mktemp("fleet")
    with running_fleet(folder) as running:
        yield running
        logs = running.read_logs()
        assert "permission denied" not in logs
        assert "service.failed" not in logs


def test_a_worker_registers_the_schedules_of_its_app_and_they_fire(fleet: RoleFleet) -> None:
    def ticked() -> bool:
        runs = fleet.client.list_runs(kind="roles.tick", status="succeeded").items
        return len(runs) >= 2

    until(ticked, "two ticks")


def test_an_immediate_job_is_retried_and_ends(fleet: RoleFleet) -> None:
    run = fleet.submit("flaky")

    assert (run.status, run.result) == ("succeeded", 2)


def test_a_worker_opens_the_secrets_of_a_job(fleet: RoleFleet) -> None:
    fleet.client.put_secret("token", "k3y-for-the-shop")

    run = fleet.submit("tell", {"token": "{{secret:token}}"})

    assert (run.status, run.result) == ("succeeded", len("k3y-for-the-shop"))


def test_a_transaction_of_a_handler_completes_its_run_and_hands_on_the_next(
    fleet: RoleFleet,
) -> None:
    run = fleet.submit("pay", {"amount": 7}, guarantee="exactly_once")

    assert (run.status, run.result) == ("succeeded", {"paid": 7})
    with fleet.connect() as owner:
        assert owner.execute("select amount from public.payments").fetchall() == [(7,)]
        told = owner.execute(
            "select submitter from rota.live_runs where address = 'transaction' "
            "union all select submitter from rota.runs where address = 'transaction'"
        )
        assert told.fetchall() == [(f"role {WORKER}",)]
    until(
        lambda: fleet.client.list_runs(kind="roles.tell", status="succeeded").items,
        "the job that was handed on",
    )


def test_a_graph_with_a_map_is_retried_from_its_failed_member(fleet: RoleFleet) -> None:
    run_id = fleet.client.create_job(kind="graph", graph=NIGHTLY).run_id
    assert run_id is not None
    assert fleet.finish(run_id).status == "dead"

    (fleet.folder / "gate").touch()
    fleet.client.retry_run_graph(run_id)

    assert fleet.finish(run_id).status == "succeeded"


def test_an_event_becomes_a_run(fleet: RoleFleet) -> None:
    taken = fleet.client.send_event("order.paid", {"order": 1}, source="shop", id="1")

    assert [fleet.finish(run_id).result for run_id in taken.run_ids] == [{"order": 1}]


def test_upkeep_makes_the_days_to_come_and_drops_those_that_are_over(fleet: RoleFleet) -> None:
    with fleet.connect() as owner:

        def is_done() -> bool:
            (ahead,) = owner.execute(
                "select count(*) from pg_class where relname ~ '^runs_2' and relkind = 'r' "
                "and relowner = current_user::regrole"
            ).fetchone() or (0,)
            (old,) = owner.execute("select to_regclass('rota.runs_20200101')").fetchone() or ("",)
            left = owner.execute(
                "select 1 from rota.runs where finished_at < '2021-01-01'"
            ).fetchall()
            return ahead >= 3 and old is None and not left

        until(is_done, "partitions and pruning")


def test_the_run_of_a_killed_worker_is_rescued(fleet: RoleFleet) -> None:
    run_id = fleet.client.create_job(kind="roles.hang").run_id
    assert run_id is not None
    until(lambda: fleet.client.get_run(run_id).status == "running", "its start")

    fleet.worker.end()
    fleet.start_worker()

    run = fleet.finish(run_id)
    assert (run.status, run.result) == ("succeeded", 2)


NEW_KEY = (
    "insert into rota.api_keys (id, tenant_id, name, handle, digest, role) values "
    "(gen_random_uuid(), 1, 'mine', 'aaaaaaaa', sha256('x'), 'platform')"
)
EVERYBODY = (
    "delete from rota.audit",
    "update rota.audit set actor = 'nobody'",
    "truncate rota.audit",
    "alter table rota.audit disable trigger all",
    "create table rota.mine (id integer)",
    "drop table rota.jobs",
    "insert into rota.migrations (version, name, checksum) values (9999, 'x', 'x')",
    "update rota.role_grants set worker = 'all'",
    "select rota.grant_roles()",
    "select rota.make_partition('jobs', current_date)",
    "set role rota",
    "copy public.payments from program 'echo 1'",
    "copy public.payments to '/tmp/rota-payments'",
    "select pg_read_file('/etc/passwd')",
    "alter role current_user superuser",
)
WORKERS = (
    NEW_KEY,
    "select digest from rota.api_keys",
    "update rota.api_keys set revoked_at = null",
    "select * from rota.logins",
    "select created_at from rota.tenants",
    "update rota.tenants set paused_at = null",
    "insert into rota.tenants (name) values ('mine')",
    "select ciphertext from rota.hooks",
    "select body from rota.idempotency",
    "update rota.secrets set version = 2",
    "delete from rota.secrets",
    "select actor from rota.audit",
    "update rota.queues set paused_at = null",
    "delete from rota.jobs",
    "select rota.drop_partition('runs', date '2020-01-01')",
    "set role rota_api",
)
SERVICES = ("select ciphertext from rota.secrets",)


@pytest.mark.parametrize(
    ("login", "statements"),
    [(SERVICE, (*EVERYBODY, *SERVICES)), (WORKER, (*EVERYBODY, *WORKERS))],
)
def test_what_a_login_may_not_do_is_refused(
    fleet: RoleFleet, login: str, statements: tuple[str, ...]
) -> None:
    refusals = (errors.InsufficientPrivilege, errors.InvalidParameterValue)
    done = []
    with fleet.connect(login) as conn:
        for statement in statements:
            try:
                conn.execute(statement)
            except refusals:
                continue
            done.append(statement)

    assert done == []


def test_everything_in_one_process_needs_both_roles(fleet: RoleFleet) -> None:
    variables = {"ROTA_API__PORT": "0", "ROTA_DATABASE_URL": fleet.url(BOTH)}
    everything = fleet.cluster.add("up", "up", variables=variables)
    lacking = fleet.cluster.add(
        "lacking", "up", variables=variables | {"ROTA_DATABASE_URL": fleet.url(SERVICE)}
    )

    until(lambda: "Rota is up." in (fleet.folder / "up.log").read_text(), "`rota up`")
    until(lambda: not lacking.is_alive, "the end of the other one")
    everything.end()

    assert lacking.codes == [78]
    told = (fleet.folder / "lacking.log").read_text()
    assert f"the login {SERVICE} is not a member of rota_worker" in told


def test_only_the_owner_migrates(fleet: RoleFleet) -> None:
    done = migrate(fleet.url(WORKER), fleet.folder)

    assert done.returncode == 78
    assert f"the login {WORKER} does not own the schema rota" in done.stderr
    assert "use the URL of its owner, rota" in done.stderr


def test_the_sql_for_an_administrator_is_printed(tmp_path: Path) -> None:
    done = migrate("postgresql://nowhere.invalid/rota", tmp_path, "--print-roles")

    assert (done.returncode, done.stdout) == (0, ROLES_SQL)
