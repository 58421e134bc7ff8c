"""Runs SQL statements and ETL jobs on databases that the operator defined.

The kinds `sql` and `etl` share their connections. A payload names connections, never addresses or
passwords. `session` defines the interface to a database; PostgreSQL, MySQL, SQLite and DuckDB
implement it. Statements are parsed with their parameters, values are converted between databases,
JSON and files, and rows are staged for DuckDB. Files live in one data folder of the worker.
"""

from rota.executors.sql.connections import SqlConnection, SqlConnections
from rota.executors.sql.data_folder import DataFolder
from rota.executors.sql.etl import EtlExecutor, EtlLimits
from rota.executors.sql.executor import SqlExecutor

__all__ = [
    "DataFolder",
    "EtlExecutor",
    "EtlLimits",
    "SqlConnection",
    "SqlConnections",
    "SqlExecutor",
]
