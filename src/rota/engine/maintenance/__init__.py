"""Cleans up and repairs in the background: partitions, retention, quotas, lost runs."""
