"""One line of the log: what is an event, what is not and why, and the exact bytes."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_golden import LINES

from mait_code.journal import clock
from mait_code.journal.event import BOM, DEEPEST, LONGEST_LINE, Bad, Event, Future, parse


def examples(count: int) -> settings:
    """The same examples in every run, and none of a stopwatch."""
    return settings(
        max_examples=count, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )


HEAD: dict[str, Any] = {
    "kind": "card.moved",
    "v": 1,
    "id": "6f1c0b7e9a2d4c5e8b10",
    "at": "2026-11-30T15:21:07.123004Z",
    "replica": "k7f3qz9m",
    "seq": 1234,
    "entity": "card/kfhq2m9xt47w",
    "actor": "claude",
}
DATA: dict[str, Any] = {"column": "done"}
ABSENT = object()


def sealed(before: bytes, after: bytes) -> bytes:
    """A line with its checksum between the two parts, as the log's definition has it."""
    return before + b',"sum":"' + hashlib.sha256(before + after).hexdigest()[:16].encode() + b'"' + after


def line(data: Any = DATA, spaced: bool = False, **changes: Any) -> bytes:
    """A line as we write it, with changes to its head. `spaced` puts a space where we do not, so that the quick look at the
    head does not apply and every field is checked by itself."""
    head = {key: value for key, value in {**HEAD, **changes}.items() if value is not ABSENT}
    before, after = orjson.dumps(head)[:-1], b',"data":' + orjson.dumps(data) + b"}"
    return sealed(b"{ " + before[1:] if spaced else before, after)


def reason(text: bytes) -> str:
    found = parse(text)
    assert isinstance(found, Bad), "was taken for an event"
    return found.reason


def event(text: bytes) -> Event:
    found = parse(text)
    assert isinstance(found, Event), found.reason if isinstance(found, Bad) else ""
    return found


def fields(found: Event) -> dict[str, Any]:
    return {name: getattr(found, name, None) for name in Event.__slots__}


# -- the bytes


def test_writes_the_keys_in_order_and_leaves_out_what_is_empty() -> None:
    found = event(line())
    assert found.line() == line()
    assert list(json.loads(found.line())) == [*HEAD, "sum", "data"]
    found.session, found.undoes, found.wall = "s", "a" * 20, "2026-01-01T00:00:00.000000Z"
    found.tx, found.sees = "b" * 20, {"column": ["c" * 20]}
    keys = [*HEAD, "session", "tx", "undoes", "sees", "wall", "sum", "data"]
    assert list(json.loads(found.line())) == keys
    assert fields(event(found.line())) == fields(found)


def test_a_tx_that_is_the_events_own_id_is_not_written() -> None:
    found = event(line())
    assert found.tx == found.id
    assert b'"tx"' not in found.line()


def test_text_is_utf8_and_one_line() -> None:
    found = event(line(actor="bridge"))
    found.data = {"column": "un café\n更新 🚀 \u2028 \x00 \x1b[0m"}
    written = found.line()
    assert b"\n" not in written
    assert b"\0" not in written
    assert "更新 🚀".encode() in written
    assert event(written).data == found.data


def test_the_sum_covers_every_other_byte() -> None:
    text = line()
    place = text.index(b',"sum":"')
    assert text[place + 25 :].startswith(b',"data":')
    assert text[place + 8 : place + 24] == hashlib.sha256(text[:place] + text[place + 25 :]).hexdigest()[:16].encode()
    for at in range(len(text)):
        if not place <= at < place + 25:
            flipped = text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]
            assert isinstance(parse(flipped), Bad), f"byte {at}"


def test_the_first_sum_is_the_sum() -> None:
    data = {"column": "x", "sum": "1234567890abcdef", "more": {"a": 1, "sum": "fedcba0987654321"}}
    assert event(line(data)).data == data
    text = event(line(data)).line()
    assert reason(text.replace(b"fedcba0987654321", b"fedcba0987654322")) == "checksum"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace(b'"sum":"', b'"sum":"0', 1), "checksum"),
        (lambda text: text.replace(b'"sum":"', b'"Sum":"', 1), "sum is missing"),
        (lambda text: text.replace(b',"sum":"', b', "sum":"', 1), "sum is missing"),
        (lambda text: text[: text.index(b',"sum"')] + text[text.index(b',"data"') :], "sum is missing"),
        (lambda text: text.replace(b'"done"', b'"gone"'), "checksum"),
        (lambda text: text.replace(b'"data"', b' "data"'), "checksum"),
    ],
)
def test_a_wrong_sum(change: Any, why: str) -> None:
    assert reason(change(line())) == why


def test_an_upper_case_sum_is_not_ours() -> None:
    text = next(
        text
        for text in (line(seq=n) for n in range(1, 99))
        if any(c in b"abcdef" for c in text.split(b'"sum":"')[1][:16])
    )
    place = text.index(b'"sum":"') + 7
    assert reason(text[:place] + text[place : place + 16].upper() + text[place + 16 :]) == "checksum"


def test_unknown_keys_change_nothing_and_count_for_the_sum() -> None:
    plain, more = event(line()), line(weather={"rain": [1, None]}, Kind=3)
    assert {**fields(event(more)), "data": 0} == {**fields(plain), "data": 0}
    assert reason(more.replace(b"rain", b"snow")) == "checksum"


# -- what is wrong, one field at a time

FAULTS: list[tuple[str, list[Any], str]] = [
    ("kind", [ABSENT, None, 1, "", "card", "card.", ".moved", "Card.moved", "card.moved.twice", "card moved", ["card.moved"]],
     "kind is not a name such as card.moved"),
    ("v", [ABSENT, None, 0, -1, 1.0, "1", True, 2**31, 2**70, [1]], "v is not a version number"),
    ("id", [ABSENT, None, "", "6f1c", "6F1C0B7E9A2D4C5E8B10", "6f1c0b7e9a2d4c5e8b1g", "6f1c0b7e9a2d4c5e8b100", 7, []],
     "id is not 20 hexadecimal digits"),
    ("at", [ABSENT, None, 0, "", "2026-11-30", "2026-11-30T15:21:07Z", "2026-11-30T15:21:07.123004+00:00",
            "2026-11-30T15:21:07.123004", "2026-11-30 15:21:07.123004Z", "2026-11-30T15:21:07.12300Z",
            "1969-12-31T23:59:59.999999Z", "9000-01-01T00:00:00.000000Z", "2026-02-29T00:00:00.000000Z",
            "2026-02-30T00:00:00.000000Z", "2026-04-31T00:00:00.000000Z", "2026-13-01T00:00:00.000000Z",
            "2026-00-01T00:00:00.000000Z", "2026-01-00T00:00:00.000000Z", "2026-01-01T24:00:00.000000Z",
            "2026-01-01T00:60:00.000000Z", "2026-01-01T00:00:60.000000Z", "2026-01-01T00:00:00.000000z",
            "２０２６-01-01T00:00:00.000000Z"],
     "at is not a UTC time of 27 characters between 1970 and 8999"),
    ("replica", [ABSENT, None, "", "k7f3qz9", "k7f3qz9mm", "K7F3QZ9M", "k7f3qzim", "../../ab", 7], "replica is not 8 base-32 characters"),
    ("seq", [ABSENT, None, 0, -1, 1.5, "1", True, 2**53, 2**64, 1e300], "seq is not a positive number"),
    ("entity", [ABSENT, None, "", "card", "card/", "kfhq2m9xt47w", "card/kfhq2m9xt47", "card/kfhq2m9xt47ww", "card/0fhq2m9xt47w",
                "card/k0hq2m9xt47w", "card/kfhq2m9xt47u", "Card/kfhq2m9xt47w", "card/../../passwd", 7],
     "entity is not a type and 12 base-32 characters"),
    ("actor", [ABSENT, None, "", "x" * 101, 7, ["me"]], "actor is not a short text"),
    ("session", [7, "x" * 201, [], {}], "session is not a short text"),
    ("tx", ["", "abc", 7, [], "6F1C0B7E9A2D4C5E8B10"], "tx is not an event id"),
    ("undoes", ["", "abc", 7, {}], "undoes is not an event id"),
    ("wall", ["", "yesterday", 7, "2026-02-30T00:00:00.000000Z"], "wall is not a UTC time of 27 characters"),
    ("sees", [[], "x", 7, True], "sees is not an object"),
    ("sees", [{"column": "6f1c0b7e9a2d4c5e8b10"}, {"column": {}}, {"a": [], "b": None}], "sees holds something that is no list of ids"),
    ("sees", [{"column": [None]}, {"column": ["6f1c"]}, {"*": ["6f1c0b7e9a2d4c5e8b10", 7]}], "sees holds something that is no event id"),
]  # fmt: skip


@pytest.mark.parametrize("spaced", [False, True], ids=["as written", "spaced"])
@pytest.mark.parametrize(
    ("name", "values", "why"), FAULTS, ids=[f"{name}-{number}" for number, (name, _, _) in enumerate(FAULTS)]
)
def test_a_wrong_field(name: str, values: list[Any], why: str, spaced: bool) -> None:
    for value in values:
        try:
            text = line(spaced=spaced, **{name: value})
        except TypeError:  # the codec does not write such numbers
            text = big(name, value, spaced)
        assert reason(text) == why, value


def big(name: str, value: int, spaced: bool) -> bytes:
    mark = 987654321
    text = line(spaced=spaced, **{name: mark}).replace(str(mark).encode(), str(value).encode())
    before, _, after = text.partition(b',"sum":"')
    return sealed(before, after[17:])


@pytest.mark.parametrize("spaced", [False, True], ids=["as written", "spaced"])
@pytest.mark.parametrize("data", [None, [], "x", 7, True])
def test_data_that_is_no_object(data: Any, spaced: bool) -> None:
    assert reason(line(data, spaced)) == "data is not an object"


@pytest.mark.parametrize("name", ["session", "tx", "undoes", "wall", "sees"])
def test_an_optional_key_may_be_null(name: str) -> None:
    assert fields(event(line(**{name: None}))) == fields(event(line()))


def test_data_that_is_not_its_kinds() -> None:
    assert reason(line({})) == "data.column is missing"
    assert reason(line({"column": 7})) == "data.column is not a name of 1 to 200 characters"
    assert reason(line(entity="inbox/kfhq2m9xt47w")) == "card.moved names an entity that is no card"


def test_newer_kinds_and_versions_are_kept() -> None:
    for text in (line(kind="zebra.ran", entity="zebra/kfhq2m9xt47w"), line({}, v=2), line({}, kind="card.sparkled")):
        found = event(text)
        assert type(found) is Future
        assert found.line() == text


# -- the quick look and the careful one

TIMES = st.one_of(
    st.datetimes(datetime(1970, 1, 1), datetime(8999, 12, 31)).map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond:06d}Z"),
    st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z", fullmatch=True),
    st.text(max_size=27),
)  # fmt: skip
NEAR = {
    "kind": st.one_of(st.sampled_from(["card.moved", "zebra.ran", "card.moved "]), st.from_regex(r"[a-z_.]{1,90}", fullmatch=True)),
    "v": st.one_of(st.integers(0, 3), st.integers(10**8, 2**33)),
    "id": st.one_of(st.from_regex(r"[0-9a-f]{20}", fullmatch=True), st.text("0123456789abcdefgA", min_size=19, max_size=21)),
    "at": TIMES,
    "replica": st.text("0123456789abcdefghijklmnopqrstuvwxyz", min_size=7, max_size=9),
    "seq": st.one_of(st.integers(0, 20), st.integers(10**14, 2**54)),
    "entity": st.one_of(st.just("card/kfhq2m9xt47w"), st.from_regex(r"[a-z_]{1,33}/[0-9a-z]{11,13}", fullmatch=True)),
    "actor": st.one_of(st.sampled_from(["me", "claude", "hook/x", "Étienne", "me too", ""]), st.text(max_size=102)),
    "session": st.one_of(st.just(""), st.text(max_size=3), st.integers(-9, 9)),
    "tx": st.one_of(st.none(), st.from_regex(r"[0-9a-f]{19,21}", fullmatch=True)),
}  # fmt: skip


@examples(1500)
@given(changes=st.fixed_dictionaries({}, optional=NEAR), data=st.sampled_from([DATA, {}, {"column": 1}, None]))
def test_both_looks_agree(changes: dict[str, Any], data: Any) -> None:
    as_written, spaced = parse(line(data, **changes)), parse(line(data, spaced=True, **changes))
    assert type(as_written) is type(spaced)
    if isinstance(as_written, Bad):
        assert isinstance(spaced, Bad)
        assert as_written.reason == spaced.reason
    else:
        assert isinstance(spaced, Event)
        assert fields(as_written) == fields(spaced)


def test_a_key_that_stands_twice_is_read_as_the_line_begins() -> None:
    """Stores skip lines by their first bytes; what a line is must not depend on where one looks."""
    again = {"id": "f" * 20, "kind": "inbox.done", "seq": 9}
    for key, value in again.items():
        head = orjson.dumps(HEAD)[:-1] + b"," + orjson.dumps({key: value})[1:-1]
        found = event(sealed(head, b',"data":{"column":"done"}}'))
        assert getattr(found, key) == HEAD[key]
    head = orjson.dumps({**HEAD, "actor": "Somebody Else"})[:-1] + b',"kind":"inbox.done"'
    assert reason(sealed(head, b',"data":{"outcome":"x"}}')) == "kind is not the one the line begins with"
    head = orjson.dumps(HEAD)[:-1].replace(b"card.moved", b"card\\u002emoved")
    assert reason(sealed(head, b',"data":{"column":"done"}}')) == "kind is not the one the line begins with"


def test_other_orders_and_white_space_are_read() -> None:
    raw = {"actor": "Somebody Else", **dict(reversed(HEAD.items()))}
    text = sealed(b" " + orjson.dumps(raw)[:-1] + b" ", b' , "data" : {"column":\t"done"} } ')
    assert fields(event(text)) == fields(event(line(actor=raw["actor"])))


# -- lines that no event can be


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (line()[:-1], "not JSON"),
        (line()[1:], "not JSON"),
        (b"<<<<<<< HEAD", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"7", "not a JSON object"),
        (b'"text"', "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"{}", "kind is not a name such as card.moved"),
        (b"\0" * 64, "NUL bytes"),
        (line() + b"\0", "NUL bytes"),
        (line().replace(b"done", b"d\xe9n"), "not UTF-8"),
        (line().replace(b"done", b"d\xed\xa0\x80n"), "not UTF-8"),
        (line().replace(b'"done"', b"NaN"), "not JSON"),
        (line().replace(b'"done"', b"-Infinity"), "not JSON"),
        (line().replace(b'"done"', b"1e999"), "not JSON"),
        (line().replace(b'"done"', b'"\\ud800"'), "not JSON"),
        (line().replace(b'"done"', b"'done'"), "not JSON"),
        (line().replace(b'"done"', b'"a\tb"'), "not JSON"),
        (line() + line(), "not JSON"),
        (b"\xff\xfe" + line().decode().encode("utf-16-le"), "NUL bytes"),
    ],
)
def test_reasons(text: bytes, why: str) -> None:
    assert reason(text) == why


def test_carriage_returns_and_a_byte_order_mark_are_passed_over() -> None:
    for text in (line() + b"\r", line() + b"\r\r", BOM + line(), BOM + line() + b"\r"):
        assert fields(event(text)) == fields(event(line()))


def test_numbers_too_big_for_the_codec_are_read_the_same_everywhere() -> None:
    before, after = orjson.dumps({**HEAD, "kind": "card.bound"})[:-1], b',"data":{"by":{"n":%d}}}'
    assert event(sealed(before, after % 2**64)).data == {"by": {"n": float(2**64)}}
    assert event(sealed(before, after % (2**64 - 1))).data == {"by": {"n": 2**64 - 1}}


def nested(levels: int, brackets: str = "[]") -> bytes:
    """A line with data so many levels deep in all, the line itself and `data` and `by` counted."""
    inside = levels - 3
    value = (brackets[0] * inside + brackets[1] * inside) if brackets == "[]" else '{"a":' * inside + "0" + "}" * inside
    before = orjson.dumps({**HEAD, "kind": "card.bound"})[:-1]
    return sealed(before, b',"data":{"by":{"a":' + value.encode() + b"}}}")


@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_deep_nesting(brackets: str) -> None:
    assert event(nested(DEEPEST, brackets)).line()
    for levels in (DEEPEST + 1, 255, 1000):
        assert reason(nested(levels, brackets)) == f"nested deeper than {DEEPEST} levels"
    for levels in (5000, 100_000):
        assert isinstance(parse(nested(levels, brackets)), Bad)


def test_many_brackets_side_by_side_are_not_deep() -> None:
    data = {"by": {"list": [[], {}] * 500, "text": "[{" * 500}}
    assert event(line(data, kind="card.bound")).data == data


def test_the_longest_line() -> None:
    room = LONGEST_LINE - len(line({"column": "x", "more": ""}))
    longest = line({"column": "x", "more": "y" * room})
    assert len(longest) == LONGEST_LINE
    assert event(longest).line() == longest
    assert reason(line({"column": "x", "more": "y" * (room + 1)})) == f"longer than {LONGEST_LINE} bytes"
    assert fields(event(longest + b"\r")) == fields(event(longest))


# -- whatever comes


@examples(1000)
@given(text=st.binary(max_size=300))
def test_bytes_never_raise(text: bytes) -> None:
    parse(text)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A golden line with a few bytes changed, cut out or put in; half of the time with a checksum that holds again."""
    text = bytearray(draw(st.sampled_from(LINES)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        what = draw(st.sampled_from(("flip", "cut", "insert", "double")))
        if what == "flip" and at < len(text):
            text[at] ^= draw(st.integers(1, 255))
        elif what == "cut":
            del text[at : at + draw(st.integers(1, 40))]
        elif what == "insert":
            text[at:at] = draw(
                st.one_of(
                    st.binary(max_size=8),
                    st.sampled_from([b"NaN", b"1e999", b"\\ud800", b"[[[[", b'"a":{', b",", b"\r"]),
                )
            )
        else:
            text[at:at] = text[at : at + 60]
    place = text.find(b',"sum":"')
    return sealed(bytes(text[:place]), bytes(text[place + 25 :])) if place >= 0 and draw(st.booleans()) else bytes(text)


@examples(1500)
@given(text=damaged())
def test_damaged_lines_never_raise(text: bytes) -> None:
    found = parse(text)
    if isinstance(found, Bad):
        assert found.reason
    else:
        again = parse(found.line())
        assert isinstance(again, Event)
        assert fields(again) == fields(found)
        assert found.key == again.key
        assert found.shown in (found.at, found.wall)


# -- the clock's 27 characters


@examples(400)
@given(at=TIMES)
def test_valid_times_are_those_of_the_calendar(at: str) -> None:
    try:
        known = datetime.strptime(at, "%Y-%m-%dT%H:%M:%S.%fZ").strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z" == at
    except ValueError:
        known = False
    assert clock.valid(at) == (known and "1970" <= at[:4] <= "8999" and at.isascii())


@examples(200)
@given(micros=st.integers(0, clock.LAST_MICROS))
def test_text_and_micros_are_inverse(micros: int) -> None:
    at = clock.text(micros)
    assert clock.valid(at)
    assert clock.micros(at) == micros
    assert clock.text(micros + 1) > at or micros == clock.LAST_MICROS


def test_times_out_of_reach_are_brought_to_the_ends() -> None:
    assert clock.text(-1) == clock.FIRST
    assert clock.text(2**70) == clock.LAST
    beyond = (datetime(8999, 12, 31, 23, 59, 59, 999999, UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )
    assert beyond == clock.LAST_MICROS


def test_the_clock_is_above_everything_seen() -> None:
    assert clock.tick(now=100, own=5, seen=7) == 100
    assert clock.tick(now=100, own=100, seen=7) == 101
    assert clock.tick(now=100, own=5, seen=200) == 201
    assert clock.tick(now=-5, own=-1, seen=-1) == 0
    assert clock.tick(now=2**70, own=0, seen=0) == clock.LAST_MICROS
