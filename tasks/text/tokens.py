"""The one token counter: deterministic, the same for every model and language, and documented here.

A token is four bytes of UTF-8, rounded up. Real tokenizers differ from model to model and need a download;
sizes and budgets in fourcells only have to be the same for everything that is compared. tests/bench/RESULTS.md
says how far it lies from a real tokenizer.
"""

from typing import Final

BYTES_PER_TOKEN: Final = 4


def count_tokens(text: str) -> int:
    """Count tokens.

    >>> count_tokens(""), count_tokens("abcd"), count_tokens("abcde"), count_tokens("天地")
    (0, 1, 2, 2)
    """
    return (_n_bytes(text) + BYTES_PER_TOKEN - 1) // BYTES_PER_TOKEN


def cut_to_tokens(text: str, n_tokens: int) -> str:
    """The longest beginning of a text that has at most so many tokens.

    >>> cut_to_tokens("abcdefgh", 1), cut_to_tokens("天地", 1)
    ('abcd', '天')
    """
    room = n_tokens * BYTES_PER_TOKEN
    if len(text) * 4 <= room:
        return text
    return text[:room].encode("utf-8", "surrogatepass")[:room].decode("utf-8", "ignore")


def _n_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
