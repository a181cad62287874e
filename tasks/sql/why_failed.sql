-- Questions of setups that failed at a stage: how many, and for how many of them running again is no cure.
SELECT
  count(*) AS n_asked,
  count(*) FILTER (len(failed) > 0) AS n_failed,
  count(*) FILTER (list_contains(list_transform(failed, lambda step: step.state), 'over_budget')) AS n_over_budget,
  count(*) FILTER (list_contains(list_transform(failed, lambda step: step.message LIKE '%(failed in % runs; %'), TRUE))
    AS n_given_up,
  count(*) FILTER (list_contains(list_transform(failed, lambda step: step.reason), 'NotAnswered')) AS n_not_answered
FROM (
  SELECT
    list_filter(
      [
        {'state': ranking_state, 'reason': ranking_reason, 'message': ranking_message},
        {'state': context_state, 'reason': context_reason, 'message': context_message},
        {'state': answer_state, 'reason': answer_reason, 'message': answer_message},
        {'state': reading_state, 'reason': reading_reason, 'message': reading_message},
        {'state': grounding_state, 'reason': grounding_reason, 'message': grounding_message},
        {'state': correctness_state, 'reason': correctness_reason, 'message': correctness_message},
        {'state': cell_state, 'reason': cell_reason, 'message': cell_message}
      ],
      lambda step: step.state NOT IN ('scored', 'not_applicable')
    ) AS failed
  FROM manifest
);
