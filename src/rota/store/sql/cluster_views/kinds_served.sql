-- The kinds of jobs that some living worker carries out.
select k.name
from rota.kinds as k
where
    exists (
        select 1
        from rota.sessions as s
        where
            s.role = 'worker'
            and s.expires_at > (select rota.now())
            and k.id = any(s.kinds)
    );
