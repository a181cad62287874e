-- What became of every stage of every question: asked, scored, not applicable by reason, failed by state.
WITH steps AS (
  SELECT
    place,
    setup,
    unnest([
      {'stage': 'ranking', 'state': ranking_state, 'reason': ranking_reason},
      {'stage': 'context', 'state': context_state, 'reason': context_reason},
      {'stage': 'answer', 'state': answer_state, 'reason': answer_reason},
      {'stage': 'reading', 'state': reading_state, 'reason': reading_reason},
      {'stage': 'grounding', 'state': grounding_state, 'reason': grounding_reason},
      {'stage': 'correctness', 'state': correctness_state, 'reason': correctness_reason},
      {'stage': 'cell', 'state': cell_state, 'reason': cell_reason}
    ]) AS step
  FROM manifest
),
recall AS (
  -- Recall has gold to miss beside a stage to fail; one line stands for all measures of the ranking.
  SELECT
    place,
    setup,
    {
      'stage': 'gold in context',
      'state': CASE WHEN reason IS NULL THEN 'scored'
        WHEN reason IN ('unanswerable', 'unlabelled', 'unresolved', 'passages_not_recorded') THEN 'not_applicable'
        ELSE 'blocked' END,
      'reason': reason
    } AS step
  FROM retrieval_scores
  WHERE metric = 'context_recall'
)
SELECT
  place,
  setup,
  step.stage AS stage,
  coalesce(step.state, 'not run') AS state,
  CASE WHEN step.state = 'not_applicable' THEN step.reason END AS reason,
  count(*) AS n
FROM (SELECT * FROM steps UNION ALL SELECT * FROM recall)
GROUP BY ALL
ORDER BY place, stage, state, reason;
