-- End a login. No row means that it had ended before.
delete from rota.logins
where digest = :digest::bytea
returning key_id;
