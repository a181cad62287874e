-- What other thresholds would say: failing questions that change column, and correct_rate, per setup.
SELECT
  place,
  setup,
  count(*) FILTER (in_cell) AS n_in_cells,
  count(*) FILTER (in_cell AND grounded <> (groundedness >= 0.8 AND n_contradicted = 0)) AS change_at_08,
  count(*) FILTER (in_cell AND grounded <> (groundedness >= 1.0 AND n_contradicted = 0)) AS change_at_10,
  avg(at_05::INT) AS correct_rate_at_05,
  avg(at_10::INT) AS correct_rate_at_10,
  count(at_05) AS n_correct
FROM (
  SELECT
    *,
    label IN ('faithful_but_wrong', 'ignored_evidence', 'faithful_to_wrong_passage', 'improvised') AS in_cell,
    -- A refused or empty answer is not correct at any threshold.
    CASE WHEN answerable = 'yes' AND no_answer IS NOT NULL AND labelled THEN FALSE
      WHEN answerable = 'yes' AND correctness_state = 'scored'
        THEN n_vital_missing = 0 AND n_points_contradicted = 0 AND vital_coverage >= 0.5 END AS at_05,
    CASE WHEN answerable = 'yes' AND no_answer IS NOT NULL AND labelled THEN FALSE
      WHEN answerable = 'yes' AND correctness_state = 'scored'
        THEN n_vital_missing = 0 AND n_points_contradicted = 0 AND vital_coverage >= 1.0 END AS at_10
  FROM answer_scores
)
GROUP BY place, setup
ORDER BY place;
