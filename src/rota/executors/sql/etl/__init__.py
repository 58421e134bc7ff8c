"""Extracts, transforms and loads data between databases, files and object stores, with SQL.

spec        parses a payload into extracts, transform steps and a target
stores      reads and writes objects of S3, Google and Azure as files
workbench   runs the transform in a confined DuckDB with limits
texts       builds the SQL of loading, in four dialects
loading     loads a table exactly once, in chunks with stored progress
executor    runs one attempt
"""

from rota.executors.sql.etl.executor import EtlExecutor
from rota.executors.sql.etl.transform_database import EtlLimits

__all__ = ["EtlExecutor", "EtlLimits"]
