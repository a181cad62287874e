-- One row per (setup, question) of the runs looked at: everything that tables count, still unaveraged.
-- A value is NULL where the stage has no result; NULL never counts as 0.
CREATE OR REPLACE TEMP TABLE answer_scores AS
WITH grounded AS (
  SELECT
    key,
    len(verdicts) AS n_claims,
    len(list_filter(verdicts, lambda v: v.verdict = 'SUPPORTED')) AS n_supported,
    len(list_filter(verdicts, lambda v: v.verdict = 'UNVERIFIED')) AS n_unverified,
    len(list_filter(verdicts, lambda v: v.verdict = 'CONTRADICTED')) AS n_contradicted
  FROM grounding_rows
),
judged AS (
  SELECT key, unnest(verdicts) AS verdict
  FROM correctness_rows
),
pointed AS (
  SELECT
    m.place,
    m.question_id,
    count(*) AS n_points,
    count(*) FILTER (j.verdict.verdict = 'COVERED') AS n_covered,
    count(*) FILTER (j.verdict.verdict = 'PARTLY') AS n_partly,
    count(*) FILTER (j.verdict.verdict = 'MISSING') AS n_missing,
    count(*) FILTER (j.verdict.verdict = 'CONTRADICTED') AS n_contradicted,
    count(*) FILTER (p.vital) AS n_vital,
    count(*) FILTER (p.vital AND j.verdict.verdict = 'COVERED') AS n_vital_covered,
    count(*) FILTER (p.vital AND j.verdict.verdict = 'PARTLY') AS n_vital_partly,
    count(*) FILTER (p.vital AND j.verdict.verdict = 'MISSING') AS n_vital_missing
  FROM manifest AS m
  JOIN judged AS j ON j.key = m.correctness_key
  JOIN asked_points AS p
    ON p.run_id = m.run_id AND p.question_id = m.question_id AND p.number = j.verdict.number
  WHERE m.correctness_state = 'scored'
  GROUP BY ALL
)
SELECT
  m.place,
  m.setup,
  m.run_id,
  m.question_id,
  q.position,
  q.answerable,
  m.context_tokens,
  m.answer_state = 'scored' AS answered,
  m.no_answer,
  a.n_words,
  g.n_claims,
  g.n_supported,
  g.n_unverified,
  g.n_contradicted,
  -- No claim: nothing that could be unsupported, so 1.0, marked vacuous. Context empty: no claim is supported.
  CASE WHEN g.n_claims = 0 THEN 1.0 ELSE g.n_supported / g.n_claims END AS groundedness,
  r.form,
  r.relevancy,
  r.form = 'NOT_COVERED' AND NOT r.gives_answer AS abstained,
  r.form = 'NOT_COVERED' AND r.gives_answer AS hedged,
  p.* EXCLUDE (place, question_id, n_contradicted),
  p.n_contradicted AS n_points_contradicted,
  (p.n_covered + 0.5 * p.n_partly) / p.n_points AS coverage,
  (p.n_vital_covered + 0.5 * p.n_vital_partly) / p.n_vital AS vital_coverage,
  -- A question whose attribute stage itself failed has a label too: counts add up to the questions asked.
  CASE WHEN m.cell_state IS NOT NULL AND m.cell_state <> 'scored' THEN 'undetermined' ELSE c.label END AS label,
  CASE WHEN m.cell_state IS NOT NULL AND m.cell_state <> 'scored' THEN 'attribute: ' || m.cell_state
    ELSE c.reason END AS reason,
  CASE WHEN m.cell_state IS NOT NULL AND m.cell_state <> 'scored' THEN 'nobody' ELSE c.owner END AS owner,
  c.correct,
  c.grounded,
  c.arrived,
  c.page_level,
  m.correctness_state,
  EXISTS (FROM asked_points AS ap WHERE ap.run_id = m.run_id AND ap.question_id = m.question_id) AS labelled
FROM manifest AS m
JOIN asked_questions AS q ON q.run_id = m.run_id AND q.question_id = m.question_id
LEFT JOIN answer_rows AS a ON a.key = m.answer_key AND m.answer_state = 'scored'
LEFT JOIN reading_rows AS r ON r.key = m.reading_key AND m.reading_state = 'scored'
LEFT JOIN grounded AS g ON g.key = m.grounding_key AND m.grounding_state = 'scored'
LEFT JOIN pointed AS p ON p.place = m.place AND p.question_id = m.question_id
LEFT JOIN cell_rows AS c ON c.key = m.cell_key AND m.cell_state = 'scored';
