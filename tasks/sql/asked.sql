-- What was asked, read out of the runs' own words (`asked_text`: run_id, position, asked as JSON).
SELECT
  run_id,
  q.question_id AS question_id,
  position,
  q.text AS text,
  q.answerable AS answerable,
  q.gold_rule AS gold_rule,
  len(q.gold) AS n_gold,
  q.tags AS tags,
  q.points AS points,
  list_transform(q.points, lambda point: point.vital) AS vital
FROM (
  SELECT
    run_id,
    position,
    from_json(asked, '{
      "question_id": "VARCHAR", "text": "VARCHAR", "answerable": "VARCHAR", "gold_rule": "VARCHAR",
      "gold": [{"grade": "DOUBLE"}], "tags": "MAP(VARCHAR, VARCHAR)",
      "points": [{"point_id": "VARCHAR", "text": "VARCHAR", "vital": "BOOLEAN", "status": "VARCHAR"}]
    }') AS q
  FROM asked_text
);
