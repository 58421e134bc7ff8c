"""Which types rows get on their way, where the driver does not tell."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pytest

from rota.executors.sql.faults import SqlFault
from rota.executors.sql.row_staging import RowStaging
from rota.executors.sql.session import ResultColumn


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([1, None], "BIGINT"),
        ([2**70], "HUGEINT"),
        ([1, 2**70], "HUGEINT"),
        ([1, 2.5], "DOUBLE"),
        ([Decimal("1.50"), Decimal(-100)], "DECIMAL(5,2)"),
        ([Decimal(0)], "DECIMAL(1,0)"),
        ([Decimal("1e-40")], "DOUBLE"),
        ([Decimal("nan")], "DOUBLE"),
        ([True], "BOOLEAN"),
        (["a", 1], "VARCHAR"),
        ([b"\x00\xff"], "BLOB"),
        ([date(2030, 1, 1)], "DATE"),
        ([datetime(2030, 1, 1, 9)], "TIMESTAMP"),  # noqa: DTZ001
        ([datetime(2030, 1, 1, 9, tzinfo=UTC)], "TIMESTAMPTZ"),
        ([time(9)], "TIME"),
        ([timedelta(days=1, microseconds=5)], "INTERVAL"),
        ([UUID(int=7)], "UUID"),
        ([{"a": [1, None]}], "JSON"),
        ([None], "VARCHAR"),
        ([float("nan"), float("-inf")], "DOUBLE"),
        (['x\n"ü', ""], "VARCHAR"),
    ],
)
def test_a_column_gets_the_type_of_its_values(
    tmp_path: Path, values: list[Any], type_: str
) -> None:
    with RowStaging(tmp_path / "rows", [ResultColumn(name='odd "name')]) as staging:
        staging.add([(value,) for value in values])
    conn = duckdb.connect()

    assert staging.types == [type_]
    assert conn.execute(f"select count(*) from ({staging.build_select()})").fetchall() == [
        (len(values),)
    ]
    if type_ not in {"TIMESTAMPTZ", "JSON"} and values == values:  # noqa: PLR0124 - nan is not
        found = [row[0] for row in conn.execute(staging.build_select()).fetchall()]
        assert [str(each) for each in found] == [
            str(float(value)) if type_ == "DOUBLE" else as_decimal(value, type_) for value in values
        ]


def as_decimal(value: Any, type_: str) -> str:
    """With as many digits as the column has."""
    scale = int(type_.rstrip(")").rpartition(",")[2]) if type_.startswith("DECIMAL") else None
    return str(value) if scale is None else str(round(value, scale))


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SqlFault, match="occurs twice"):
        RowStaging(tmp_path / "rows", [ResultColumn(name="a"), ResultColumn(name="A")])


def test_more_bytes_than_allowed_are_refused(tmp_path: Path) -> None:
    with (
        pytest.raises(SqlFault, match="etl_disk"),
        RowStaging(tmp_path / "rows", [ResultColumn(name="a")], max_bytes=10) as staging,
    ):
        staging.add([("x" * 20,)])
