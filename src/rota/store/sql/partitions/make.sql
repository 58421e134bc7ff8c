-- Make the partition of a day, unless it is there; as the owner, whoever asks.
select rota.make_partition(:parent::text, :day::date) as is_new;
