"""Copies and mirrors files between folders, object stores and SFTP. Room: executors/sync.

places    where jobs may read and write, by name; from the settings, never from a payload
spec      what a payload may say, and what is refused
patterns  which files are meant
tree      what a place must be able to do, whatever it is made of
folders   a folder of this machine; ground is the way to its files, drafts the files themselves
objects   a bucket of an object store
sftp      a folder of another machine; ssh is the connection to it
spool     listings that are sorted on disk, so that a million files need little memory
planning  two listings become steps: copy, look closer, delete
copying   one file, checked
tally     what was done, and what went wrong
executor  one attempt: plan, guard, copy, delete
"""

from rota.executors.sync.executor import SyncExecutor
from rota.executors.sync.places import Place

__all__ = ["Place", "SyncExecutor"]
