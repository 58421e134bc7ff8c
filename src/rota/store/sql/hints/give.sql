-- Tell listeners that there is something to look at. Never in the transaction that made it so: the
-- lock of NOTIFY would make all commits wait for each other (F42). Only sdk/transaction does, where
-- nobody but the caller knows when that is committed.
select pg_notify(:channel::text, :payload::text)::text as sent;
