"""Migrations that would block writers or break older code do not pass `make check` (O4, F59)."""

from pathlib import Path

import pytest
from tools.migration_rules import LAST_FREE, OUTSIDE, problems

NAME = "0099_more_expand"
MIGRATIONS = Path(__file__).parents[3] / "src" / "rota" / "store" / "migrations"

REFUSED = [
    "create index jobs_x on rota.jobs (x);",
    "create unique index jobs_x\n    on only rota.jobs (x);",
    "create index concurrently jobs_x on rota.jobs (x);",
    "alter table rota.jobs alter column name type varchar(9);",
    "alter table rota.jobs alter name set data type varchar(9);",
    "alter table rota.jobs alter column name set not null;",
    f"{OUTSIDE}\nalter table rota.jobs alter column name set not null;",
    "alter table rota.jobs drop column name;",
    "alter table rota.jobs rename column name to title;",
    "drop table rota.jobs;",
    "alter table rota.jobs add column x text check (length(x) > 3);",
    "alter table rota.jobs add column x uuid default gen_random_uuid();",
    "alter table rota.jobs add column x text generated always as (name) stored;",
    "alter table rota.jobs add constraint jobs_x check (x > 3);",
    "alter table rota.jobs add constraint jobs_x unique (x);",
    "update rota.jobs set x = 3;",
    "delete from rota.jobs where x = 3;",
    "lock table rota.jobs in exclusive mode;",
    "reindex table rota.jobs;",
    f"{OUTSIDE}\ncreate function rota.f() returns void language sql as $$ select 1; $$;",
]
ACCEPTED = [
    "alter table rota.jobs add column x text;",
    "alter table rota.jobs add column x text not null default 'blue';",
    "alter table rota.jobs add column x timestamptz not null default now();",
    (
        "create table rota.new (x text not null check (x <> ''));\n"
        "create index new_x on rota.new (x);\n"
        "insert into rota.new (x) values ('a');\nupdate rota.new set x = 'b';"
    ),
    f"{OUTSIDE}\ncreate index concurrently jobs_x on rota.jobs (x);",
    "alter table rota.jobs add constraint jobs_x check (x is not null) not valid;",
    (
        f"{OUTSIDE}\nalter table rota.jobs validate constraint jobs_x;\n"
        "alter table rota.jobs alter column x set not null;"
    ),
    (
        f"{OUTSIDE}\ncreate unique index concurrently jobs_x on rota.jobs (x);\n"
        "alter table rota.jobs add constraint jobs_x unique using index jobs_x;"
    ),
    (
        "create function rota.f() returns trigger language plpgsql as $$ begin"
        " update rota.jobs set x = 3; return null; end $$;"
    ),
    "-- create index a on rota.jobs (x);\nselect rota.raise_wall();",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_blocks_writers_or_breaks_older_code_is_refused(text: str) -> None:
    assert len(list(problems(NAME, text))) == 1


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_older_code_lives_with_is_accepted(text: str) -> None:
    assert list(problems(NAME, text)) == []


def test_a_name_says_that_older_code_lives_with_it() -> None:
    assert "_expand" in next(problems("0099_more", "select 1;"))


def test_every_migration_from_now_on_passes() -> None:
    new = [path for path in MIGRATIONS.glob("*.sql") if int(path.name[:4]) > LAST_FREE]
    found = {path.name: list(problems(path.stem, path.read_text())) for path in new}

    assert not any(found.values()), found
