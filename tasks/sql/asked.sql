-- What was asked, read out of the runs' own words (`asked_text`: run_id, position, asked as JSON).
CREATE OR REPLACE TEMP TABLE asked_read AS
SELECT
  run_id,
  position,
  from_json(asked, '{
    "question_id": "VARCHAR", "text": "VARCHAR", "answerable": "VARCHAR", "gold_rule": "VARCHAR", "gold": ["JSON"],
    "tags": "MAP(VARCHAR, VARCHAR)",
    "points": [{"point_id": "VARCHAR", "text": "VARCHAR", "vital": "BOOLEAN", "status": "VARCHAR"}]
  }') AS q
FROM asked_text;
