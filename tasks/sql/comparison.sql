-- Every number of METRICS.md, one row per setup and metric: value (NULL for an empty group) and count.
WITH rates AS (
  SELECT
    place,
    setup,
    -- the ranking and the context
    [
      {'metric': 'context_tokens', 'value': avg(context_tokens), 'n': count(context_tokens)},
      -- groundedness: the answer against its context
      {'metric': 'claims', 'value': sum(n_claims), 'n': count(n_claims)},
      {'metric': 'supported_rate', 'value': sum(n_supported) / nullif(sum(n_claims), 0), 'n': sum(n_claims)},
      {'metric': 'unverified_rate', 'value': sum(n_unverified) / nullif(sum(n_claims), 0), 'n': sum(n_claims)},
      {'metric': 'mean_groundedness',
       'value': avg(groundedness) FILTER (n_claims > 0), 'n': count(*) FILTER (n_claims > 0)},
      {'metric': 'mean_groundedness_all', 'value': avg(groundedness), 'n': count(groundedness)},
      {'metric': 'answers_with_unsupported',
       'value': avg((n_supported < n_claims)::INT) FILTER (n_claims > 0), 'n': count(*) FILTER (n_claims > 0)},
      -- correctness: the answer against key points
      {'metric': 'covered_rate', 'value': sum(n_covered) / nullif(sum(n_points), 0), 'n': sum(n_points)},
      {'metric': 'partly_rate', 'value': sum(n_partly) / nullif(sum(n_points), 0), 'n': sum(n_points)},
      {'metric': 'missing_rate', 'value': sum(n_missing) / nullif(sum(n_points), 0), 'n': sum(n_points)},
      {'metric': 'contradicted_rate',
       'value': sum(n_points_contradicted) / nullif(sum(n_points), 0), 'n': sum(n_points)},
      {'metric': 'mean_coverage', 'value': avg(covered), 'n': count(covered)},
      {'metric': 'answer_words', 'value': median(n_words), 'n': count(n_words)},
      -- of answerable questions; a refused or empty answer is not correct and stays in the denominator
      {'metric': 'correct_rate',
       'value': avg(correct::INT), 'n': count(correct)},
      -- NULL when answers are correct and the grounding of none of them is known
      {'metric': 'correct_grounded',
       'value': CASE WHEN count(*) FILTER (correct) = 0 OR count(grounded) FILTER (correct) > 0
         THEN avg(coalesce(correct AND grounded, FALSE)::INT) FILTER (correct IS NOT NULL) END,
       'n': count(correct)},
      {'metric': 'correct_not_grounded',
       'value': CASE WHEN count(*) FILTER (correct) = 0 OR count(grounded) FILTER (correct) > 0
         THEN avg(coalesce(correct AND NOT grounded, FALSE)::INT) FILTER (correct IS NOT NULL) END,
       'n': count(correct)},
      -- abstaining
      {'metric': 'abstained_rate', 'value': avg(said.abstained::INT), 'n': count(said.abstained)},
      {'metric': 'false_abstention_rate',
       'value': avg(said.abstained::INT) FILTER (answerable = 'yes'),
       'n': count(said.abstained) FILTER (answerable = 'yes')},
      {'metric': 'answered_unanswerable_rate',
       'value': avg((NOT said.abstained AND no_answer IS NULL)::INT) FILTER (answerable = 'no'),
       'n': count(said.abstained) FILTER (answerable = 'no')},
      {'metric': 'relevancy_rate', 'value': avg(said.relevancy), 'n': count(said.relevancy)}
    ] AS found
  FROM (
    SELECT
      *,
      -- A refusal states none of the key points, where there are any.
      CASE WHEN answerable <> 'no' AND no_answer IS NOT NULL AND labelled THEN 0 ELSE coverage END AS covered,
      -- A writer's refusal, truncation or empty answer stands in every answer-level denominator: it does not
      -- abstain, and it does not address the question.
      {
        'abstained': CASE WHEN no_answer IS NOT NULL THEN FALSE ELSE abstained END,
        'relevancy': CASE
          WHEN no_answer IS NOT NULL THEN 0.0
          WHEN relevancy = 'ADDRESSES' THEN 1.0
          WHEN relevancy = 'PARTLY' THEN 0.5
          WHEN relevancy IS NOT NULL THEN 0.0
        END
      } AS said
    FROM answer_scores
  )
  GROUP BY place, setup
)
SELECT place, setup, entry.metric AS metric, entry.value::DOUBLE AS value, coalesce(entry.n, 0)::BIGINT AS n
FROM (SELECT place, setup, unnest(found) AS entry FROM rates)
UNION ALL
SELECT place, setup, metric, avg(value), count(value)
FROM retrieval_scores
GROUP BY place, setup, metric
ORDER BY place, metric;
