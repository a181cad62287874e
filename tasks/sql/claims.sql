-- Every claim with its verdict and the evidence for it. `quote` is what code found again in the passage.
CREATE OR REPLACE TEMP VIEW judged_claims AS
WITH verdicts AS (
  SELECT m.place, m.setup, m.question_id, m.reading_key, m.grounding_key, unnest(g.verdicts) AS v
  FROM manifest AS m
  JOIN grounding_rows AS g ON g.key = m.grounding_key AND m.grounding_state = 'scored'
)
SELECT
  v.place,
  v.setup,
  v.question_id,
  q.text AS question,
  v.v.number AS number,
  r.claims[v.v.number].text AS claim,
  v.v.verdict AS verdict,
  v.v.judged AS judged,
  v.v.quotes[1].text AS quote,
  v.v.quotes[1].passage AS passage,
  v.v.lost_quotes AS lost_quotes,
  v.v.why AS why,
  md5(v.grounding_key || '/' || v.v.number) AS draw
FROM verdicts AS v
JOIN manifest AS m ON m.place = v.place AND m.question_id = v.question_id
JOIN asked_questions AS q ON q.run_id = m.run_id AND q.question_id = v.question_id
JOIN reading_rows AS r ON r.key = v.reading_key;
