"""The HTTP interface. Room: api.

`operations.py` says what an operation is, `doors.py` what every request passes through. The
operations themselves are in `resources/`, the JSON that they take and give in `shapes/`. Nothing
here decides about jobs or runs: that is flow's and core's.
"""
