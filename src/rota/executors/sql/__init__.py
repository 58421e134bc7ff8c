"""Statements and queries on databases that the operator named, and ETL between them.

Room: executors/sql. Two kinds of job that share their connections:

connections   what the operator lets jobs reach, and the passwords
statement     SQL text and its parameters
session       one connection of one attempt; postgres, mysql, sqlite and duck are the four of them
faults        what a database refused, and whether a retry may help
folder        where files may be, and how they get their names
values        between databases and JSON
staging       rows on their way into DuckDB
spec          what the payload of `sql` may say
writing       rows as a file
executor      one attempt of `sql`
etl           the kind `etl`
"""

from rota.executors.sql.connections import Connection, Connections
from rota.executors.sql.etl import EtlExecutor, EtlLimits
from rota.executors.sql.executor import SqlExecutor
from rota.executors.sql.folder import Folder

__all__ = ["Connection", "Connections", "EtlExecutor", "EtlLimits", "Folder", "SqlExecutor"]
