-- Setups that were not asked every question that any of them was.
SELECT setup, count(*) AS n, (SELECT count(DISTINCT question_id) FROM manifest) AS n_all
FROM manifest
GROUP BY place, setup
HAVING count(*) < (SELECT count(DISTINCT question_id) FROM manifest)
ORDER BY place;
