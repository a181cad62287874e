-- Who replied, by stage: the key of the seat and the model behind it.
SELECT DISTINCT 'read' AS stage, r.judge_id
FROM manifest AS m JOIN reading_rows AS r ON r.key = m.reading_key AND m.reading_state = 'scored'
WHERE r.n_calls > 0
UNION
SELECT DISTINCT 'judge-grounding', r.judge_id
FROM manifest AS m JOIN grounding_rows AS r ON r.key = m.grounding_key AND m.grounding_state = 'scored'
WHERE r.n_calls > 0
UNION
SELECT DISTINCT 'judge-correctness', r.judge_id
FROM manifest AS m JOIN correctness_rows AS r ON r.key = m.correctness_key AND m.correctness_state = 'scored'
WHERE r.n_calls > 0
ORDER BY ALL;
