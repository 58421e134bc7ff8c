-- Drop the partition of a past day, with the owner's rights.
select rota.drop_partition(:parent::text, :day::date)::text as dropped;
