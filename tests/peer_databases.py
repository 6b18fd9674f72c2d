"""Databases as mait-code and claude-mem leave them, made with real SQLite from the schemas their users have."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MEMORY = """
CREATE TABLE schema_version (version INTEGER);
INSERT INTO schema_version VALUES (13);
CREATE TABLE memory_entries (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, entry_type TEXT NOT NULL,
    importance INTEGER NOT NULL DEFAULT 5, memory_class TEXT, created_at TEXT NOT NULL, scope TEXT, project TEXT,
    branch TEXT, superseded_by INTEGER, superseded_at TEXT, reviewed_at TEXT);
CREATE VIRTUAL TABLE memory_fts USING fts5(content, entry_type, project, scope, content='memory_entries',
    content_rowid='id');
CREATE TRIGGER memory_ai AFTER INSERT ON memory_entries BEGIN
    INSERT INTO memory_fts (rowid, content, entry_type, project, scope)
    VALUES (new.id, new.content, new.entry_type, new.project, new.scope); END;
CREATE TABLE memory_entities (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    entity_type TEXT NOT NULL DEFAULT 'unknown', first_seen TEXT NOT NULL, last_seen TEXT NOT NULL,
    mention_count INTEGER NOT NULL DEFAULT 1);
CREATE TABLE memory_relationships (id INTEGER PRIMARY KEY AUTOINCREMENT, source_id INTEGER NOT NULL,
    target_id INTEGER NOT NULL, relationship_type TEXT NOT NULL, context TEXT, first_seen TEXT,
    UNIQUE (source_id, target_id, relationship_type));
CREATE TABLE reflection_watermark (project TEXT PRIMARY KEY, last_entry_id INTEGER NOT NULL, reflected_at TEXT);
"""
BOARD = """
CREATE TABLE cards (id INTEGER PRIMARY KEY AUTOINCREMENT, project TEXT, title TEXT NOT NULL, description TEXT,
    acceptance_criteria TEXT, status TEXT NOT NULL DEFAULT 'backlog', priority TEXT NOT NULL DEFAULT 'medium',
    completion_summary TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, completed_at TEXT);
CREATE TABLE card_comments (id INTEGER PRIMARY KEY AUTOINCREMENT, card_id INTEGER NOT NULL, author TEXT, body TEXT,
    created_at TEXT);
CREATE TABLE card_tags (card_id INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (card_id, tag)) WITHOUT ROWID;
CREATE TABLE card_references (id INTEGER PRIMARY KEY AUTOINCREMENT, card_id INTEGER NOT NULL, label TEXT, value TEXT);
"""
INBOX = """
CREATE TABLE inbox_items (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT, project TEXT, created_at TEXT);
"""
REMINDERS = """
CREATE TABLE reminders (id INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT, due TEXT, created_at TEXT,
    dismissed INTEGER NOT NULL DEFAULT 0, dismissed_at TEXT, notified_at TEXT);
"""
CLAUDE_MEM = """
CREATE TABLE schema_versions (id INTEGER PRIMARY KEY, version INTEGER, applied_at TEXT);
CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT, memory_session_id TEXT UNIQUE,
    project TEXT, platform_source TEXT, user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, completed_at TEXT,
    completed_at_epoch INTEGER, status TEXT DEFAULT 'active', worker_port INTEGER, prompt_counter INTEGER,
    custom_title TEXT, UNIQUE (platform_source, content_session_id));
CREATE TABLE user_prompts (id INTEGER PRIMARY KEY AUTOINCREMENT, session_db_id INTEGER, content_session_id TEXT,
    prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER, synced_at INTEGER,
    origin_device_id TEXT, origin_local_id INTEGER, sync_rev INTEGER);
CREATE TABLE observations (id INTEGER PRIMARY KEY AUTOINCREMENT,
    memory_session_id TEXT REFERENCES sdk_sessions (memory_session_id) ON UPDATE CASCADE ON DELETE CASCADE, project TEXT,
    text TEXT, type TEXT, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
    files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT,
    generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT,
    metadata TEXT, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE session_summaries (id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT, project TEXT, request TEXT,
    investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
    prompt_number INTEGER, discovery_tokens INTEGER, created_at TEXT, created_at_epoch INTEGER);
CREATE VIRTUAL TABLE observations_fts USING fts5(title, subtitle, narrative, text, facts, concepts,
    content='observations', content_rowid='id');
"""


def database(path: Path, schema: str, tables: dict[str, Iterable[dict[str, Any]]]) -> Path:
    """A database of that schema with these rows, in WAL mode as the peers keep theirs, and closed properly."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    with db:
        for _ in db.execute(schema):
            pass
        for table, rows in tables.items():
            for row in rows:
                marks = ", ".join("?" * len(row))
                db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    if "memory_fts" in schema:
        import sqlite_vec

        db.enable_load_extension(True)
        db.load_extension(sqlite_vec.loadable_path())
        db.execute("CREATE VIRTUAL TABLE memory_vec USING vec0(embedding float[768] distance_metric=cosine)")
    db.close()
    return path


def raw_text(path: Path, statement: str, content: bytes) -> None:
    """Run a statement whose one parameter is put in as text, whatever bytes it is made of."""
    db = apsw.Connection(str(path))
    db.execute(statement.replace("?", f"CAST(x'{content.hex()}' AS TEXT)"))
    db.close()


def at(day: int, hour: int = 9) -> str:
    """A time as mait-code writes it."""
    return f"2025-{1 + day // 28 % 12:02}-{1 + day % 28:02}T{hour:02}:00:00.123456+00:00"


def mait_code(directory: Path) -> Path:
    """A small data directory with something of everything, all of it sound."""
    database(
        directory / "memory.db",
        MEMORY,
        {
            "memory_entries": [
                memory(1, "The build runs on port 5432", importance=7, reviewed_at=at(40)),
                memory(2, "The build runs on port 5433", superseded_by=3, superseded_at=at(30)),
                memory(3, "The build runs on port 5434", entry_type="decision", scope="project", project="rocket"),
                memory(4, "Old and retired", superseded_at=at(31)),
                memory(5, "On a branch", entry_type="procedure", scope="branch", project="rocket", branch="fix/x"),
                memory(6, "The build runs on port 5432"),
            ],
            "memory_entities": [
                {"id": 1, "name": "Anna", "entity_type": "person", "first_seen": at(1), "last_seen": at(9), "mention_count": 3},
                {"id": 2, "name": "sqlite", "entity_type": "component", "first_seen": at(2), "last_seen": at(2), "mention_count": 1},
                {"id": 3, "name": "rocket", "entity_type": "unknown", "first_seen": at(3), "last_seen": at(3), "mention_count": 1},
            ],
            "memory_relationships": [
                {"source_id": 1, "target_id": 3, "relationship_type": "owns", "context": "since spring", "first_seen": at(4)},
                {"source_id": 3, "target_id": 2, "relationship_type": "runs_on", "context": None, "first_seen": at(4)},
            ],
            "reflection_watermark": [
                {"project": "", "last_entry_id": 2, "reflected_at": at(50)},
                {"project": "rocket", "last_entry_id": 3, "reflected_at": at(51)},
            ],
        },
    )  # fmt: skip
    database(
        directory / "board.db",
        BOARD,
        {
            "cards": [
                card(1, "Fix login", status="in_progress", updated_at=at(20), description="It fails", priority="high"),
                card(2, "Ship it", status="done", completed_at=at(21), updated_at=at(22), completion_summary="Shipped"),
                card(3, "Long gone", status="archived", completed_at=at(10), updated_at=at(25), project=None),
                card(4, "New"),
            ],
            "card_comments": [
                {"id": 1, "card_id": 1, "author": "claude", "body": "Looked at it", "created_at": at(15)},
                {"id": 2, "card_id": 1, "author": "me", "body": "Thanks", "created_at": at(16)},
            ],
            "card_tags": [{"card_id": 1, "tag": "blocked"}, {"card_id": 1, "tag": "bug"}],
            "card_references": [
                {"card_id": 2, "label": "PR", "value": "https://example.org/2"},
                {"card_id": 2, "label": "Spec", "value": "spec.md"},
            ],
        },
    )
    database(
        directory / "inbox.db",
        INBOX,
        {"inbox_items": [{"id": 1, "body": "call the bank", "project": "rocket", "created_at": at(3)}]},
    )
    database(
        directory / "reminders.db",
        REMINDERS,
        {
            "reminders": [
                {"id": 1, "what": "Renew", "due": "2031-05-06T07:08:00+00:00", "created_at": at(1)},
                {"id": 2, "what": "Pay", "due": "2025-02-01T09:00:00+02:00", "created_at": at(1), "dismissed": 1,
                 "dismissed_at": at(33), "notified_at": at(32)},
                {"id": 3, "what": "Overdue", "due": "2025-02-03 04:05:06", "created_at": at(2)},
            ]
        },
    )  # fmt: skip
    observations = directory / "memory/observations"
    observations.mkdir(parents=True)
    (observations / "2025-02-03.jsonl").write_text(json.dumps(batch("Uses tabs", "Chose SQLite")) + "\n")
    (directory / "project-aliases.json").write_text(json.dumps({"rocket-old": "rocket"}))
    return directory


def memory(id_: int, content: Any, **more: Any) -> dict[str, Any]:
    """A row of memory_entries."""
    row = {"id": id_, "content": content, "entry_type": "fact", "importance": 5, "memory_class": "semantic",
           "created_at": at(id_), "scope": "global"}  # fmt: skip
    return row | more


def card(id_: int, title: Any, **more: Any) -> dict[str, Any]:
    """A row of cards."""
    return {"id": id_, "title": title, "project": "rocket", "created_at": at(id_), "updated_at": at(id_)} | more


def batch(fact: str, decision: str) -> dict[str, Any]:
    """A line of an observations file."""
    return {
        "timestamp": "2025-02-03T10:11:12.131415+00:00",
        "trigger": "precompact",
        "project": "rocket",
        "branch": None,
        "extraction": {
            "facts": [{"content": fact, "importance": 5, "scope": "project"}],
            "preferences": [],
            "decisions": [{"content": decision, "importance": 8, "scope": "project"}],
            "procedures": [],
            "bugs_fixed": [],
            "entities": [{"name": "SQLite", "entity_type": "tool", "context": ""}],
            "relationships": [
                {"source": "rocket", "target": "SQLite", "relationship_type": "depends_on", "context": ""}
            ],
        },
    }


def claude_mem(path: Path) -> Path:
    """A small database of claude-mem with something of everything."""
    first = 1_735_800_000_000
    return database(
        path,
        CLAUDE_MEM,
        {
            "sdk_sessions": [
                {"id": 1, "content_session_id": "c-1", "memory_session_id": "m-1", "project": "rocket",
                 "platform_source": "claude-code", "user_prompt": "fix the login", "started_at_epoch": first,
                 "completed_at_epoch": first + 60_000, "status": "completed", "custom_title": "Login"},
                {"id": 2, "content_session_id": "c-2", "memory_session_id": None, "project": "rocket",
                 "platform_source": "claude-code", "user_prompt": "only here", "started_at_epoch": first + 5},
                {"id": 3, "content_session_id": "c-3", "memory_session_id": "m-3", "project": "rocket/tree",
                 "platform_source": "cursor", "user_prompt": "<private>all of it</private>",
                 "started_at": "2025-01-02T06:40:00.000Z"},
            ],
            "user_prompts": [
                {"id": 1, "session_db_id": 1, "content_session_id": "c-1", "prompt_number": 1,
                 "prompt_text": "fix the login", "created_at_epoch": first + 1},
                {"id": 2, "session_db_id": 1, "content_session_id": "c-1", "prompt_number": 2,
                 "prompt_text": "and <private>my pin is 1234</private> the logout", "created_at_epoch": first + 2},
            ],
            "observations": [
                {"id": 1, "memory_session_id": "m-1", "project": "rocket", "type": "bugfix", "title": "Login fixed",
                 "subtitle": "A cookie", "narrative": "The cookie was stale", "facts": '["one fact", "another"]',
                 "concepts": '["gotcha", "problem-solution"]', "files_read": '["a.py"]',
                 "files_modified": '["b.py", "c.py"]', "prompt_number": 1, "discovery_tokens": 900,
                 "generated_by_model": "haiku", "created_at_epoch": first + 1000},
                *({"id": n, "memory_session_id": "m-1", "project": "rocket", "type": "discovery", "title": "Told twice",
                   "narrative": "the same", "created_at_epoch": first + 2000} for n in (2, 3)),
                {"id": 4, "memory_session_id": "m-3", "project": "rocket/tree", "merged_into_project": "rocket",
                 "type": None, "text": "from the old days", "facts": "no list", "created_at": "2025-01-03 04:05:06"},
            ],
            "session_summaries": [
                {"id": 1, "memory_session_id": "m-1", "project": "rocket", "request": "fix the login",
                 "learned": "cookies go stale", "files_edited": '["b.py"]', "prompt_number": 1, "discovery_tokens": 0,
                 "created_at_epoch": first + 3000},
            ],
        },
    )  # fmt: skip


def large(directory: Path, memories: int, seed: int = 1) -> Path:
    """A data directory with many memories, and entities, cards, inbox items and reminders to match."""
    rng = random.Random(seed)
    words = [f"{a}{b}" for a in ("ser", "data", "run", "build", "test", "port", "file", "net") for b in
             ("ver", "base", "ner", "er", "case", "al", "name", "work", "ing", "s")]  # fmt: skip

    def told(count: int) -> str:
        return " ".join(rng.choices(words, k=count))

    database(
        directory / "memory.db",
        MEMORY,
        {
            "memory_entries": (
                memory(n, told(18), scope="project", project=f"p{n % 7}", created_at=at(n // 40, n % 24))
                for n in range(1, memories + 1)
            ),
            "memory_entities": (
                {"id": n, "name": f"thing {n}", "entity_type": "tool", "first_seen": at(1), "last_seen": at(9),
                 "mention_count": 1 + n % 4} for n in range(1, memories // 20)
            ),
        },
    )  # fmt: skip
    database(directory / "board.db", BOARD, {"cards": (card(n, told(5)) for n in range(1, memories // 20))})
    return directory
