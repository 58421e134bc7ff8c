"""What people need to test their own executors and jobs. Room: sdk/testing.

RecordingContext    an attempt that keeps what an executor says, without a database
executor_contract   the tests that every executor must pass; needs pytest, so it is imported
                    by name: `from rota.sdk.testing.executor_contract import ExecutorContract`
"""

from rota.sdk.testing.context import Recorded, RecordingContext

__all__ = ["Recorded", "RecordingContext"]
