-- One row per (setup, question) of the runs looked at: everything that tables count, still unaveraged.
-- A value is NULL where the stage has no result; NULL never counts as 0. `claim_verdicts` and `point_verdicts` are
-- the verdicts alone. The order is fixed, so that a mean is added up the same way each time.
CREATE OR REPLACE TEMP TABLE answer_scores AS
WITH grounded AS (
  SELECT
    key,
    len(verdicts) AS n_claims,
    len(list_filter(verdicts, lambda v: v.verdict = 'SUPPORTED')) AS n_supported,
    len(list_filter(verdicts, lambda v: v.verdict = 'UNVERIFIED')) AS n_unverified,
    len(list_filter(verdicts, lambda v: v.verdict = 'CONTRADICTED')) AS n_contradicted
  FROM claim_verdicts
),
-- A question's verdicts on its points; number n is about the n-th point.
judged AS (
  SELECT m.place, m.question_id, q.vital, list_filter(j.verdicts, lambda v: v.number <= len(q.vital)) AS verdicts
  FROM manifest AS m
  JOIN point_verdicts AS j ON j.key = m.correctness_key
  JOIN asked_read AS q ON q.run_id = m.run_id AND q.question_id = m.question_id
  WHERE m.correctness_state = 'scored'
),
pointed AS (
  SELECT
    place,
    question_id,
    len(verdicts) AS n_points,
    len(list_filter(verdicts, lambda v: v.verdict = 'COVERED')) AS n_covered,
    len(list_filter(verdicts, lambda v: v.verdict = 'PARTLY')) AS n_partly,
    len(list_filter(verdicts, lambda v: v.verdict = 'MISSING')) AS n_missing,
    len(list_filter(verdicts, lambda v: v.verdict = 'CONTRADICTED')) AS n_contradicted,
    len(list_filter(verdicts, lambda v: vital[v.number])) AS n_vital,
    len(list_filter(verdicts, lambda v: vital[v.number] AND v.verdict = 'COVERED')) AS n_vital_covered,
    len(list_filter(verdicts, lambda v: vital[v.number] AND v.verdict = 'PARTLY')) AS n_vital_partly,
    len(list_filter(verdicts, lambda v: vital[v.number] AND v.verdict = 'MISSING')) AS n_vital_missing
  FROM judged
  WHERE len(verdicts) > 0
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
  -- By the verdicts and not by the cell, which may be missing where they are there. Without key points nobody can say
  -- what a refusal missed.
  CASE
    WHEN q.answerable <> 'yes' THEN NULL
    WHEN m.no_answer IS NOT NULL THEN CASE WHEN len(q.vital) > 0 THEN FALSE END
    WHEN m.correctness_state = 'scored'
      THEN p.n_vital_missing = 0 AND p.n_contradicted = 0 AND vital_coverage >= t.correct_at
  END AS correct,
  groundedness >= t.grounded_at AND g.n_contradicted = 0 AS grounded,
  c.arrived,
  c.page_level,
  m.correctness_state,
  len(q.vital) > 0 AS labelled
FROM manifest AS m
JOIN asked_read AS q ON q.run_id = m.run_id AND q.question_id = m.question_id
CROSS JOIN thresholds AS t
LEFT JOIN answer_rows AS a ON a.key = m.answer_key AND m.answer_state = 'scored'
LEFT JOIN reading_rows AS r ON r.key = m.reading_key AND m.reading_state = 'scored'
LEFT JOIN grounded AS g ON g.key = m.grounding_key AND m.grounding_state = 'scored'
LEFT JOIN pointed AS p ON p.place = m.place AND p.question_id = m.question_id
LEFT JOIN cell_rows AS c ON c.key = m.cell_key AND m.cell_state = 'scored'
ORDER BY m.place, q.position;
