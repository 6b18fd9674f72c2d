"""Runs inside the environment that is measured: memories to search, and what finding them costs. Prints JSON.

probe_memory.py lines N                 N memories as JSON lines, for `memory store --stdin`
probe_memory.py vectors HOME            vectors for everything that is stored (made up: what they say does not matter)
probe_memory.py floor HOME SCRATCH      the rows of memory.db inserted in bulk into a fresh file
probe_memory.py warm HOME ROUNDS        search by words and by both in one process, against the bare queries
probe_memory.py index HOME              embed 200 texts, against a bare onnxruntime loop over the same texts
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time

import apsw
import orjson

from mait_code.commands import memory_search
from mait_code.commands.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

QUESTION = "where does the deploy of the cache server wait for the queue?"
_WORDS = """
server port cache index query deploy branch test release build config user token
memory board card review session error timeout retry queue worker database schema migration
"""
COMMON = _WORDS.split()


def lines(count: int) -> str:
    """Seeded texts of 8 to 30 words, some common and most rare, in sessions of forty."""
    chance = random.Random(7)
    rare = [
        "".join(chance.choice("bcdfglmnprst") + chance.choice("aeiou") for _ in range(chance.randint(2, 4)))
        for _ in range(6000)
    ]
    found = []
    for number in range(count):
        words = [chance.choice(COMMON if chance.random() < 0.35 else rare) for _ in range(chance.randint(8, 30))]
        at = f"2026-{1 + number % 11:02d}-{1 + number % 28:02d}T10:00:00Z"
        row = {"content": f"{' '.join(words)} {number}", "session": f"s{number // 40}", "at": at}
        found.append(orjson.dumps(row).decode())
    return "\n".join(found) + "\n"


def add_vectors(ws: Workspace) -> dict[str, Any]:
    import numpy as np

    meanings = memory_search.Meanings(ws)
    vectors = meanings.vectors
    assert vectors is not None, meanings.reason
    hashes = [row[0] for row in ws.reading("memory").query("SELECT hash FROM entries")]
    chance = np.random.default_rng(7)
    for start in range(0, len(hashes), 5000):
        part = hashes[start : start + 5000]
        made = chance.standard_normal((len(part), vectors.dimension)).astype("<f4")
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        vectors.add((hash_, [row.tobytes()]) for hash_, row in zip(part, made, strict=True))
    question = chance.standard_normal(vectors.dimension).astype("<f4")
    vectors.keep_query(QUESTION, (question / np.linalg.norm(question)).tobytes())
    meanings.close()
    return {"vectors": len(hashes)}


def floor(ws: Workspace, scratch: str) -> dict[str, Any]:
    """CPU of inserting the same rows, the full-text index with them, into a fresh file; indexes last."""
    store = ws.reading("memory")
    schema = store.query(
        "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'entries_fts_%' ORDER BY rowid"
    )
    tables = [name for type_, name, _ in schema if type_ == "table" and not name.startswith("sqlite_")]
    rows = {name: store.query(f"SELECT * FROM {name}") for name in tables if name != "entries_fts"}
    texts = store.query(
        "SELECT rowid, text, coalesce(lag(text) OVER (PARTITION BY session ORDER BY place), ''), '' FROM entries"
    )
    began = time.process_time()
    db = apsw.Connection(os.path.join(scratch, "floor.db"))
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "normal")
    db.execute("BEGIN IMMEDIATE")
    for type_, _name, sql in schema:
        if type_ == "table":
            db.execute(sql)
    for name, held in rows.items():
        if held:
            db.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(held[0]))})", held)
    db.executemany("INSERT INTO entries_fts (rowid, text, previous, pieces) VALUES (?, ?, ?, ?)", texts)
    for type_, _name, sql in schema:
        if type_ == "index":
            db.execute(sql)
    db.execute("COMMIT")
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return {"cpu": time.process_time() - began}


def _clocked(work: Callable[[], object], rounds: int) -> float:
    """Median milliseconds of CPU, after one round that does not count."""
    taken = []
    for _ in range(rounds + 1):
        began = time.process_time_ns()
        work()
        taken.append((time.process_time_ns() - began) / 1e6)
    return statistics.median(taken[1:])


def warm(ws: Workspace, rounds: int) -> dict[str, Any]:
    from mait_code.projections.question import Question

    meanings = memory_search.Meanings(ws)
    store, vectors = ws.reading("memory"), meanings.vectors
    assert vectors is not None
    (vector,) = meanings.of([QUESTION])
    assert vector is not None
    match = Question(QUESTION).match()
    bare = "SELECT rowid FROM entries_fts WHERE entries_fts MATCH ? ORDER BY bm25(entries_fts, 1.0, 0.5, 0.5) LIMIT 50"

    def searched(mode: str) -> Callable[[], object]:
        asked = memory_search.Asked(mode=mode, scope="all")
        return lambda: memory_search.search_all(ws, [QUESTION], asked, meanings)

    words = _clocked(lambda: store.db.execute(bare, (match,)).fetchall(), rounds)
    nearest = _clocked(lambda: vectors.nearest(vector, 50), rounds)
    found = {"fts": _clocked(searched("fts"), rounds), "hybrid": _clocked(searched("hybrid"), rounds)}
    meanings.close()
    return {"words": words, "nearest": nearest, **found}


def index(ws: Workspace) -> dict[str, Any]:
    """Texts a second of filling, and of a bare loop in batches of the same size."""
    import numpy as np
    import onnxruntime as ort
    import tokenizers

    from mait_code.projections.filling import fill
    from mait_code.projections.model_files import Wanted, resolve
    from mait_code.projections.vectors import content_hash

    found = resolve(ws.home, Wanted.from_settings()).found
    assert found is not None
    texts = [row[0] for row in ws.reading("memory").query("SELECT text FROM entries ORDER BY id LIMIT 200")]
    meanings = memory_search.Meanings(ws)
    vectors = meanings.vectors
    assert vectors is not None
    model = meanings.model(one_shot=False)
    model.load()
    began = time.process_time()
    fill(vectors, model, [(content_hash(f"bench {text}"), text) for text in texts])
    ours = time.process_time() - began
    import mait_code.projections as package

    tokenizer = tokenizers.Tokenizer.from_file(os.path.join(next(iter(package.__path__)), "minilm", "tokenizer.json"))
    tokenizer.no_padding()
    session = ort.InferenceSession(found.path, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    pieces = sorted((tokenizer.encode(text).ids[:256] for text in texts), key=len)
    began = time.process_time()
    for start in range(0, len(pieces), 4):
        part = pieces[start : start + 4]
        ids = np.zeros((len(part), max(map(len, part))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, piece in enumerate(part):
            ids[row, : len(piece)], mask[row, : len(piece)] = piece, 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        session.run(None, {name: given[name] for name in names})
    bare = time.process_time() - began
    meanings.close()
    return {"ours": ours * 1000 / len(texts), "bare": bare * 1000 / len(texts)}


def main() -> None:
    action = sys.argv[1]
    if action == "lines":
        sys.stdout.write(lines(int(sys.argv[2])))
        return
    with Workspace.open(sys.argv[2]) as ws:
        if action == "vectors":
            answer = add_vectors(ws)
        elif action == "floor":
            answer = floor(ws, sys.argv[3])
        elif action == "warm":
            answer = warm(ws, int(sys.argv[3]))
        else:
            answer = index(ws)
    sys.stdout.buffer.write(orjson.dumps(answer))


if __name__ == "__main__":
    main()
