-- Questions by label, owner and setup; every asked question is in exactly one row, so counts add up to the asked.
SELECT place, setup, label, reason, owner, page_level, count(*) AS n
FROM answer_scores
WHERE label IS NOT NULL
GROUP BY ALL
ORDER BY place, label, reason;
