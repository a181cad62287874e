-- The views of a store. Every view but `runs` shows the latest run of each (setup, judge); `runs` shows them all.
-- They stand on the relations that `tasks/views.py` makes: one for each record, and `manifest`, `all_runs`,
-- `asked_questions`, `asked_points`, `planned_documents`, `planned_chunks`.

CREATE OR REPLACE VIEW runs AS
SELECT
  run_id, setup, judge, question_id, started_at, run_state, latest,
  ranking_state, context_state, answer_state, reading_state, grounding_state, correctness_state, cell_state,
  label, n_claims, context_tokens, paid_usd
FROM all_runs;
COMMENT ON VIEW runs IS 'One row per run, setup and question: the state in which each stage ended';
COMMENT ON COLUMN runs.run_id IS 'The run; sorts by time';
COMMENT ON COLUMN runs.setup IS 'Name of the setup';
COMMENT ON COLUMN runs.judge IS 'Name of the judge';
COMMENT ON COLUMN runs.question_id IS 'Id of the question';
COMMENT ON COLUMN runs.started_at IS 'When the run began (UTC, ISO 8601)';
COMMENT ON COLUMN runs.run_state IS 'How the run ended: done, failed_rows, interrupted, stopped; running when it has not';
COMMENT ON COLUMN runs.latest IS 'Whether this is the latest run of its setup and judge, which the other views show';
COMMENT ON COLUMN runs.ranking_state IS 'State of the ranking: scored, not_applicable or a failed state; NULL when not run';
COMMENT ON COLUMN runs.context_state IS 'State of the context';
COMMENT ON COLUMN runs.answer_state IS 'State of the answer';
COMMENT ON COLUMN runs.reading_state IS 'State of the reading (claims, form, relevancy)';
COMMENT ON COLUMN runs.grounding_state IS 'State of the verdicts on claims';
COMMENT ON COLUMN runs.correctness_state IS 'State of the verdicts on key points';
COMMENT ON COLUMN runs.cell_state IS 'State of the cell';
COMMENT ON COLUMN runs.label IS 'The cell''s label, or NULL when not run';
COMMENT ON COLUMN runs.n_claims IS 'Claims of the answer';
COMMENT ON COLUMN runs.context_tokens IS 'Size of what the writer was given, in tokens';
COMMENT ON COLUMN runs.paid_usd IS 'What this run paid for this row, in US dollars';

CREATE OR REPLACE VIEW documents AS
SELECT d.document_id, d.title, d.n_words, d.n_tokens, d.text
FROM planned_documents AS p
JOIN document_rows AS d ON d.key = p.document_key;
COMMENT ON VIEW documents IS 'Documents of the corpus, as the latest run found them';
COMMENT ON COLUMN documents.document_id IS 'Path under corpus/, or the _id of a BEIR file';
COMMENT ON COLUMN documents.title IS 'Title, for people';
COMMENT ON COLUMN documents.n_words IS 'Words';
COMMENT ON COLUMN documents.n_tokens IS 'Tokens: UTF-8 bytes / 4, rounded up';
COMMENT ON COLUMN documents.text IS 'All of it; offsets elsewhere count its characters from 0';

CREATE OR REPLACE VIEW chunks AS
SELECT
  p.setup,
  p.document_id,
  c.number,
  c.chunk.start AS start,
  c.chunk."end" AS "end",
  c.chunk.n_tokens AS n_tokens,
  substring(d.text, c.chunk.start + 1, c.chunk."end" - c.chunk.start) AS text
FROM planned_chunks AS p
JOIN (
  SELECT key, unnest(chunks) AS chunk, generate_subscripts(chunks, 1) AS number FROM chunks_rows
) AS c ON c.key = p.chunks_key
JOIN planned_documents AS pd ON pd.document_id = p.document_id
JOIN document_rows AS d ON d.key = pd.document_key;
COMMENT ON VIEW chunks IS 'Chunks of each document under each setup''s splitting';
COMMENT ON COLUMN chunks.setup IS 'Name of the setup';
COMMENT ON COLUMN chunks.document_id IS 'Id of the document';
COMMENT ON COLUMN chunks.number IS 'Position in the document, from 1';
COMMENT ON COLUMN chunks.start IS 'First character in the document';
COMMENT ON COLUMN chunks."end" IS 'One past the last character';
COMMENT ON COLUMN chunks.n_tokens IS 'Tokens';
COMMENT ON COLUMN chunks.text IS 'The text';

CREATE OR REPLACE VIEW questions AS
SELECT DISTINCT ON (question_id) question_id, text, answerable, gold_rule, n_gold, tags
FROM asked_questions
ORDER BY question_id, run_id DESC;
COMMENT ON VIEW questions IS 'Questions as they were last asked';
COMMENT ON COLUMN questions.question_id IS 'Id of the question';
COMMENT ON COLUMN questions.text IS 'The question';
COMMENT ON COLUMN questions.answerable IS 'yes, no or unknown';
COMMENT ON COLUMN questions.gold_rule IS 'all: every gold entry is needed; any: one suffices';
COMMENT ON COLUMN questions.n_gold IS 'Gold entries';
COMMENT ON COLUMN questions.tags IS 'Tags by name, as in tags[''area'']';

CREATE OR REPLACE VIEW key_points AS
SELECT DISTINCT ON (point_id) point_id, question_id, number, text, vital, status
FROM asked_points
ORDER BY point_id, run_id DESC;
COMMENT ON VIEW key_points IS 'Key points as they were last used';
COMMENT ON COLUMN key_points.point_id IS 'Id of the point';
COMMENT ON COLUMN key_points.question_id IS 'Id of its question';
COMMENT ON COLUMN key_points.number IS 'Position among the question''s points, from 1';
COMMENT ON COLUMN key_points.text IS 'What a right answer says';
COMMENT ON COLUMN key_points.vital IS 'Whether an answer without it is wrong; where none is marked, all are';
COMMENT ON COLUMN key_points.status IS 'draft, drafted by rule, not reviewed, or reviewed';

CREATE OR REPLACE VIEW rankings AS
SELECT
  r.setup, r.judge, r.question_id, r.rank,
  r.passage.document_id AS document_id,
  r.passage.foreign_id AS foreign_id,
  r.passage.ranges[1].start AS start,
  r.passage.ranges[1]."end" AS "end",
  r.passage.n_tokens AS n_tokens,
  r.passage.score AS score
FROM (
  SELECT m.setup, m.judge, m.question_id, unnest(k.passages) AS passage, generate_subscripts(k.passages, 1) AS rank
  FROM manifest AS m
  JOIN ranking_rows AS k ON k.key = m.ranking_key AND m.ranking_state = 'scored'
) AS r;
COMMENT ON VIEW rankings IS 'What the retriever returned, best first, before neighbours and cut-offs';
COMMENT ON COLUMN rankings.setup IS 'Name of the setup';
COMMENT ON COLUMN rankings.judge IS 'Name of the judge of the run';
COMMENT ON COLUMN rankings.question_id IS 'Id of the question';
COMMENT ON COLUMN rankings.rank IS 'Rank, from 1';
COMMENT ON COLUMN rankings.document_id IS 'Document the passage comes from; NULL when an import names none';
COMMENT ON COLUMN rankings.foreign_id IS 'Id under which somebody else''s index knows the passage';
COMMENT ON COLUMN rankings.start IS 'First character in the document; NULL when unknown';
COMMENT ON COLUMN rankings."end" IS 'One past the last character';
COMMENT ON COLUMN rankings.n_tokens IS 'Tokens';
COMMENT ON COLUMN rankings.score IS 'The retriever''s score; NULL when not recorded';

CREATE OR REPLACE VIEW passages AS
SELECT
  p.setup, p.judge, p.question_id, p.number,
  p.passage.document_id AS document_id,
  p.passage.foreign_id AS foreign_id,
  p.passage.ranges[1].start AS start,
  p.passage.ranges[1]."end" AS "end",
  p.passage.n_tokens AS n_tokens,
  coalesce(
    p.passage.text,
    substring(d.text, p.passage.ranges[1].start + 1, p.passage.ranges[1]."end" - p.passage.ranges[1].start)
  ) AS text
FROM (
  SELECT m.setup, m.judge, m.question_id, unnest(c.passages) AS passage, generate_subscripts(c.passages, 1) AS number
  FROM manifest AS m
  JOIN context_rows AS c ON c.key = m.context_key AND m.context_state = 'scored'
) AS p
LEFT JOIN document_rows AS d ON d.key = p.passage.document_key AND p.passage.text IS NULL;
COMMENT ON VIEW passages IS 'The context: passages as the writer was given them';
COMMENT ON COLUMN passages.setup IS 'Name of the setup';
COMMENT ON COLUMN passages.judge IS 'Name of the judge of the run';
COMMENT ON COLUMN passages.question_id IS 'Id of the question';
COMMENT ON COLUMN passages.number IS 'Its number in the context, from 1, as quotes and citations name it';
COMMENT ON COLUMN passages.document_id IS 'Document it comes from; NULL when an import names none';
COMMENT ON COLUMN passages.foreign_id IS 'Id under which somebody else''s index knows it';
COMMENT ON COLUMN passages.start IS 'First character in the document; NULL when unknown';
COMMENT ON COLUMN passages."end" IS 'One past the last character';
COMMENT ON COLUMN passages.n_tokens IS 'Tokens';
COMMENT ON COLUMN passages.text IS 'The text';

CREATE OR REPLACE VIEW answers AS
SELECT
  m.setup, m.judge, m.question_id, a.text, a.n_words, a.no_answer, r.form, r.gives_answer, r.relevancy, r.n_claims,
  a.writer_id, a.cost_usd, a.latency_s
FROM manifest AS m
JOIN answer_rows AS a ON a.key = m.answer_key AND m.answer_state = 'scored'
LEFT JOIN reading_rows AS r ON r.key = m.reading_key AND m.reading_state = 'scored';
COMMENT ON VIEW answers IS 'Answers, and what the reader says of them';
COMMENT ON COLUMN answers.setup IS 'Name of the setup';
COMMENT ON COLUMN answers.judge IS 'Name of the judge of the run';
COMMENT ON COLUMN answers.question_id IS 'Id of the question';
COMMENT ON COLUMN answers.text IS 'The answer';
COMMENT ON COLUMN answers.n_words IS 'Words';
COMMENT ON COLUMN answers.no_answer IS 'refused, truncated or empty; NULL when there is an answer';
COMMENT ON COLUMN answers.form IS 'What it says of itself: FULL, PARTIAL or NOT_COVERED';
COMMENT ON COLUMN answers.gives_answer IS 'Whether it answers all the same';
COMMENT ON COLUMN answers.relevancy IS 'ADDRESSES, PARTLY, OFF_TOPIC or ABSTAINS';
COMMENT ON COLUMN answers.n_claims IS 'Claims';
COMMENT ON COLUMN answers.writer_id IS 'Who wrote it';
COMMENT ON COLUMN answers.cost_usd IS 'What it cost when it was made, in US dollars';
COMMENT ON COLUMN answers.latency_s IS 'How long it took when it was made, in seconds';

CREATE OR REPLACE VIEW claims AS
SELECT c.setup, c.judge, c.question_id, c.claim.number AS number, c.claim.text AS text, c.verdict
FROM (
  SELECT m.setup, m.judge, m.question_id, unnest(r.claims) AS claim,
    unnest(coalesce(list_transform(g.verdicts, lambda v: v.verdict), list_transform(r.claims, lambda c: NULL))) AS verdict
  FROM manifest AS m
  JOIN reading_rows AS r ON r.key = m.reading_key AND m.reading_state = 'scored'
  LEFT JOIN grounding_rows AS g ON g.key = m.grounding_key AND m.grounding_state = 'scored'
) AS c;
COMMENT ON VIEW claims IS 'Claims of the answers, with their verdict';
COMMENT ON COLUMN claims.setup IS 'Name of the setup';
COMMENT ON COLUMN claims.judge IS 'Name of the judge';
COMMENT ON COLUMN claims.question_id IS 'Id of the question';
COMMENT ON COLUMN claims.number IS 'Number in the answer, from 1';
COMMENT ON COLUMN claims.text IS 'The statement';
COMMENT ON COLUMN claims.verdict IS 'SUPPORTED, NOT_SUPPORTED, CONTRADICTED or UNVERIFIED; NULL when not judged';

CREATE OR REPLACE VIEW verdicts AS
SELECT
  v.setup, v.judge, v.question_id, v.verdict.number AS number, v.verdict.verdict AS verdict, v.verdict.judged AS judged,
  v.quote.text AS quote, v.quote.passage AS passage, v.quote.start AS start, v.quote."end" AS "end",
  v.verdict.lost_quotes AS lost_quotes, v.verdict.why AS why, v.judge_id
FROM (
  SELECT m.setup, m.judge, m.question_id, x.verdict, x.judge_id,
    unnest(CASE WHEN len(x.verdict.quotes) > 0 THEN x.verdict.quotes ELSE [NULL] END) AS quote
  FROM manifest AS m
  JOIN (SELECT key, judge_id, unnest(verdicts) AS verdict FROM grounding_rows) AS x
    ON x.key = m.grounding_key AND m.grounding_state = 'scored'
) AS v;
COMMENT ON VIEW verdicts IS 'Verdicts on claims, one row per quote found; one row without a quote where there is none';
COMMENT ON COLUMN verdicts.setup IS 'Name of the setup';
COMMENT ON COLUMN verdicts.judge IS 'Name of the judge';
COMMENT ON COLUMN verdicts.question_id IS 'Id of the question';
COMMENT ON COLUMN verdicts.number IS 'Number of the claim';
COMMENT ON COLUMN verdicts.verdict IS 'After the quote check: SUPPORTED, NOT_SUPPORTED, CONTRADICTED or UNVERIFIED';
COMMENT ON COLUMN verdicts.judged IS 'The judge''s own word';
COMMENT ON COLUMN verdicts.quote IS 'The evidence, found again in the passage';
COMMENT ON COLUMN verdicts.passage IS 'Number of the passage it stands in';
COMMENT ON COLUMN verdicts.start IS 'First character of the quote in the passage';
COMMENT ON COLUMN verdicts."end" IS 'One past the last character';
COMMENT ON COLUMN verdicts.lost_quotes IS 'Quotes of the judge that were not found';
COMMENT ON COLUMN verdicts.why IS 'The judge''s reason';
COMMENT ON COLUMN verdicts.judge_id IS 'judge_key and the model that replied';

CREATE OR REPLACE VIEW citations AS
SELECT NULL::VARCHAR AS setup, NULL::VARCHAR AS judge, NULL::VARCHAR AS question_id, NULL::BIGINT AS number,
  NULL::BIGINT AS passage, NULL::VARCHAR AS verdict
WHERE FALSE;
COMMENT ON VIEW citations IS 'Verdicts on (claim, cited passage) pairs; empty until citations are judged';
COMMENT ON COLUMN citations.setup IS 'Name of the setup';
COMMENT ON COLUMN citations.judge IS 'Name of the judge';
COMMENT ON COLUMN citations.question_id IS 'Id of the question';
COMMENT ON COLUMN citations.number IS 'Number of the claim';
COMMENT ON COLUMN citations.passage IS 'Number of the cited passage';
COMMENT ON COLUMN citations.verdict IS 'alone, part or no';

CREATE OR REPLACE VIEW points AS
SELECT
  x.setup, x.judge, x.question_id, p.point_id, p.text, p.vital, x.verdict.verdict AS verdict,
  nullif(x.verdict.quote, '') AS quote, x.verdict.why AS why, x.judge_id
FROM (
  SELECT m.run_id, m.setup, m.judge, m.question_id, c.judge_id, unnest(c.verdicts) AS verdict
  FROM manifest AS m
  JOIN correctness_rows AS c ON c.key = m.correctness_key AND m.correctness_state = 'scored'
) AS x
JOIN asked_points AS p ON p.run_id = x.run_id AND p.question_id = x.question_id AND p.number = x.verdict.number;
COMMENT ON VIEW points IS 'Verdicts on key points';
COMMENT ON COLUMN points.setup IS 'Name of the setup';
COMMENT ON COLUMN points.judge IS 'Name of the judge';
COMMENT ON COLUMN points.question_id IS 'Id of the question';
COMMENT ON COLUMN points.point_id IS 'Id of the point';
COMMENT ON COLUMN points.text IS 'What a right answer says';
COMMENT ON COLUMN points.vital IS 'Whether an answer without it is wrong';
COMMENT ON COLUMN points.verdict IS 'COVERED, PARTLY, MISSING or CONTRADICTED';
COMMENT ON COLUMN points.quote IS 'The answer''s own sentence; NULL where there is none';
COMMENT ON COLUMN points.why IS 'The judge''s reason';
COMMENT ON COLUMN points.judge_id IS 'judge_key and the model that replied';

CREATE OR REPLACE VIEW cells AS
SELECT
  m.setup, m.judge, m.question_id, q.tags, c.label, c.reason, c.owner, c.correct, c.grounded, c.arrived, c.page_level,
  list_transform(c.failed_points, lambda p: p.point_id) AS failed_points
FROM manifest AS m
JOIN cell_rows AS c ON c.key = m.cell_key AND m.cell_state = 'scored'
JOIN asked_questions AS q ON q.run_id = m.run_id AND q.question_id = m.question_id;
COMMENT ON VIEW cells IS 'The cell of every question, with its owner';
COMMENT ON COLUMN cells.setup IS 'Name of the setup';
COMMENT ON COLUMN cells.judge IS 'Name of the judge';
COMMENT ON COLUMN cells.question_id IS 'Id of the question';
COMMENT ON COLUMN cells.tags IS 'The question''s tags, as in tags[''area'']';
COMMENT ON COLUMN cells.label IS 'correct, or what went wrong';
COMMENT ON COLUMN cells.reason IS 'Why this cell';
COMMENT ON COLUMN cells.owner IS 'Who can change it';
COMMENT ON COLUMN cells.correct IS 'Whether the answer is correct; NULL where it cannot be said';
COMMENT ON COLUMN cells.grounded IS 'Whether the context supports the answer; NULL where it cannot be said';
COMMENT ON COLUMN cells.arrived IS 'Whether the failed points'' gold is in the context; NULL where it was not asked';
COMMENT ON COLUMN cells.page_level IS 'Whether the evidence axis rests on whole documents only';
COMMENT ON COLUMN cells.failed_points IS 'Ids of the points that failed';

CREATE OR REPLACE VIEW scores AS
SELECT s.setup, m.judge, s.question_id, s.metric, s.value, s.reason
FROM retrieval_scores AS s
JOIN (SELECT DISTINCT place, setup, judge FROM manifest) AS m ON m.place = s.place;
COMMENT ON VIEW scores IS 'Measures of every ranking and context; undefined is NULL, with the reason';
COMMENT ON COLUMN scores.setup IS 'Name of the setup';
COMMENT ON COLUMN scores.judge IS 'Name of the judge of the run';
COMMENT ON COLUMN scores.question_id IS 'Id of the question';
COMMENT ON COLUMN scores.metric IS 'As METRICS names it: recall@5, recall@2000t, mrr, context_recall and so on';
COMMENT ON COLUMN scores.value IS 'Between 0 and 1; NULL where there is nothing to measure';
COMMENT ON COLUMN scores.reason IS 'Why there is no value: unanswerable, unlabelled, no_ranking and so on';

CREATE OR REPLACE VIEW costs AS
SELECT m.setup, m.judge, m.question_id, 'generate' AS stage, r.cost_usd, r.latency_s,
  r.n_calls, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens
FROM manifest AS m JOIN answer_rows AS r ON r.key = m.answer_key AND m.answer_state = 'scored'
UNION ALL
SELECT m.setup, m.judge, m.question_id, 'read', r.cost_usd, r.latency_s,
  r.n_calls, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens
FROM manifest AS m JOIN reading_rows AS r ON r.key = m.reading_key AND m.reading_state = 'scored'
UNION ALL
SELECT m.setup, m.judge, m.question_id, 'judge-grounding', r.cost_usd, r.latency_s,
  r.n_calls, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens
FROM manifest AS m JOIN grounding_rows AS r ON r.key = m.grounding_key AND m.grounding_state = 'scored'
UNION ALL
SELECT m.setup, m.judge, m.question_id, 'judge-correctness', r.cost_usd, r.latency_s,
  r.n_calls, r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens
FROM manifest AS m JOIN correctness_rows AS r ON r.key = m.correctness_key AND m.correctness_state = 'scored';
COMMENT ON VIEW costs IS 'What each row cost when it was made; a row that two setups share is listed for both';
COMMENT ON COLUMN costs.setup IS 'Name of the setup';
COMMENT ON COLUMN costs.judge IS 'Name of the judge of the run';
COMMENT ON COLUMN costs.question_id IS 'Id of the question';
COMMENT ON COLUMN costs.stage IS 'generate, read, judge-grounding or judge-correctness';
COMMENT ON COLUMN costs.cost_usd IS 'US dollars; the offline seats cost nothing';
COMMENT ON COLUMN costs.latency_s IS 'Seconds, over all calls of the row; NULL where no model was asked';
COMMENT ON COLUMN costs.n_calls IS 'Replies that the row rests on; 0 of an offline seat';
COMMENT ON COLUMN costs.input_tokens IS 'Fresh input; what the prompt cache gave or took stands beside it';
COMMENT ON COLUMN costs.output_tokens IS 'Tokens of the replies';
COMMENT ON COLUMN costs.cache_read_tokens IS 'Input that the prompt cache gave, cheaper than fresh';
COMMENT ON COLUMN costs.cache_write_tokens IS 'Input that the prompt cache took, dearer than fresh';
