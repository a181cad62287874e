"""Numbers and units as texts write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.text.quantities import claimed_numbers, numbers


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("10,000 events", [("10000", "event")], id="thousands"),
        pytest.param("10 000 or 10_000", [("10000", "or"), ("10000", "")], id="thousands by space and underscore"),
        pytest.param("10k, 5 million, $1.5bn", [("10000", ""), ("5000000", ""), ("1500000000", "$")], id="scales"),
        pytest.param("3.50 and 007", [("3.5", "and"), ("7", "")], id="zeros that say nothing"),
        pytest.param("1,5 Liter, 1.234,56 €", [("1.5", "liter"), ("1234.56", "€")], id="decimal comma"),
        pytest.param("25% or twenty-five per cent", [("25", "%"), ("25", "%")], id="percent, in letters"),
        pytest.param("5-day, five business days", [("5", "day"), ("5", "day")], id="days"),
        pytest.param("one of them for one year", [("1", "year")], id="one only with a unit"),
        pytest.param("SHA256, v1.2, GPT-4", [], id="digits in names"),
        pytest.param("2024-01-05 at 10:30", [("2024", ""), ("1", ""), ("5", "at"), ("10", ""), ("30", "")], id="date"),
        pytest.param("version 1.2.3", [("1.2.3", "")], id="version"),
        pytest.param("保留三天，10万", [("3", "day"), ("100000", "")], id="Chinese"),
        pytest.param("３０日間", [("30", "day")], id="Japanese, full width"),
        pytest.param("٣ أيام", [("3", "أيام")], id="Arabic digits"),
        pytest.param("the 4th and the fourth", [("4", "th"), ("4", "")], id="ordinals"),
    ],
)
def test_found(text: str, found: list[tuple[str, str]]) -> None:
    assert [(number.readings[0], number.unit) for number in numbers(text)] == found


def test_a_point_before_three_digits_is_read_both_ways() -> None:
    assert numbers("1.500 Nutzer")[0].readings == ("1.5", "1500")


@pytest.mark.parametrize(
    ("claim", "stated"),
    [
        pytest.param("Kept for 3 days [1, 2][^3].", ["3"], id="no markers"),
        pytest.param("2. Kept for 3 days.", ["3"], id="no list number"),
        pytest.param("Two plans keep logs for two days.", ["2"], id="counts only with a known unit"),
        pytest.param("Twelve plans are sold.", ["12"], id="above ten"),
    ],
)
def test_claimed(claim: str, stated: list[str]) -> None:
    assert [number.readings[0] for number in claimed_numbers(claim)] == stated


@given(value=st.integers(0, 10**12))
def test_thousands_separators_change_nothing(value: int) -> None:
    (plain,) = numbers(f"{value}")
    (grouped,) = numbers(f"{value:,}")
    assert plain.same(grouped)


@given(text=st.text())
def test_any_text_is_read_in_order(text: str) -> None:
    starts = [number.start for number in numbers(text)]
    assert starts == sorted(set(starts))
