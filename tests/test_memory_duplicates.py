"""Pairs of memories that say nearly the same: which are found, which are not, and what the thresholds change."""

from __future__ import annotations

import shlex
import tracemalloc
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from likeness_pairs import APART, TOGETHER

from mait_code.commands import memory_duplicates
from mait_code.journal.home import Home
from mait_code.journal.journal import Journal
from mait_code.projections import likeness, near_pairs, stores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]


pytestmark = pytest.mark.usefixtures("rocket")


def done(cli: Cli, *arguments: str) -> Any:
    result = cli("memory", "--json", *arguments)
    assert result.code == 0, result.err
    return result.json


def told(home: Path, *memories: dict[str, Any]) -> None:
    """Memories as an import would bring them, in this order."""
    own = Home(str(home / "data"))
    with Journal(own).writing(stores.memory(own)) as writer:
        for one in memories:
            writer.append("memory.stored", **{"type": "fact", "scope": "global", **one})


def pairs(found: Any) -> list[tuple[str, str]]:
    return [(one["memories"][0]["content"], one["memories"][1]["content"]) for one in found["pairs"]]


@pytest.fixture
def no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mait_code.projections.model_files.PACKAGE", "no_such_package")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", "/nonexistent")


TABS, TABS_AGAIN = "Prefer tabs over spaces in Go", "Use tabs, not spaces, in Go code"
CITY, CITY_AGAIN = "Our office is in Berlin", "The company's office can be found in Berlin"
ALONE = "Quarterly tax figures are due in March"


# -- what is found ----------------------------------------------------------------------------------------------------


def test_pairs_by_meaning_closest_first(cli: Cli) -> None:
    for text in (TABS, CITY, ALONE, TABS_AGAIN, CITY_AGAIN):
        done(cli, "store", text)
    found = done(cli, "duplicates")
    assert set(pairs(found)) == {(TABS, TABS_AGAIN), (CITY, CITY_AGAIN)}
    shares = [one["similarity"] for one in found["pairs"]]
    assert shares == sorted(shares, reverse=True)
    assert all(one["cosine"] > 0.6 for one in found["pairs"])
    assert (found["compared"], found["without_vectors"], found["more"]) == (5, 0, 0)
    assert found["model"]


def test_what_differs_in_a_denial_is_never_nearly_the_same(cli: Cli) -> None:
    for text in ("Caching is enabled", "Caching is disabled", "The port is 5432", "The port is 5433"):
        done(cli, "store", text)
    found = done(cli, "duplicates")
    assert {frozenset(pair) for pair in pairs(found)} == {
        frozenset(("Caching is enabled", "Caching is disabled")), frozenset(("The port is 5432", "The port is 5433")),
    }  # fmt: skip
    assert {one["verdict"] for one in found["pairs"]} == {"close, may contradict"}
    assert max(one["cosine"] for one in found["pairs"]) >= 0.92  # which a vector alone would call the same


def test_nearly_the_same_from_its_threshold_on(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done(cli, "store", CITY)
    done(cli, "store", CITY_AGAIN)
    (pair,) = done(cli, "duplicates")["pairs"]
    cosine, verdicts = pair["cosine"], []
    for threshold in (cosine - 0.01, cosine + 0.01):
        monkeypatch.setenv("MAIT_CODE_DEDUP_VECTOR_THRESHOLD", str(threshold))
        verdicts.append(done(cli, "duplicates")["pairs"][0]["verdict"])
    assert verdicts == ["nearly the same", "close, may contradict"]
    monkeypatch.setenv("MAIT_CODE_DEDUP_CONFLICT_THRESHOLD", str(cosine + 0.005))
    found = cli("memory", "duplicates")
    assert found.out == "No two of 2 memories are close.\n"


def test_types_and_places_are_kept_apart(cli: Cli, home: Path) -> None:
    said = "The cache is cleared at night"
    told(
        home,
        {"content": said},
        {"content": said + " too", "type": "event"},
        {"content": said + " also", "scope": "project", "project": "rocket"},
        {"content": said + " here", "scope": "project", "project": "boat"},
        {"content": said + " now", "scope": "branch", "project": "boat", "branch": "sail"},
    )
    assert done(cli, "duplicates", "--scope", "all")["pairs"] == []
    told(home, {"content": said + " again", "scope": "project", "project": "boat"})
    assert pairs(done(cli, "duplicates", "--scope", "all")) == [(said + " here", said + " again")]
    assert pairs(done(cli, "duplicates", "--project", "boat")) == [(said + " here", said + " again")]
    assert pairs(done(cli, "duplicates")) == []  # from rocket nothing of boat's is seen
    assert pairs(done(cli, "duplicates", "--project", "boat", "--type", "event")) == []
    assert cli("memory", "duplicates", "--type", "nonsense").code == 2


def test_only_living_memories_count_and_copies_once(cli: Cli, home: Path) -> None:
    told(home, {"content": CITY}, {"content": CITY})
    assert done(cli, "duplicates")["pairs"] == []
    short = done(cli, "store", CITY_AGAIN, "--scope", "global")["short"]
    assert pairs(done(cli, "duplicates")) == [(CITY, CITY_AGAIN)]
    done(cli, "retire", short)
    assert done(cli, "duplicates")["pairs"] == []


def test_the_commands_that_are_shown_settle_it(cli: Cli) -> None:
    for at, text in enumerate(("The office closes at six", "The office closes at seven")):
        done(cli, "store", text, "--importance", str(at + 5))
    text = cli("memory", "duplicates").out
    merge, supersede = (line.strip() for line in text.splitlines() if line.startswith("  mait-code"))
    assert cli(*shlex.split(supersede.replace("TEXT", "The office closes at eight"))[1:]).code == 0
    assert {one["content"] for one in done(cli, "list")} == {"The office closes at seven", "The office closes at eight"}
    assert cli("undo").code == 0
    assert cli(*shlex.split(merge.replace("TEXT", "The office closes at seven now"))[1:]).code == 0
    assert [one["content"] for one in done(cli, "list")] == ["The office closes at seven now"]
    assert "No two of 1 memory are close" in cli("memory", "duplicates").out


# -- vectors ----------------------------------------------------------------------------------------------------------


def in_session(cli: Cli, tmp_path: Path, *texts: str) -> None:
    """Stored one after the other in one session, so that each leads into the vector of the next."""
    lines = [{"content": text, "session": "s1", "at": f"2026-01-01T10:0{at}:00Z"} for at, text in enumerate(texts)]
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    with file.open() as stream, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", stream)
        assert done(cli, "store", "--stdin")["stored"] == len(texts)


def test_what_led_into_a_vector_is_not_compared(cli: Cli, tmp_path: Path) -> None:
    in_session(cli, tmp_path, TABS, ALONE, CITY, TABS_AGAIN)
    assert (
        done(cli, "reindex")["embedded"] == 7
    )  # for search each with what came before it, the first alone; and each alone
    found = done(cli, "duplicates")
    assert pairs(found) == [(TABS, TABS_AGAIN)]
    assert found["pairs"][0]["cosine"] > 0.85
    assert done(cli, "reindex", "--prune")["pruned"] == 0
    assert pairs(done(cli, "duplicates")) == [(TABS, TABS_AGAIN)]


def test_many_without_vectors_are_left_to_reindex(cli: Cli, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_duplicates, "FILLED", 3)
    told(home, *({"content": text} for text in (TABS, TABS_AGAIN, ALONE, "Caching is enabled", "Caching is disabled")))
    result = cli("memory", "duplicates")
    assert "5 memories have no vector yet and were compared by words alone: mait-code memory reindex" in result.err
    assert "no vector" in result.out
    assert TABS not in result.out  # words alone do not find it
    assert done(cli, "stats")["embeddings"]["embedded"] == 0
    done(cli, "reindex")
    found = done(cli, "duplicates")
    assert found["without_vectors"] == 0
    assert (TABS, TABS_AGAIN) in pairs(found)
    told(home, {"content": CITY})
    assert done(cli, "duplicates")["without_vectors"] == 0  # a few are embedded at once
    assert done(cli, "stats")["embeddings"]["embedded"] == 6


@pytest.mark.usefixtures("no_model")
def test_without_a_model_words_alone_are_compared(cli: Cli) -> None:
    for text in (TABS, TABS_AGAIN, "The port is 5432", "The port is 5433"):
        done(cli, "store", text)
    result = cli("memory", "duplicates")
    assert result.code == 0
    assert "close, may contradict (no vector, words 89 %)" in result.out
    assert TABS not in result.out
    assert "compared by words alone: " in result.err
    assert "no_such_package is not installed" in result.err
    found = done(cli, "duplicates")
    assert (found["model"], found["without_vectors"], found["pairs"][0]["cosine"]) == (None, 0, None)


def test_nothing_there(cli: Cli) -> None:
    assert cli("memory", "duplicates").out == "No two of 0 memories are close.\n"
    assert done(cli, "duplicates")["pairs"] == []


# -- thresholds -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_model")
def test_the_string_threshold_says_what_store_tells_of(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    done(cli, "store", "The nightly backup goes to the cellar")
    other = "The weekly backup goes to the attic"
    assert done(cli, "store", other)["similar"] == []
    assert cli("undo").code == 0
    monkeypatch.setenv("MAIT_CODE_DEDUP_STRING_THRESHOLD", "0.6")
    (near,) = done(cli, "store", other)["similar"]
    assert 0.6 <= near["similarity"] < 0.85
    assert near["similarity"] == round(likeness.similarity(near["content"], other, 0), 4)
    assert pairs(done(cli, "duplicates")) == [(near["content"], other)]
    monkeypatch.setenv("MAIT_CODE_DEDUP_STRING_THRESHOLD", "0.99")
    done(cli, "store", "The port is 5432")
    assert done(cli, "store", "The port is 5433")["similar"] == []
    assert done(cli, "duplicates")["pairs"] == []


@pytest.mark.parametrize("threshold", ["0.5", "1"])
def test_no_threshold_makes_two_memories_one(cli: Cli, monkeypatch: pytest.MonkeyPatch, threshold: str) -> None:
    monkeypatch.setenv("MAIT_CODE_DEDUP_STRING_THRESHOLD", threshold)
    monkeypatch.setenv("MAIT_CODE_DEDUP_VECTOR_THRESHOLD", "0")
    monkeypatch.setenv("MAIT_CODE_DEDUP_CONFLICT_THRESHOLD", "0")
    joined = [
        done(cli, "store", text)["deduplicated"]
        for text in ("The port is 5432", "The port is 5433", "Port is not 5432", "the port is 5432.", "Port 5432 is it")
    ]
    assert joined == [False, False, False, True, False]


WORDS = st.lists(st.sampled_from(["not", "port", "is", "enabled", "disabled", "ann", "calls", "5432", "x"]), max_size=8)


@given(WORDS, WORDS, st.sampled_from([0.0, 0.5, 0.6, 0.85, 0.9, 1.0]))
def test_whether_two_texts_are_close_does_not_hang_on_the_bound(one: list[str], two: list[str], least: float) -> None:
    """What is at least the threshold is the same number whatever the threshold; what is not stays below it."""
    exact, bounded = likeness.in_common(one, two, 0.0), likeness.in_common(one, two, least)
    assert bounded == exact if exact >= least else exact <= bounded < least


def test_numbers_denials_and_opposites_turn_a_text() -> None:
    for kind in ("numbers", "negation"):
        turned = [likeness.turned(*map(likeness.words, pair)) for pair in APART[kind]]
        assert sum(turned) >= 0.7 * len(turned), kind
    for one, two in (
        ("Caching is enabled", "Caching is disabled"),
        ("Run lint before tests", "Run lint after tests"),
        ("Ann calls Bob", "Bob calls Ann"),
    ):
        assert likeness.turned(likeness.words(one), likeness.words(two))
    again = [
        likeness.turned(*map(likeness.words, pair))
        for pair in [(CITY, CITY_AGAIN), *(pair for kind in TOGETHER.values() for pair in kind)]
    ]
    assert sum(again) <= 0.02 * len(again)


# -- the comparison itself --------------------------------------------------------------------------------------------


def rows(count: int, dimension: int = 8) -> Any:
    made = np.random.default_rng(count).standard_normal((count, dimension)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@pytest.mark.parametrize("cells", [1, 50, 10_000])
@pytest.mark.parametrize(("least", "most"), [(0.5, 1000), (0.5, 7), (0.0, 40), (0.999, 5)])
def test_closest_is_what_comparing_all_finds(
    monkeypatch: pytest.MonkeyPatch, cells: int, least: float, most: int
) -> None:
    monkeypatch.setattr(near_pairs, "_CELLS", cells)
    made, spans = rows(60), [(0, 25), (25, 26), (26, 60)]
    expected = sorted(
        (-float(made[one] @ made[two]), one, two)
        for start, end in spans
        for one, two in combinations(range(start, end), 2)
        if made[one] @ made[two] > max(least, 1e-6)
    )
    found, count = near_pairs.closest(made, spans, least, most)
    assert [pair[1:] for pair in found] == [pair[1:] for pair in expected[:most]]
    assert [pair[0] for pair in found] == pytest.approx([-pair[0] for pair in expected[:most]], abs=1e-5)
    assert count == len(expected)


def test_many_pairs_are_not_all_held() -> None:
    """Three thousand alike make four and a half million pairs, which would take a hundred megabytes and more."""
    made = np.ones((3000, 16), np.float32) / 4
    tracemalloc.start()
    try:
        found, count = near_pairs.closest(made, [(0, 3000)], 0.5, 20)
        assert tracemalloc.get_traced_memory()[1] < 80_000_000
    finally:
        tracemalloc.stop()
    assert (len(found), count) == (20, 3000 * 2999 // 2)
    assert {round(pair[0], 5) for pair in found} == {1.0}


def test_a_vector_that_is_nothing_is_near_nothing() -> None:
    nothing, odd = np.zeros(4, "<f4").tobytes(), np.full(4, np.nan, "<f4").tobytes()
    one = np.array([3, 0, 0, 0], "<f4").tobytes()
    made = near_pairs.by_meaning([(0, [nothing]), (1, [odd]), (2, [one]), (4, [one, one])], 5, 4)
    assert np.linalg.norm(made, axis=1).tolist() == [0, 0, 1, 0, 1]
    assert near_pairs.closest(made, [(0, 5)], 0.0, 9) == ([(1.0, 2, 4)], 1)


def test_pieces_find_what_words_find() -> None:
    """Every contradiction whose words are close is among those whose pieces are close enough to be compared."""
    close = 0
    for pair in (pair for kind in APART.values() for pair in kind):
        one, two = map(likeness.words, pair)
        if likeness.in_common(one, two) >= likeness.CLOSE:
            close += 1
            made = near_pairs.by_pieces([likeness.affirmed(one), likeness.affirmed(two)], 2)
            assert float(made[0] @ made[1]) >= likeness.CLOSE - memory_duplicates._SLACK, pair
    assert close > 200


def test_the_limit_cuts_and_says_how_many_more(cli: Cli, home: Path) -> None:
    told(home, *({"content": f"The service on port {5000 + number} is up"} for number in range(9)))
    found = done(cli, "duplicates", "--limit", "4")
    assert (len(found["pairs"]), found["more"]) == (4, 32)
    result = cli("memory", "duplicates", "--limit", "4")
    assert "at least 32 more pairs are close" in result.err
    assert result.out.count("mait-code memory merge") == 4
    assert len(done(cli, "duplicates", "--limit", "50")["pairs"]) == 36
