-- Create the partition of a day unless it exists, with the owner's rights.
select rota.make_partition(:parent::text, :day::date) as is_new;
