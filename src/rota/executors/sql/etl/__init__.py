"""Extract, transform, load: SQL between databases, files and object stores. Room:
executors/sql/etl.

spec        what a payload may say
stores      objects of S3, Google and Azure, as files
workbench   the DuckDB in which a transform runs, and its limits
texts       the SQL of loading, in four dialects
loading     chunks and marks: once, whatever crashes
executor    one attempt
"""

from rota.executors.sql.etl.executor import EtlExecutor
from rota.executors.sql.etl.workbench import EtlLimits

__all__ = ["EtlExecutor", "EtlLimits"]
