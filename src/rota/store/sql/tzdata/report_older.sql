-- Record that a process with older rules is running: its computations are checked when it is gone.
update rota.tzdata
set older_seen_at = rota.now()
where coalesce(target, version) > :version::text
returning version;
