"""The one base of everything that passes between stages."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A frozen value with known fields only.

    NaN and infinity are refused, since one NaN would poison every average it enters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, hide_input_in_errors=True)
