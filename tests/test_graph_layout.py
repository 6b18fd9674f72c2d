"""How a neighbourhood is drawn: within its size, each thing once, nothing over anything else, and always the same."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from mait_code.projections.graph_queries import Thing
from mait_code.tui.graph_ego import MOST, Ego, Ties
from mait_code.tui.graph_layout import Drawing, draw, is_drawable
from mait_code.tui.text_lines import cell_len


def thing(id_: str, name: str = "", type_: str = "tool", mentions: int = 1) -> Thing:
    at = "2026-01-01T00:00:00Z"
    return Thing((id_, name or id_, type_, at, at, mentions, None))


def ties(*links: tuple[str, str, str], **mentions: int) -> Ties:
    ids = {end for source, _, target in links for end in (source, target)}
    return Ties({id_: thing(id_, mentions=mentions.get(id_, 1)) for id_ in ids}, links)


def text(drawing: Drawing) -> list[str]:
    return ["".join(piece for _, piece, _ in line).rstrip() for line in drawing.lines]


def test_one_on_each_side() -> None:
    found = draw(ties(("a", "asks", "b"), ("b", "uses", "c")).ego("b", 1), 60, 5)
    (line,) = text(found)
    assert line.strip() == "▲ a ─asks▶──▲ b ───uses▶ ▲ c"
    middle = line.index("▲ b")
    assert found.places == {"a": (0, line.index("▲ a"), -1), "b": (0, middle, 0), "c": (0, line.index("▲ c"), 1)}


def test_many_on_one_side_and_steps() -> None:
    many = ties(("a", "has", "b"), ("a", "has", "c"), ("a", "has", "d"), ("b", "uses", "x"), b=3, c=2)
    assert text(draw(many.ego("a", 2), 60, 9)) == [
        "      ┌─has▶ ▲ b",
        " ▲ a ─┤  └─uses▶ ▲ x",
        "      ├─has▶ ▲ c",
        "      └─has▶ ▲ d",
    ]


def test_the_left_is_the_right_turned_round() -> None:
    many = ties(("b", "has", "a"), ("c", "has", "a"), ("d", "has", "a"), ("x", "uses", "b"), b=3, c=2)
    assert [line.strip() for line in text(draw(many.ego("a", 2), 60, 9))] == [
        "▲ b ─has▶┐",
        "▲ x ─uses▶┘  ├─▲ a",
        "▲ c ─has▶┤",
        "▲ d ─has▶┘",
    ]


def test_both_directions_are_drawn_outward() -> None:
    found = ties(("a", "uses", "b"), ("b", "feeds", "a")).ego("a", 1)
    assert [(tie.outward, tie.words) for tie in found.ties] == [(True, "uses")]


def test_the_most_mentioned_come_first_and_the_rest_is_counted() -> None:
    links = [("hub", "has", f"n{number:02}") for number in range(60)]
    found = ties(*links, n59=9).ego("hub", 1)
    assert found.ties[0].other.id == "n59"
    assert (len(found.ties), found.left_out) == (MOST, 60 - MOST)
    drawing = draw(found, 60, 10)
    assert len(drawing.lines) <= 10
    assert drawing.left_out == 60 - sum(1 for id_ in drawing.places if id_ != "hub")


def test_labels_only_where_there_are_few() -> None:
    few = ties(*(("hub", "has", f"n{number}") for number in range(15)))
    many = ties(*(("hub", "has", f"n{number}") for number in range(16)))
    assert any("has" in line for line in text(draw(few.ego("hub", 1), 80, 40)))
    assert not any("has" in line for line in text(draw(many.ego("hub", 1), 80, 40)))


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)


@st.composite
def egos(take: st.DrawFn) -> Ego:
    names = take(st.lists(NAMES, min_size=1, max_size=25))
    things = {f"t{number}": thing(f"t{number}", name, mentions=number % 5) for number, name in enumerate(names)}
    end = st.sampled_from(sorted(things))
    links = {(a, relation, b) for a, relation, b in take(st.lists(st.tuples(end, NAMES, end), max_size=60)) if a != b}
    return Ties(things, sorted(links)).ego("t0", take(st.integers(1, 3)))


@settings(max_examples=150, deadline=None)
@given(egos(), st.integers(34, 200), st.integers(5, 60))
def test_whatever_the_neighbourhood(ego: Ego, width: int, height: int) -> None:
    assert is_drawable(width, height)
    found = draw(ego, width, height)
    assert len(found.lines) <= height
    for line in found.lines:
        assert sum(cell_len(piece) for _, piece, _ in line) <= width
    ids = [id_ for line in found.lines for id_ in dict.fromkeys(id_ for _, _, id_ in line if id_)]
    assert len(ids) == len(set(ids)) == len(found.places)
    assert len(ids) - 1 + found.left_out == sum(1 for _ in ego.walk()) + ego.left_out
    again = draw(ego, width, height)
    assert again.lines == found.lines
