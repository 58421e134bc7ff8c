"""Files that arrive in a folder become events. Room: sources/folder."""

from rota.sources.folder.source import FolderSource, make

__all__ = ["FolderSource", "make"]
