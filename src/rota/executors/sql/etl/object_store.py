"""Copies files between object stores and the work folder.

Supports S3, Google and Azure through obstore, an optional dependency. The connection defines the
bucket and the folder in it (`s3://key-id:secret@bucket/folder?region=…&endpoint=…`); a payload only
names objects below that folder. An object is written completely or not at all.
"""

import asyncio
import re
from pathlib import Path
from typing import Any, Final

from rota.executors.sql.connections import SqlConnection, mask_secrets
from rota.executors.sql.data_folder import FILES_MAX, is_pattern
from rota.executors.sql.etl.transform_database import EtlLimits
from rota.executors.sql.faults import SqlFault, build_missing_extra

STORE_OPTIONS: Final = ("endpoint", "region")


class EtlObjectStore:
    """One folder of a bucket."""

    def __init__(self, connection: SqlConnection) -> None:
        self._name = connection.name
        self._connection = connection
        try:
            self._store = open_store(connection)
        except SqlFault:
            raise
        except Exception as error:  # noqa: BLE001 - obstore's errors share no class
            message = f"{self._name}: {mask_secrets(connection, str(error))}"
            raise SqlFault(type_="object store", message=message, final=True) from None

    async def fetch(self, name: str, work: Path, limits: EtlLimits) -> list[Path]:
        """Copy the objects that match a name or pattern into the work folder."""
        try:
            keys = await self._matching(name)
            paths, left = [], limits.disk_bytes
            for number, key in enumerate(keys):
                path = work / f"{self._name}-{number}-{Path(key).name[-100:]}"
                left -= await self._copy(key, path, left)
                paths.append(path)
        except SqlFault:
            raise
        except Exception as error:  # noqa: BLE001 - as above
            raise self._fault(error, name) from None
        return paths

    async def put(self, path: Path, name: str) -> None:
        import obstore  # noqa: PLC0415 - an extra

        try:
            await obstore.put_async(self._store, name, path)
        except Exception as error:  # noqa: BLE001 - as above
            raise self._fault(error, name) from None

    async def _matching(self, name: str) -> list[str]:
        import obstore  # noqa: PLC0415

        if not is_pattern(name):
            return [name]
        prefix = re.split(r"[*?\[]", name, maxsplit=1)[0].rpartition("/")[0]
        wanted = compile_pattern(name)
        keys: list[str] = []
        async for piece in obstore.list(self._store, prefix or None):
            keys += [item["path"] for item in piece if wanted.fullmatch(item["path"])]
            if len(keys) > FILES_MAX:
                message = f"{self._name}: {name} matches more than {FILES_MAX} objects"
                raise SqlFault(type_="too many files", message=message, final=True)
        if not keys:
            message = f"{self._name}: no object {name}"
            raise SqlFault(type_="no file", message=message, final=True)
        return sorted(keys)

    async def _copy(self, key: str, path: Path, limit: int) -> int:
        import obstore  # noqa: PLC0415

        answer = await obstore.get_async(self._store, key)
        size = 0
        with path.open("wb") as file:
            async for piece in answer.stream():
                size += await asyncio.to_thread(file.write, piece)
                if size > limit:
                    message = (
                        f"{self._name}: the objects need more disk than executors.etl_disk allows"
                    )
                    raise SqlFault(type_="too large", message=message, final=True)
        return size

    def _fault(self, error: Exception, name: str) -> SqlFault:
        kind = type(error).__name__
        if kind in {"NotFoundError", "FileNotFoundError"}:
            message = f"{self._name}: no object {name}"
            return SqlFault(type_="no file", message=message, final=True)
        # The other lines may be long and may quote headers.
        first = (str(error).splitlines() or [kind])[0]
        message = f"{self._name}: {mask_secrets(self._connection, first)}"
        final = kind in {"PermissionDeniedError", "UnauthenticatedError", "InvalidPathError"}
        return SqlFault(type_="object store", message=message, final=final)


def open_store(connection: SqlConnection) -> Any:
    try:
        from obstore import store  # noqa: PLC0415 - an extra
    except ImportError:
        raise build_missing_extra("sync", "an object store") from None
    # obstore's types demand constant names; these names come from the settings.
    config: Any = {
        name: value for name, value in connection.options.items() if name in STORE_OPTIONS
    }
    client: dict[str, Any] = (
        {"allow_http": True} if config.get("endpoint", "").startswith("http://") else {}
    )
    password = connection.password
    prefix = connection.path.strip("/") or None
    named: dict[str, Any] = {"prefix": prefix, "client_options": client or None}
    match connection.scheme:
        case "s3":
            key = {"access_key_id": connection.user, "secret_access_key": password}
            config |= {name: value for name, value in key.items() if value is not None}
            config["virtual_hosted_style_request"] = "endpoint" not in config
            return store.S3Store(connection.host, config=config, **named)
        case "gs":
            config = {} if password is None else {"service_account_key": password}
            return store.GCSStore(connection.host, config=config, **named)
        case _:
            key = {"account_name": connection.user, "account_key": password}
            config |= {name: value for name, value in key.items() if value is not None}
            return store.AzureStore(connection.host, config=config, **named)


def compile_pattern(name: str) -> re.Pattern[str]:
    """Compile a pattern: `*` and `?` match within a folder, `**` across folders."""
    signs = {"**/": r"(?:.*/)?", "**": r".*", "*": r"[^/]*", "?": r"[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", name)
    return re.compile("".join(signs.get(piece) or re.escape(piece) for piece in pieces))
