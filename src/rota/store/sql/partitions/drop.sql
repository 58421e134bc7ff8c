-- Drop the partition of a day that is over; as the owner, whoever asks.
select rota.drop_partition(:parent::text, :day::date)::text as dropped;
