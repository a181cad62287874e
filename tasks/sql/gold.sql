-- What recall is measured against: questions with gold, by kind and rule, and the mean size of the gold set.
SELECT gold_kind, gold_rule, count(*) AS n_questions, avg(n_gold) AS mean_gold
FROM (
  SELECT DISTINCT question_id, gold_kind, gold_rule, n_gold
  FROM asked_questions
  WHERE n_gold > 0 AND answerable <> 'no'
)
GROUP BY gold_kind, gold_rule
ORDER BY gold_kind, gold_rule;
