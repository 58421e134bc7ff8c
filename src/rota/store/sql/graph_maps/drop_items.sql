-- Delete items whose members are all created.
delete from rota.graph_items as i
where
    i.run_id = :run_id::uuid
    and i.step = :step::integer
    and i.first + i.number <= :made::integer
returning i.run_id;
