-- Note that a process with older rules is at work: what it computes is looked at when it is gone.
update rota.tzdata
set older_seen_at = rota.now()
where coalesce(target, version) > :version::text
returning version;
