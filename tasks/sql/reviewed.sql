-- Key points behind the numbers, by whether a person reviewed them.
SELECT status, count(*) AS n
FROM (SELECT DISTINCT point_id, text, status FROM asked_points)
GROUP BY status
ORDER BY status;
