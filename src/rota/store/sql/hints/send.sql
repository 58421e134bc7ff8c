-- Send a hint to listeners. Never in the transaction that changes the data: the lock of NOTIFY
-- would serialize all commits (F42). Only sdk/transaction does, because there only the caller knows
-- when the transaction commits.
select pg_notify(:channel::text, :payload::text)::text as sent;
