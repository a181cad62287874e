"""What a Claude seat is told in TOML: which model, how, at which endpoint, and at what price."""

from typing import Literal

from pydantic import Field

from schemas.record import Record

Provider = Literal["anthropic", "bedrock", "vertex"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]


class Price(Record):
    """US dollars per million tokens, for a model that the price list does not know.

    Attributes:
        cache_read_usd: None means as dear as fresh input, so that nothing is counted too low.
        cache_write_usd: None means twice the input, the dearest there is.
    """

    input_usd: float = Field(ge=0)
    output_usd: float = Field(ge=0)
    cache_read_usd: float | None = Field(default=None, ge=0)
    cache_write_usd: float | None = Field(default=None, ge=0)


class ClaudeSettings(Record):
    """What all Claude seats share. Only the first five can change a reply, and only they enter keys.

    Attributes:
        provider: Anthropic's API or anything that speaks it (`base_url`), or the clouds through the SDK's own clients.
        model: There is no default: no paid model is ever chosen silently.
        effort: How hard the model tries; None leaves it to the API.
        max_tokens: Most tokens of a reply. A judge's reply that runs out gets more room; a writer's does not.
        base_url: Another endpoint that speaks the Messages API.
        concurrency: Most calls in flight to this endpoint and model, over the whole process.
        deadline_s: Seconds that one call may take.
        patience_s: Seconds after which a call is given up, with every wait and repetition.
        context_window: Tokens that the model takes in all; None asks the price list.
        price: For a model that the price list does not know.
        region: Of Bedrock or Vertex; None leaves it to their own settings.
        project: Of Vertex; None leaves it to its own settings.
    """

    provider: Provider
    model: str = Field(min_length=1)
    effort: Effort | None = None
    max_tokens: int = Field(default=8_192, ge=1, le=128_000)
    base_url: str | None = None
    concurrency: int = Field(default=8, ge=1, le=1_000)
    deadline_s: float = Field(default=120.0, gt=0, le=3_600)
    patience_s: float = Field(default=600.0, gt=0, le=86_400)
    context_window: int | None = Field(default=None, ge=1_000)
    price: Price | None = None
    region: str | None = None
    project: str | None = None


class ClaudeWriterSettings(ClaudeSettings):
    """Claude writes answers. `prompt` is the name of a file in `prompts/`."""

    prompt: str = "grounded"


class ClaudeReaderSettings(ClaudeSettings):
    """Claude says what an answer claims. `prompt` is the name of a file in `prompts/`."""

    prompt: str = "reader"


class ClaudeJudgeSettings(ClaudeSettings):
    """Claude judges claims and key points; each judgement has a prompt of its own in `prompts/`."""

    grounding_prompt: str = "grounding"
    points_prompt: str = "points"


class ClaudeDrafterSettings(ClaudeSettings):
    """Claude drafts key points from full documents, for a person to review."""

    prompt: str = "drafter"
