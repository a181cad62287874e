-- What the rows behind a comparison took when they were made, by setup and stage. A row that two setups share counts
-- for both.
WITH took AS (
  SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
  FROM answer_rows
  UNION ALL BY NAME
  SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
  FROM reading_rows
  UNION ALL BY NAME
  SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
  FROM grounding_rows
  UNION ALL BY NAME
  SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
  FROM correctness_rows
), behind AS (
  SELECT place, 1 AS number, 'generate' AS stage, answer_key AS key FROM manifest WHERE answer_state = 'scored'
  UNION ALL
  SELECT place, 2, 'read', reading_key FROM manifest WHERE reading_state = 'scored'
  UNION ALL
  SELECT place, 3, 'judge-grounding', grounding_key FROM manifest WHERE grounding_state = 'scored'
  UNION ALL
  SELECT place, 4, 'judge-correctness', correctness_key FROM manifest WHERE correctness_state = 'scored'
)
SELECT
  place,
  stage,
  count(*) FILTER (n_calls > 0) AS n_rows,
  sum(n_calls)::BIGINT AS n_calls,
  sum(input_tokens)::BIGINT AS input_tokens,
  sum(output_tokens)::BIGINT AS output_tokens,
  sum(cache_read_tokens)::BIGINT AS cache_read_tokens,
  sum(cache_write_tokens)::BIGINT AS cache_write_tokens,
  sum(cost_usd) AS cost_usd,
  median(latency_s) FILTER (n_calls > 0) AS latency_s
FROM behind JOIN took USING (key)
GROUP BY place, number, stage
ORDER BY place, number;
