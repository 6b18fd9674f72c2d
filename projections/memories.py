"""Memories: what was found worth keeping, one entity each."""

from __future__ import annotations

import orjson

from mait_code.projections import entries
from mait_code.projections.projection import Projection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar

    from mait_code.journal.event import Event
    from mait_code.projections.projection import Row
    from mait_code.projections.register import State

TYPES = ("fact", "preference", "decision", "event", "insight", "task", "relationship", "procedure")
#: A memory's class decides how fast it is forgotten.
CLASSES = {"event": "episodic", "task": "episodic", "procedure": "procedural"}
DEFAULT_IMPORTANCE = 5
SCOPES = ("global", "project", "branch")


_KEYS: dict[str, str] = {}
_MOST_KEYS = 20_000


def key_of(content: str) -> str:
    """The canonical key of a text. Storing asks for it, and folding what was stored asks again."""
    known = _KEYS.get(content)
    if known is None:
        from mait_code.projections.likeness import key

        if len(_KEYS) >= _MOST_KEYS:
            _KEYS.clear()
        known = _KEYS[content] = key(content)
    return known


def class_of(type_: str) -> str:
    """episodic, semantic or procedural."""
    return CLASSES.get(type_, "semantic")


class Memories(Projection):
    """Folds memory.* events.

    Derived in `x`: `o` (order of the event that stored it: at, replica, seq), `last` (when it was stored), `refs` (the
    callers' keys it was stored with, each once), `told` (in order each time it was told again: the event, when, and the
    caller's key), `untold` (those that were taken back), `superseded_at`, `retired_at` (when it last was).
    """

    family = entity = "memory"
    settled = ("reviewed",)
    tables: ClassVar[dict[str, str]] = {
        "memory_entries": "id TEXT PRIMARY KEY, content TEXT NOT NULL, entry_type TEXT NOT NULL,"
        " importance INTEGER NOT NULL, memory_class TEXT NOT NULL, scope TEXT NOT NULL, project TEXT, branch TEXT,"
        " created_at TEXT NOT NULL, last_seen_at TEXT NOT NULL, seen_count INTEGER NOT NULL, reviewed_at TEXT,"
        " superseded_by TEXT, superseded_at TEXT, retired_at TEXT, pinned INTEGER NOT NULL, tags TEXT NOT NULL,"
        " ref TEXT, refs TEXT NOT NULL, session TEXT, origin TEXT, live INTEGER NOT NULL, same TEXT NOT NULL,"
        " newer INTEGER NOT NULL",
    }
    indexes = (
        "CREATE INDEX IF NOT EXISTS memory_entries_created ON memory_entries (created_at, id)",
        # Of what is said twice one is shown, and a new text is looked up here, among what was put away too.
        "CREATE INDEX IF NOT EXISTS memory_entries_same ON memory_entries (same)",
        "CREATE INDEX IF NOT EXISTS memory_entries_successor ON memory_entries (superseded_by)",
        "CREATE INDEX IF NOT EXISTS memory_entries_pinned ON memory_entries (id) WHERE pinned AND live",
    )

    def derive(self, state: State, event: Event) -> None:
        extra, kind = state["x"], event.kind
        if kind == "memory.stored":
            extra.setdefault("o", [event.at, event.replica, event.seq])
            extra.setdefault("last", event.shown)
            ref = event.data.get("ref")
            if ref is not None and ref not in extra.setdefault("refs", []):
                extra["refs"].append(ref)
        elif kind == "memory.seen":
            extra.setdefault("told", []).append([event.id, event.shown, event.data.get("ref")])
        elif kind == "memory.edited":
            _untell(extra, event)
        elif kind == "memory.superseded":
            extra["superseded_at"] = event.shown
        elif kind == "memory.retired":
            extra["retired_at"] = event.shown

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        extra, registers = state["x"], state["r"]
        values = {name: heads[-1][1] for name, heads in registers.items() if heads}
        type_ = str(values.get("type") or "fact")
        project, branch = values.get("project"), values.get("branch")
        scope = str(values.get("scope") or ("project" if project else "global"))
        content = str(values.get("content") or "")
        superseded, retired = values.get("superseded"), bool(values.get("retired"))
        told = told_again(state)
        last = max([extra.get("last", ""), *[at for at, _ref in told]])
        refs = list(dict.fromkeys([*extra.get("refs", ()), *[ref for _at, ref in told if ref is not None]]))
        live = not superseded and not retired
        carried = tags(state)
        alike = same(key_of(content), type_, scope, project, branch)
        yield (
            "memory_entries",
            (
                entity,
                content,
                type_,
                values.get("importance") or DEFAULT_IMPORTANCE,
                class_of(type_),
                scope,
                project,
                branch,
                state["c"],
                last or state["c"],
                len(told) + 1,
                values.get("reviewed"),
                superseded.partition("/")[2] if superseded else None,
                extra.get("superseded_at") if superseded else None,
                extra.get("retired_at") if retired else None,
                int(bool(values.get("pinned"))),
                orjson.dumps(carried).decode(),
                refs[0] if refs else None,
                orjson.dumps(refs).decode(),
                values.get("session"),
                values.get("origin"),
                int(live),
                alike,
                int("n" in state),
            ),
        )
        if live and content:
            yield entries.row(
                entity,
                "memory",
                state,
                content,
                type_=type_,
                scope=scope,
                importance=values.get("importance") or DEFAULT_IMPORTANCE,
                last=last,
                same=alike,
                detail=orjson.dumps({"tags": carried, "refs": refs}).decode(),
            )

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:  # noqa: ARG002
        head, _, rest = name.partition(":")
        if name == "deleted":
            return ("memory.deleted", {}) if value else ("memory.restored", {"register": "deleted"})
        if name == "superseded":
            return ("memory.superseded", {"by": value}) if value else ("memory.restored", {"register": name})
        if name == "retired":
            return ("memory.retired", {}) if value else ("memory.restored", {"register": name})
        if name == "reviewed":
            return "memory.reviewed", {"at": value}
        if name == "pinned":
            return ("memory.pinned" if value else "memory.unpinned"), {}
        if head == "tag":
            return "memory.edited", {"tags" if value else "untagged": [rest]}
        return "memory.edited", {name: value}

    def unsaid(self, event: Event) -> tuple[str, dict[str, Any]] | None:
        if event.kind == "memory.seen":
            return "memory.edited", {"untold": [event.id]}
        swapped = {"told": event.data.get("untold"), "untold": event.data.get("told")}
        again = {name: ids for name, ids in swapped.items() if ids and event.kind == "memory.edited"}
        return ("memory.edited", again) if again else None


def _untell(extra: dict[str, Any], event: Event) -> None:
    """Note what an undo says of the times a memory was told again: the last word on each counts."""
    for name, counts in (("untold", False), ("told", True)):
        for id_ in event.data.get(name) or ():
            out = extra.setdefault("untold", [])
            if counts and id_ in out:
                out.remove(id_)
            elif not counts and id_ not in out:
                out.append(id_)


def told_again(state: State) -> list[list[Any]]:
    """When a memory was told again, and the caller's key or None: [when, key] each, without what was taken back."""
    out = state["x"].get("untold", ())
    return [[at, ref] for id_, at, ref in state["x"].get("told", ()) if id_ not in out]


def tags(state: State) -> list[str]:
    """The tags a memory carries, sorted."""
    return sorted(name[4:] for name, heads in state["r"].items() if name.startswith("tag:") and heads and heads[-1][1])


def same(key: str, type_: str, scope: str, project: str | None, branch: str | None) -> str:
    """What two memories share that say the same in the same place, from the canonical key of their text."""
    where = {"global": ("", ""), "project": (project or "", "")}.get(scope, (project or "", branch or ""))
    return "\0".join((type_, scope, *where, key))
