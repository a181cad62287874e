-- Claims that their context does not support, contradicted ones first.
SELECT setup, question_id, question, number, claim, verdict, judged, quote, passage, lost_quotes, why
FROM judged_claims
WHERE verdict <> 'SUPPORTED'
ORDER BY place, array_position(['CONTRADICTED', 'UNVERIFIED', 'NOT_SUPPORTED'], verdict), question_id, number;
