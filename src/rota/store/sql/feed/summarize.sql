-- Sum up the full block ranges at the ends of the tables that the feed reads, so that it need not
-- read them again. Never the last range, which rows are added to: each would rewrite its summary.
-- Only an owner may do so, and the function is one.
select rota.summarize_ranges(:most::bigint) as ranges;
