"""Copies and mirrors files between folders, object stores and SFTP servers.

Places, which the operator defines in the settings, name the folders and buckets that jobs may read
and write. A payload is parsed into an order with patterns for the files to include. Each kind of
place implements `Tree`: folders of this machine, buckets of object stores, folders on SFTP servers.
An attempt lists both sides (sorted on disk, so that a million files need little memory), plans the
steps, checks the plan, copies the files and deletes the files that a mirror no longer has.
"""

from rota.executors.sync.executor import SyncExecutor
from rota.executors.sync.places import SyncPlace

__all__ = ["SyncExecutor", "SyncPlace"]
