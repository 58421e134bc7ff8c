create schema if not exists books;
create table if not exists books.charges (
    run_id uuid primary key,
    customer text not null,
    cents integer not null check (cents > 0),
    receipt text not null unique
);
