"""What a run is expected to cost, before anything is asked."""

from schemas.record import Record


class Expected(Record):
    """One stage of one setup.

    Attributes:
        stage: generate, read, judge-grounding or judge-correctness.
        model: As the settings name it; None of an offline seat or a saved answer.
        n_reused: Rows that are saved already, or whose replies are.
        n_calls: Calls to make.
        input_tokens: Of all calls, at four bytes a token.
        output_tokens: Of all calls, from the mean of saved rows of that stage, else from an assumption.
        cost_usd: At these tokens, without what prompt caching saves.
        most_usd: When every reply takes all the tokens it may; `--budget` sets aside this much.
    """

    setup: str
    stage: str
    model: str | None
    n_reused: int = 0
    n_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    most_usd: float = 0.0
