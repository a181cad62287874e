-- The longest ranking of each setup: what an imported file recorded at most; no larger k can be asked of it.
SELECT m.place, max(len(r.passages)) AS depth
FROM manifest AS m
JOIN ranking_rows AS r ON r.key = m.ranking_key AND m.ranking_state = 'scored'
GROUP BY m.place;
