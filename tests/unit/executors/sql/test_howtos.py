"""The pages about SQL and ETL jobs: what they show is accepted."""

import json
import re
from pathlib import Path

import pytest

from rota.config.loader import load_settings
from rota.executors.sql import DataFolder, EtlExecutor, SqlConnection, SqlConnections, SqlExecutor
from rota.processes.built_in_executors import build_etl_executor, build_sql_executor
from rota.processes.executor_factory import ExecutorSetup

HOWTO = Path(__file__).resolve().parents[4] / "docs" / "howto"
PAGES = {"sql": HOWTO / "sql-jobs.md", "etl": HOWTO / "etl-jobs.md"}


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)


@pytest.mark.parametrize("kind", PAGES)
def test_every_payload_of_the_page_is_accepted(kind: str) -> None:
    urls = {
        "shop": "postgresql://me@db/shop",
        "warehouse": "postgresql://me@db/warehouse",
        "lake": "s3://k@b",
    }
    named = SqlConnections(SqlConnection(name=name, url=url) for name, url in urls.items())
    folder = DataFolder(Path("/srv/data"))
    make = SqlExecutor if kind == "sql" else EtlExecutor
    payloads = [json.loads(block) for block in blocks(PAGES[kind], "json")]

    for payload in payloads:
        make(connections=named, folder=folder).read(kind, payload)

    assert len(payloads) >= 2


@pytest.mark.parametrize("kind", PAGES)
def test_every_setting_of_the_page_is_accepted(kind: str, tmp_path: Path) -> None:
    for block in blocks(PAGES[kind], "toml"):
        (tmp_path / "secret").write_text("x")
        file = tmp_path / "rota.toml"
        file.write_text(re.sub(r"\$\{file:[^}]*\}", f"${{file:{tmp_path}/secret}}", block))

        settings = load_settings(environment={}, file=file, default_files=())

        environment = {"SHOP_PASSWORD": "x", "LAKE_SECRET": "y"}
        setup = ExecutorSetup(settings=settings, environment=environment)
        build_sql_executor(setup)
        build_etl_executor(setup)


def test_what_the_page_runs_runs() -> None:
    [block] = blocks(PAGES["sql"], "python")

    exec(compile(block, "sql-jobs.md", "exec"), {})
