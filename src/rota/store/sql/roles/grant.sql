-- Create and complete the group roles; what an administrator must run first is returned.
select missing from rota.grant_roles() as missing;
