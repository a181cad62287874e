-- Ten verdicts drawn by hash, half of them SUPPORTED: a judge's verdicts are data to inspect.
SELECT setup, question_id, question, claim, verdict, quote, passage, why
FROM (
  SELECT *, row_number() OVER (PARTITION BY verdict = 'SUPPORTED' ORDER BY draw) AS turn
  FROM judged_claims
)
WHERE turn <= 5
ORDER BY verdict = 'SUPPORTED' DESC, draw;
