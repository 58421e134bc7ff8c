-- Summarize the full block ranges at the ends of the tables that the feed reads, so that it need
-- not read them again. Never the last range, to which rows are added: each would rewrite its
-- summary. Only an owner may do so; the function runs as the owner.
select rota.summarize_ranges(:most::bigint) as ranges;
