"""The vector cache: what is nearest, what is kept, and that nothing which happens to its file costs more than time."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from mait_code.journal.errors import Busy, DiskRefused
from mait_code.journal.home import Home
from mait_code.projections import distances, model_files, vectors
from mait_code.projections.embedding import Model, NoModel, open_model
from mait_code.projections.filling import FIRST_CHARACTERS, fill
from mait_code.projections.model_files import Found, Wanted
from mait_code.projections.vectors import Vectors, content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

DIMENSION = 64
MODEL = Found("fastembed", "a-model", "1", DIMENSION, "")

#: For processes of their own: the same vectors from the same numbers.
WORKER = """
import os, random, struct, sys
from mait_code.journal.home import Home
from mait_code.projections.model_files import Found
from mait_code.projections.vectors import Vectors, content_hash

def unit(seed):
    generator = random.Random(seed)
    numbers = [generator.gauss(0, 1) for _ in range(64)]
    length = sum(number * number for number in numbers) ** 0.5
    return struct.pack("<64f", *(number / length for number in numbers))

held = Vectors(Home(os.environ["MAIT_CODE_DATA_DIR"]), Found("fastembed", "a-model", "1", 64, ""))
"""


def unit(seed: int, dimension: int = DIMENSION) -> bytes:
    """A vector of length 1 in a direction of its own."""
    generator = random.Random(seed)
    numbers = [generator.gauss(0, 1) for _ in range(dimension)]
    length = sum(number * number for number in numbers) ** 0.5
    return struct.pack(f"<{dimension}f", *(number / length for number in numbers))


def near(vector: bytes, other: bytes, share: float = 0.3) -> bytes:
    """A vector that leans from one towards another."""
    mixed = (1 - share) * np.frombuffer(vector, "<f4") + share * np.frombuffer(other, "<f4")
    return bytes((mixed / np.linalg.norm(mixed)).astype("<f4").tobytes())


def cosine(one: bytes, other: bytes) -> float:
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"))


def names(count: int, start: int = 0) -> list[bytes]:
    return [content_hash(f"text {number}") for number in range(start, start + count)]


def rows(count: int, start: int = 0) -> list[tuple[bytes, list[bytes]]]:
    return [(hash_, [unit(start + at)]) for at, hash_ in enumerate(names(count, start))]


@pytest.fixture
def place(home: Path) -> Home:
    return Home(str(home / "data"))


@pytest.fixture(params=["sqlite-vec", "python"])
def held(request: pytest.FixtureRequest, place: Home, monkeypatch: pytest.MonkeyPatch) -> Vectors:
    """An empty cache, once with the extension and once without."""
    if request.param == "python":
        without_extension(monkeypatch)
    found = Vectors(place, MODEL)
    assert found.available
    assert ("sqlite_vec is not installed" in found.reason) is (request.param == "python")
    return found


def without_extension(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "package_file", lambda *_: ("", "the package sqlite_vec is not installed"))


def aside(held: Vectors) -> list[str]:
    return [name for name in os.listdir(os.path.dirname(held.path)) if name.endswith(".damaged")]


def sound(held: Vectors) -> None:
    """Whether the file is sound, and every vector has its bits and every text its windows from the first on."""
    held.close()
    db = apsw.Connection(held.path)
    assert db.pragma("integrity_check") == "ok"
    for (model,) in db.execute("SELECT id FROM models").fetchall():
        vectors_, bits = f"vectors_{model}", f"bits_{model}"
        assert db.execute(f"SELECT row FROM {vectors_} ORDER BY 1").fetchall() == (
            db.execute(f"SELECT row FROM {bits} ORDER BY 1").fetchall()
        )
        gaps = db.execute(f"SELECT hash FROM {vectors_} GROUP BY hash HAVING max(window) <> count(*) - 1").fetchall()
        assert gaps == []
    db.close()


# -- asking


def test_an_empty_cache_answers(held: Vectors) -> None:
    assert held.nearest(unit(1), 5) == []
    assert held.nearest_among(unit(1), names(3), 5) == []
    assert held.cosines(unit(1), names(3)) == {}
    assert held.missing(names(3)) == names(3)
    assert held.cached_query("what?") is None
    assert (held.count(), held.texts()) == (0, 0)
    assert held.prune([]) == 0


def test_missing_keeps_order_and_says_each_once(held: Vectors) -> None:
    held.add(rows(3))
    asked = [*names(2, 5), *names(3), *names(1, 5)]
    assert held.missing(asked) == names(2, 5)
    many = names(3000)
    assert held.missing(many) == many[3:]


def test_what_is_there_already_stays(held: Vectors) -> None:
    held.add(rows(2))
    held.add([(names(1)[0], [unit(77), unit(78)])])
    assert (held.count(), held.texts()) == (3, 2)
    assert held.cosines(unit(0), names(1))[names(1)[0]] == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("dimension", [64, 384])
def test_nearest_is_what_comparing_all_finds(held: Vectors, place: Home, dimension: int) -> None:
    held = Vectors(place, Found("fastembed", "a-model", "1", dimension, ""))
    count, topics = 4000, [unit(-seed, dimension) for seed in range(1, 41)]
    texts = [near(unit(seed, dimension), topics[seed % 40], 0.5) for seed in range(count)]
    matrix = np.frombuffer(b"".join(texts), "<f4").reshape(count, -1)
    hashes = names(count)
    held.add((hash_, [texts[at]]) for at, hash_ in enumerate(hashes))
    right = 0
    for seed in range(20):
        query = near(texts[seed], unit(90_000 + seed, dimension))
        true = matrix @ np.frombuffer(query, "<f4")
        best = {hashes[at] for at in np.argsort(-true)[:10]}
        found = held.nearest(query, 10)
        assert found[0][0] == hashes[seed]
        assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)
        assert all(score == pytest.approx(float(true[hashes.index(hash_)]), abs=1e-5) for hash_, score in found)
        right += len(best & {hash_ for hash_, _ in found})
    assert right >= 190, "of 200"


def test_the_best_window_of_a_text_counts(held: Vectors) -> None:
    long, short = names(2)
    held.add([(long, [unit(1), unit(2), unit(3)]), (short, [near(unit(2), unit(9))])])
    (first, score), (second, _) = held.nearest(unit(2), 5)
    assert (first, second) == (long, short)
    assert score == pytest.approx(1, abs=1e-6)
    assert held.cosines(unit(3), [long]) == {long: pytest.approx(1, abs=1e-6)}


def test_many_windows_of_one_text_do_not_hide_the_rest(held: Vectors) -> None:
    crowd, others = names(1)[0], rows(20, start=1)
    held.add([(crowd, [near(unit(0), unit(5000 + at), 0.05) for at in range(1000)]), *others])
    found = held.nearest(unit(0), 10)
    assert found[0][0] == crowd
    assert len(found) == 10
    assert {hash_ for hash_, _ in found[1:]} <= set(names(20, 1))


@pytest.mark.parametrize("few", [3000, 10], ids=["each compared", "bits first"])
def test_nearest_among(held: Vectors, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "FEW", few)
    held.add(rows(600))
    wanted = set(names(600)[::7])
    exact = held.cosines(unit(3), wanted)
    assert len(exact) == len(wanted)
    found = held.nearest_among(unit(3), wanted, 5)
    assert [hash_ for hash_, _ in found] == sorted(exact, key=lambda hash_: -exact[hash_])[:5]
    assert held.nearest_among(unit(3), iter(wanted), 1000)[:5] == [pytest.approx(one) for one in found]
    assert held.nearest_among(unit(3), [], 5) == []


def test_a_vector_of_nothing_is_near_nothing(held: Vectors) -> None:
    held.add([(names(1)[0], [bytes(DIMENSION * 4)]), *rows(2, start=1)])
    assert set(held.cosines(unit(1), names(3))) == set(names(2, 1))
    assert len(held.nearest(unit(1), 5)) == 2


def test_a_vector_of_another_length_is_a_mistake(held: Vectors) -> None:
    for mistake in (
        lambda: held.add([(names(1)[0], [unit(1, 32)])]),
        lambda: held.nearest(unit(1, 32), 3),
        lambda: held.nearest_among(b"", names(1), 3),
        lambda: held.cosines(unit(1, 128), names(1)),
        lambda: held.keep_query("x", unit(1, 32)),
    ):
        with pytest.raises(ValueError, match="256 bytes"):
            mistake()


def test_questions_are_kept_the_newest(held: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "QUERIES", 3)
    for number in (0, 1, 2, 0, 3):
        held.keep_query(f"question {number}?", unit(number))
    kept = [held.cached_query(f"question {number}?") for number in range(4)]
    assert kept == [unit(0), None, unit(2), unit(3)]
    held.close()
    for name in (held.path, held.path + "-wal"):
        with open(name, "rb") as file:
            assert b"question" not in file.read()


def test_hash_of_any_text() -> None:
    assert len({content_hash(text) for text in ("", " ", "é", "e\u0301", "🎉", "\ud800", "\udc80", "a" * 100_000)}) == 8
    assert content_hash("abc").hex() == "ba7816bf8f01cfea414140de5dae2223"


# -- models


def test_models_never_mix(place: Home) -> None:
    one, shared = Vectors(place, MODEL), names(1)[0]
    newer = Vectors(place, Found("fastembed", "a-model", "2", DIMENSION, ""))
    longer = Vectors(place, Found("fastembed", "a-model", "1", 128, ""))
    one.add([(shared, [unit(1)])])
    one.keep_query("q", unit(1))
    for other in (newer, longer):
        assert other.missing([shared]) == [shared]
        assert other.cached_query("q") is None
        assert other.nearest(unit(1, other.dimension), 5) == []
    newer.add([(shared, [unit(2)])])
    longer.add([(shared, [unit(3, 128)])])
    assert one.nearest(unit(1), 5) == [(shared, pytest.approx(1, abs=1e-6))]
    assert newer.nearest(unit(2), 5) == [(shared, pytest.approx(1, abs=1e-6))]
    assert longer.nearest(unit(3, 128), 5) == [(shared, pytest.approx(1, abs=1e-6))]


def test_prune_forgets_what_is_gone(held: Vectors) -> None:
    held.add([*rows(5), (names(1, 5)[0], [unit(50), unit(51)])])
    held.keep_query("q", unit(9))
    assert held.prune(names(2)) == 4
    assert (held.count(), held.texts()) == (2, 2)
    assert held.missing(names(6)) == names(4, 2)
    held.add(rows(1, start=4))
    assert held.nearest(unit(4), 1) == [(names(1, 4)[0], pytest.approx(1, abs=1e-6))]
    assert held.cached_query("q") == unit(9)
    sound(held)


def test_other_models_are_forgotten_on_request(place: Home) -> None:
    old, new = Vectors(place, MODEL), Vectors(place, Found("fastembed", "new", "1", DIMENSION, ""))
    old.add(rows(5))
    new.add(rows(2))
    assert new.forget_others() == ["a-model"]
    assert new.count() == 2
    # The old one was open all the while. It finds nothing, and does not take the file for damaged.
    assert old.nearest(unit(1), 3) == []
    assert old.missing(names(2)) == names(2)
    assert aside(old) == []
    old.add(rows(1))
    assert (old.count(), new.count()) == (1, 2)
    sound(new)


# -- without the extension


def test_python_functions_do_what_the_extension_does(monkeypatch: pytest.MonkeyPatch) -> None:
    quick, slow = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    assert distances.load(quick) == ""
    without_extension(monkeypatch)
    assert distances.load(slow) != ""
    for seed in range(40):
        one, other = (
            unit(seed, 384),
            struct.pack("<384f", *(3 * number for number in struct.unpack("<384f", unit(-seed, 384)))),
        )
        answers = [
            db.execute(
                "SELECT vec_distance_cosine(?1, ?2), vec_quantize_binary(?1),"
                " vec_distance_hamming(vec_bit(vec_quantize_binary(?1)), vec_bit(vec_quantize_binary(?2)))",
                (one, other),
            ).fetchall()[0]
            for db in (quick, slow)
        ]
        assert answers[0][0] == pytest.approx(answers[1][0], abs=1e-6)
        assert answers[0][1:] == answers[1][1:]


def test_a_file_made_with_the_extension_is_read_without(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Vectors(place, MODEL)
    held.add(rows(300))
    quick = held.nearest(near(unit(3), unit(9)), 20)
    held.close()
    without_extension(monkeypatch)
    assert [pytest.approx(score, abs=1e-5) for _, score in quick] == [
        score for _, score in held.nearest(near(unit(3), unit(9)), 20)
    ]
    assert held.reason


def test_an_extension_that_cannot_be_loaded(place: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "elsewhere" / "sqlite_vec"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(folder.parent))
    held = Vectors(place, MODEL)
    assert "has no file vec0.so" in held.reason
    held.close()
    (folder / "vec0.so").write_bytes(b"no shared object")
    held.add(rows(3))
    assert "cannot be loaded" in held.reason
    assert held.nearest(unit(1), 1) == [(names(1, 1)[0], pytest.approx(1, abs=1e-6))]


# -- what happens to the file


def garbage(path: str) -> None:
    with open(path, "wb") as file:
        file.write(b"This is no database, and never was one. " * 500)


def truncated(path: str) -> None:
    os.truncate(path, os.path.getsize(path) // 2)


def holed(path: str) -> None:
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(bytes(os.path.getsize(path) - 8192))


def directory(path: str) -> None:
    os.unlink(path)
    os.mkdir(path)


def foreign(path: str) -> None:
    os.unlink(path)
    db = apsw.Connection(path)
    db.execute("CREATE TABLE models (x); CREATE TABLE vectors_1 (y); PRAGMA user_version = 1")
    db.close()


def short_vectors(path: str) -> None:
    db = apsw.Connection(path)
    db.execute("UPDATE vectors_1 SET vector = x'0102'")
    db.close()


def lost_table(path: str) -> None:
    db = apsw.Connection(path)
    db.execute("DROP TABLE vectors_1")
    db.close()


@pytest.mark.parametrize(
    "damage", [garbage, truncated, holed, directory, foreign, short_vectors, lost_table], ids=lambda one: one.__name__
)
def test_a_damaged_file_is_set_aside_and_filled_again(held: Vectors, damage: Callable[[str], None]) -> None:
    held.add(rows(400))
    held.close()
    checkpoint(held.path)
    damage(held.path)
    for _ in range(2):
        held.nearest(unit(1), 5)
        held.cosines(unit(1), names(5))
        held.missing(names(400))
    missing = set(held.missing(names(400)))
    held.add(row for row in rows(400) if row[0] in missing)
    assert held.count() == 400
    assert held.nearest(unit(1), 1)[0][0] == names(1, 1)[0]
    assert aside(held)
    sound(held)


def checkpoint(path: str) -> None:
    db = apsw.Connection(path)
    db.pragma("user_version")  # opens the log
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    db.close()


def test_damage_that_adding_meets(held: Vectors) -> None:
    held.add(rows(400))
    held.close()
    checkpoint(held.path)
    lost_table(held.path)
    held.add(rows(10))
    assert held.count() == 10
    assert aside(held)


def test_another_schema_is_emptied(place: Home) -> None:
    held = Vectors(place, MODEL)
    held.add(rows(3))
    held.close()
    db = apsw.Connection(held.path)
    db.pragma("user_version", 99)
    db.close()
    assert held.missing(names(3)) == names(3)
    held.add(rows(3))
    assert held.count() == 3
    assert aside(held) == []


def test_no_place_for_the_file(place: Home) -> None:
    os.makedirs(os.path.dirname(place.state))
    with open(place.state, "w", encoding="utf-8"):
        pass
    held = Vectors(place, MODEL)
    assert not held.available
    assert "vectors.db cannot be used" in held.reason
    assert held.nearest(unit(1), 3) == []
    assert held.missing(names(1)) == names(1)
    held.keep_query("q", unit(1))
    assert held.cached_query("q") is None
    with pytest.raises(DiskRefused):
        held.add(rows(1))
    assert fill(held, never(), [(names(1)[0], "text")]) == 0


def test_a_writer_that_does_not_end(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mait_code.projections.vector_file.WRITER_WAIT_MS", 50)
    held = Vectors(place, MODEL)
    held.add(rows(2))
    monkeypatch.setattr(held._write.__func__, "__defaults__", (50,))
    other = apsw.Connection(held.path)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    held.keep_query("q", unit(1))
    assert time.monotonic() - began < 2, "a search does not wait for it"
    with pytest.raises(Busy):
        held.add(rows(1, start=5))
    assert held.nearest(unit(1), 1)[0][0] == names(1, 1)[0], "reading goes on"
    other.execute("ROLLBACK")
    held.add(rows(1, start=5))
    assert held.count() == 3


def test_the_log_stays_short(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mait_code.projections.vector_file._LONGEST_LOG", 100_000)
    held = Vectors(place, MODEL)
    for start in range(0, 2000, 100):
        held.add(rows(100, start))
    assert os.path.getsize(held.path + "-wal") < 300_000
    assert held.count() == 2000


# -- several processes


def process(script: str, *arguments: str, output: int | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WORKER + script, *arguments], stdout=output)


def test_several_processes_add_at_once(place: Home) -> None:
    script = """
first = int(sys.argv[1])
for start in range(first, first + 200, 10):
    held.add([(content_hash(f"text {at}"), [unit(at), unit(-at)]) for at in range(start, start + 10)])
"""
    workers = [process(script, str(first)) for first in (0, 100, 200, 0)]
    assert [worker.wait(timeout=60) for worker in workers] == [0, 0, 0, 0]
    held = Vectors(place, MODEL)
    assert (held.texts(), held.count()) == (400, 800)
    assert held.missing(names(400)) == []
    assert aside(held) == []
    sound(held)


def test_killed_while_adding(place: Home) -> None:
    script = """
at = int(sys.argv[1])
while True:
    held.add([(content_hash(f"text {one}"), [unit(one), unit(-one), unit(one + 7)]) for one in range(at, at + 20)])
    at += 20
    print(at, flush=True)
"""
    told = 0
    for round_ in range(6):
        victim = process(script, str(told), output=subprocess.PIPE)
        assert victim.stdout is not None
        for _ in range(3 + round_):
            told = int(victim.stdout.readline())
        time.sleep(0.003 * round_)
        os.kill(victim.pid, signal.SIGKILL)
        rest = victim.stdout.read().split()
        victim.wait()
        victim.stdout.close()
        told = int(rest[-1]) if rest and rest[-1].isdigit() else told
    held = Vectors(place, MODEL)
    assert held.missing(names(told)) == [], "what was acknowledged is there"
    assert held.count() == 3 * held.texts()
    assert aside(held) == []
    sound(held)


# -- filling


@pytest.fixture(scope="module")
def model() -> Model:
    path, reason = model_files.package_file(model_files.PACKAGE, "model.onnx")
    assert path, reason
    return open_model(Found("packaged", model_files.NAME, "test", model_files.DIMENSION, path), one_shot=True)


@pytest.fixture
def cache(place: Home, model: Model) -> Iterator[Vectors]:
    held = Vectors(place, model.found)
    yield held
    held.close()


def never() -> Model:
    """A model that cannot be loaded: a test in which nothing must load it."""
    return open_model(Found("packaged", "none", "1", DIMENSION, "/nowhere/model.onnx"), one_shot=True)


def pairs(*texts: str) -> list[tuple[bytes, str]]:
    return [(content_hash(text), text) for text in texts]


TEXTS = [f"note {number} about {what}" for number, what in enumerate(["cats", "trains", "ports", "bread", "rain"] * 6)]


def test_fill_embeds_what_is_missing(cache: Vectors, model: Model) -> None:
    told: list[tuple[int, int]] = []
    assert fill(cache, model, pairs("one", "two", "one", ""), step=lambda done, all_: told.append((done, all_))) == 3
    assert told == [(3, 3)]
    assert fill(cache, model, pairs("two", "three", "one")) == 1
    assert cache.texts() == 4
    assert cache.nearest(model.embed_query("three"), 1)[0][0] == content_hash("three")


def test_fill_without_anything_to_do_loads_no_model(cache: Vectors, model: Model) -> None:
    fill(cache, model, pairs("one"))
    assert fill(cache, never(), pairs("one")) == 0
    assert fill(cache, never(), []) == 0
    assert fill(cache, never(), pairs("two"), budget_seconds=0) == 0
    with pytest.raises(NoModel):
        fill(cache, never(), pairs("two"))


def test_an_interrupt_loses_one_batch(cache: Vectors, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mait_code.projections.filling.BATCH", 8)

    def interrupt(done: int, all_: int) -> None:
        if done >= 16:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fill(cache, model, pairs(*TEXTS), step=interrupt)
    assert cache.texts() == 16
    assert fill(cache, model, pairs(*TEXTS)) == len(TEXTS) - 16
    assert cache.missing([hash_ for hash_, _ in pairs(*TEXTS)]) == []


def test_a_budget_is_kept(cache: Vectors, model: Model) -> None:
    model.load()
    many = pairs(*(f"{text}, and number {number} of them" for number in range(40) for text in TEXTS))
    began = time.monotonic()
    done = fill(cache, model, many, budget_seconds=0.4)
    spent = time.monotonic() - began
    assert 4 <= done < len(many)
    assert cache.texts() == done
    assert spent < 3
    # In the order given: what comes first is what the user did last.
    assert cache.missing([hash_ for hash_, _ in many[:done]]) == []


def test_the_smallest_budget_gets_on(cache: Vectors, model: Model) -> None:
    rest = len(TEXTS)
    while rest:
        assert fill(cache, model, pairs(*TEXTS), budget_seconds=1e-9) > 0
        rest = len(cache.missing([hash_ for hash_, _ in pairs(*TEXTS)]))


def test_within_a_budget_long_texts_are_left(cache: Vectors, model: Model) -> None:
    long = "word " * FIRST_CHARACTERS
    assert fill(cache, model, pairs(long, "short", "shorter"), budget_seconds=0.2) == 2
    assert cache.missing([content_hash(long)]) == [content_hash(long)]


# -- what it costs to start


def test_a_search_with_a_known_question_loads_no_model_library(place: Home) -> None:
    held = Vectors(place, MODEL)
    held.add(rows(300))
    held.keep_query("which port?", near(unit(7), unit(9)))
    held.close()
    script = """
import sys
bare = set(sys.modules)
import json, os
from mait_code.journal.home import Home
from mait_code.projections.model_files import Found, Wanted, resolve
from mait_code.projections.vectors import Vectors, content_hash
home = Home(os.environ["MAIT_CODE_DATA_DIR"])
resolve(home, Wanted())
held = Vectors(home, Found("fastembed", "a-model", "1", 64, ""))
query = held.cached_query("which port?")
found = held.nearest(query, 3) + held.nearest_among(query, [content_hash("text 7")], 3)
print(json.dumps([sorted(set(sys.modules) - bare), found[0][0].hex(), held.reason]))
"""
    model_files.resolve(place, Wanted())  # the first look reads the weights
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=60)
    loaded, best, reason = json.loads(done.stdout)
    assert best == content_hash("text 7").hex()
    assert reason == ""
    heavy = {"numpy", "onnxruntime", "tokenizers", "fastembed", "sqlite_vec", "boto3", "hashlib", "pathlib", "logging"}
    heavy |= {"subprocess", "tempfile", "asyncio", "concurrent", "threading", "importlib.metadata", "random"}
    assert heavy & set(loaded) == set()


def test_opened_for_what_was_found(place: Home) -> None:
    resolved = model_files.resolve(place, Wanted())
    assert resolved.found is not None
    held = Vectors(place, resolved.found)
    assert (held.name, held.dimension) == (model_files.NAME, 384)
