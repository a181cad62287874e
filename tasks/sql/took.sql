-- What the rows behind a comparison took when they were made, by setup and stage. A row that two setups share counts
-- for both.
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
FROM (
  SELECT m.place, 1 AS number, 'generate' AS stage, r.*
  FROM manifest AS m JOIN (
    SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
    FROM answer_rows
  ) AS r ON r.key = m.answer_key AND m.answer_state = 'scored'
  UNION ALL
  SELECT m.place, 2, 'read', r.*
  FROM manifest AS m JOIN (
    SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
    FROM reading_rows
  ) AS r ON r.key = m.reading_key AND m.reading_state = 'scored'
  UNION ALL
  SELECT m.place, 3, 'judge-grounding', r.*
  FROM manifest AS m JOIN (
    SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
    FROM grounding_rows
  ) AS r ON r.key = m.grounding_key AND m.grounding_state = 'scored'
  UNION ALL
  SELECT m.place, 4, 'judge-correctness', r.*
  FROM manifest AS m JOIN (
    SELECT key, n_calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, latency_s
    FROM correctness_rows
  ) AS r ON r.key = m.correctness_key AND m.correctness_state = 'scored'
)
GROUP BY place, number, stage
ORDER BY place, number;
