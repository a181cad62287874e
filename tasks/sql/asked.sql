-- What was asked, read out of the runs' own words (`asked_text`: run_id, position, asked as JSON).
SELECT
  run_id,
  q.question_id AS question_id,
  position,
  q.text AS text,
  q.answerable AS answerable,
  q.gold_rule AS gold_rule,
  len(q.gold) AS n_gold,
  -- "span", or "document, span" where entries or their alternatives differ in kind.
  array_to_string(
    list_sort(list_distinct(flatten(list_transform(
      q.gold, lambda entry: list_transform(entry.places, lambda place: place.kind)
    )))),
    ', '
  ) AS gold_kind,
  q.tags AS tags,
  q.points AS points,
  list_transform(q.points, lambda point: point.vital) AS vital
FROM (
  SELECT
    run_id,
    position,
    from_json(asked, '{
      "question_id": "VARCHAR", "text": "VARCHAR", "answerable": "VARCHAR", "gold_rule": "VARCHAR",
      "gold": [{"places": [{"kind": "VARCHAR"}]}], "tags": "MAP(VARCHAR, VARCHAR)",
      "points": [{"point_id": "VARCHAR", "text": "VARCHAR", "vital": "BOOLEAN", "status": "VARCHAR"}]
    }') AS q
  FROM asked_text
);
