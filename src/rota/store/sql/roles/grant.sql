-- Create the group roles and grant their rights; return what an administrator must run first.
select missing from rota.grant_roles() as missing;
