-- End a login. No row means that it had ended.
delete from rota.logins
where digest = :digest::bytea
returning key_id;
