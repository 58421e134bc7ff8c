-- Record that a channel refused a message. After some failures in a row, or a final one, the
-- channel counts as failing. The message does not count for the pace.
update rota.alert_channels as c
set
    failures = c.failures + 1,
    last_error = :error::text,
    failing_since = case
        when
            c.failing_since is null
            and (:is_final::boolean or c.failures + 1 >= :failures_max::integer)
            then :now::timestamptz
        else c.failing_since
    end,
    sent_times = array_remove(c.sent_times, :claimed_at::timestamptz),
    page_times = array_remove(c.page_times, :claimed_at::timestamptz)
where c.name = :name::text
returning c.name, c.failures, c.failing_since;
