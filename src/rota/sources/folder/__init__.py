"""Turns files that arrive in a folder into events."""

from rota.sources.folder.source import FolderSource, make

__all__ = ["FolderSource", "make"]
