"""Declares the settings of the built-in executors, and the resources that jobs refer to by name.

A payload says `"channel": "ops"`; the URL and the password of that channel are settings of the
worker. Texts may refer to secrets that are stored elsewhere (references.py).
"""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct, field

from rota.config.declarations import (
    MINUTE,
    SECOND,
    TenantNames,
    choice,
    number,
    span,
    tenant_list,
    text,
)
from rota.core.tenancy import DEFAULT_TENANTS


class NotifyChannelSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Deprecated: use [channels.NAME]. A service to which `notify` jobs send messages."""

    url: Annotated[
        str,
        text(
            "an Apprise URL such as mailto://rota:${MAIL_PASSWORD}@example.org",
            "Service, account and recipients, as an Apprise URL. Required.",
            secret=True,
            min_length=1,
            max_length=4096,
        ),
    ]
    allow_to: Annotated[
        bool,
        choice("Whether a payload may name other recipients. E-mail only. Default: false."),
    ] = False
    timeout: Annotated[
        timedelta, span(SECOND, 5 * MINUTE, "Maximum time to send one message. Default: 30 s.")
    ] = 30 * SECOND
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url='***', allow_to={self.allow_to}, …)"


class WebhookSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The secrets that sign the requests of `webhook` jobs."""

    secrets: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=512)], ...],
        text(
            "a list of secrets such as ${PARTNER_SECRET}, each whsec_ and the base64 of 24 to 64 "
            "bytes",
            "Secrets that the receiver knows. List both while you rotate one. Required.",
            secret=True,
            min_length=1,
            max_length=4,
        ),
    ]
    hosts: Annotated[
        tuple[str, ...],
        text(
            "a list of host names",
            "Hosts to which requests signed with these secrets may go. Default: all hosts.",
            max_length=100,
        ),
    ] = ()
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"{type(self).__name__}(secrets='***', hosts={self.hosts})"


class PlaceSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A folder, bucket or remote machine that `sync` jobs may read and write."""

    url: Annotated[
        str,
        text(
            "a URL such as file:///srv/photos, s3://bucket/folder, gs://bucket/folder, "
            "az://container/folder or sftp://user@host:22/folder",
            "The folder. Jobs cannot reach anything above it. Required.",
            secret=True,
            min_length=1,
            max_length=4096,
        ),
    ]
    endpoint: Annotated[
        str | None,
        text(
            "a URL such as https://minio.example:9000",
            "URL of a self-hosted object store. Default: the provider's own.",
        ),
    ] = None
    region: Annotated[
        str | None, text("the name of a region", "Region of an S3 bucket. Default: us-east-1.")
    ] = None
    account: Annotated[
        str | None,
        text(
            "a text or a reference such as ${S3_KEY_ID}",
            "Access key id (S3) or storage account name (Azure). Default: none.",
        ),
    ] = None
    secret: Annotated[
        str | None,
        text(
            "a reference such as ${S3_SECRET} or ${file:/run/secrets/s3}",
            "Secret access key (S3), account key (Azure), service account as JSON (Google), "
            "passphrase of `key_file` or password (SFTP). Default: for object stores, the "
            "credentials in the worker's environment.",
            secret=True,
        ),
    ] = None
    key_file: Annotated[
        Path | None, text("the path of a private key", "Private key for SFTP. Default: none.")
    ] = None
    host_keys: Annotated[
        tuple[str, ...],
        text(
            'a list of fingerprints such as "SHA256:…"',
            "Accepted host keys (SFTP); `ssh-keygen -lf` prints them. Default: [].",
            max_length=20,
        ),
    ] = ()
    read_only: Annotated[bool, choice("Allow jobs to read only. Default: false.")] = False
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url='***', read_only={self.read_only}, …)"


class ConnectionSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A database or object store that `sql` and `etl` jobs may use."""

    url: Annotated[
        str,
        text(
            "a URL such as postgresql://rota:${SHOP_PASSWORD}@db.example/shop, mysql://…, "
            "sqlite:///srv/shop.db, duckdb:///srv/shop.duckdb, s3://key:${SECRET}@bucket/folder, "
            "gs://… or az://…",
            "Address and account. Required.",
            secret=True,
            min_length=1,
            max_length=65_536,
        ),
    ]
    read_only: Annotated[bool, choice("Allow jobs to read only. Default: false.")] = False
    tenants: Annotated[TenantNames, tenant_list("Tenants whose jobs may use it.")] = DEFAULT_TENANTS

    def __repr__(self) -> str:
        return f"{type(self).__name__}(url='***', read_only={self.read_only})"


class ExecutorSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the built-in executors of a worker may do. Only the worker's own settings decide this,
    never the API.
    """

    shell_allow: Annotated[
        tuple[str, ...],
        text(
            'a list of absolute paths of programs, or ["*"] for all',
            "Programs that `shell` jobs may run. Default: none, and the kind is disabled.",
            max_length=100,
        ),
    ] = ()
    shell_user: Annotated[
        str | None,
        text(
            "the name of a user",
            "User that runs the programs of `shell` jobs. Required if the worker runs as root and "
            "`shell_allow` is set; a worker of another user runs programs as itself. `root` gives "
            "every shell job all rights on the machine. Default: none.",
        ),
    ] = None
    shell_tenants: Annotated[TenantNames, tenant_list("Tenants that may run `shell` jobs.")] = (
        DEFAULT_TENANTS
    )
    http_allow_networks: Annotated[
        tuple[str, ...],
        text(
            "a list of networks such as 10.0.0.0/8",
            "Private networks that `http` jobs may reach. Default: none.",
            max_length=100,
        ),
    ] = ()
    http_deny_networks: Annotated[
        tuple[str, ...],
        text(
            "a list of networks such as 10.1.2.0/24",
            "Networks that `http` jobs may never reach; overrides the allow lists. Default: none.",
            max_length=100,
        ),
    ] = ()
    http_allow_hosts: Annotated[
        tuple[str, ...],
        text(
            "a list of host names",
            "Hosts that `http` jobs may reach even if they resolve to private addresses. "
            "Default: none.",
            max_length=100,
        ),
    ] = ()
    http_allow_ports: Annotated[
        tuple[Annotated[int, Meta(ge=1, le=65_535)], ...],
        text(
            "a list of ports",
            "Ports that `http` jobs may use in addition to 80, 443, 8080 and 8443. Default: none.",
            max_length=100,
        ),
    ] = ()
    http_allow_tenants: Annotated[
        TenantNames,
        tenant_list(
            "Tenants to which `http_allow_networks`, `http_allow_hosts` and `http_allow_ports` "
            "apply, in `http` and `webhook` jobs and in webhook subscriptions. Other tenants reach "
            "the public internet on the standard ports only."
        ),
    ] = DEFAULT_TENANTS
    channels: Annotated[
        dict[str, NotifyChannelSettings],
        text(
            "a table of channels by name",
            "Deprecated: use [channels.NAME], which alerts use too. Channels of `notify` jobs. "
            "Default: none.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    webhooks: Annotated[
        dict[str, WebhookSettings],
        text(
            "a table of webhooks by name",
            "Signing secrets of `webhook` jobs. Default: none, and the kind is disabled.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    places: Annotated[
        dict[str, PlaceSettings],
        text(
            "a table of places by name",
            "Places that `sync` jobs may read and write. Default: none, and the kind is disabled.",
        ),
    ] = field(default_factory=dict)
    connections: Annotated[
        dict[str, ConnectionSettings],
        text(
            "a table of connections by name",
            "Connections of `sql` and `etl` jobs. A worker without connections and without "
            "`data_folder` does not claim such jobs. Default: none.",
            secret=True,
        ),
    ] = field(default_factory=dict)
    data_folder: Annotated[
        Path | None,
        text(
            "the full path of a folder",
            "Folder in which `sql` and `etl` jobs read and write files. No path leads out of it. "
            "Default: none; jobs cannot use files.",
        ),
    ] = None
    data_folder_tenants: Annotated[
        TenantNames,
        tenant_list(
            "Tenants whose jobs may read and write files in `data_folder`. They all see the same "
            "files."
        ),
    ] = DEFAULT_TENANTS
    etl_memory: Annotated[
        int,
        number(
            32, 1_048_576, "Memory in megabytes for the transform of one `etl` job. Default: 512."
        ),
    ] = 512
    etl_disk: Annotated[
        int,
        number(
            16,
            16_777_216,
            "Disk space in megabytes that one `etl` job may use when memory is full. "
            "Default: 10240.",
        ),
    ] = 10_240
    etl_folder: Annotated[
        Path | None,
        text(
            "the full path of a folder",
            "Parent of the work folders of `etl` jobs. Default: the system's temporary folder.",
        ),
    ] = None
