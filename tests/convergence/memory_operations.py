"""What people and programs do to what is remembered: memories, the graph, records of sessions, documents, projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from convergence.turns import operation
from mait_code.journal import ids

if TYPE_CHECKING:
    from convergence.turns import Turn

TEXTS = ("the port is 5432", "the port is 5433", "Größe 更新 matters", "tests run before commits")
THINGS = ("redis", "postgres", "ann")
PROJECTS = ("acme/shop", None)


# -- memories


@operation("memory.stored")
def store(turn: Turn) -> None:
    fields: dict[str, Any] = {"content": TEXTS[turn.value % 4], "type": ("fact", "decision")[turn.pick % 2]}
    fields |= {"session": "s1", "ref": f"r{turn.pick}"} if turn.pick % 2 else {"tags": ["a", "b"]}
    turn.append("memory.stored", ids.new_entity("memory"), project=PROJECTS[turn.value % 2], **fields)


@operation("memory.imported", "memory")
def import_memory(turn: Turn) -> None:
    """A row from outside, which several machines take in, each for itself; not always in the same words."""
    origin = f"row {turn.pick % 2}"
    entity = ids.derived_entity("memory", origin)
    if turn.machine.store("memory").state(entity) is None:
        id_ = ids.derived_event_id("memory.stored", origin)
        turn.writer.append("memory.stored", entity, id=id_, content=TEXTS[turn.value % 2], type="fact", session="s1")


@operation("memory.seen")
def see(turn: Turn) -> None:
    more = {"importance": 5 + turn.value % 5} if turn.value else {}
    turn.append("memory.seen", turn.known("memory"), content=TEXTS[turn.value % 4], ref=f"s{turn.value}", **more)


@operation("memory.edited")
def edit(turn: Turn) -> None:
    fields: list[dict[str, Any]] = [
        {"content": TEXTS[turn.pick % 4]},
        {"importance": 1 + turn.pick, "type": "procedure"},
        {"tags": ["a"], "untagged": ["b"]},
        {"untagged": ["a"], "project": None, "scope": "global"},
    ]
    turn.append("memory.edited", turn.known("memory"), **fields[turn.value % 4])


@operation("memory.superseded")
def supersede(turn: Turn) -> None:
    old = turn.known("memory")
    if old:
        new = turn.writer.append("memory.stored", content=TEXTS[turn.value % 4], type="fact")
        turn.append("memory.superseded", old, by=new.entity)


@operation("memory.merged", "memory")
def merge(turn: Turn) -> None:
    """Two become one."""
    one = turn.known("memory")
    turn.pick += 1
    other = turn.known("memory")
    if one and other and one != other:
        new = turn.writer.append("memory.stored", content="both", type="fact", importance=9)
        for old in (one, other):
            turn.append("memory.superseded", old, by=new.entity)


@operation("memory.retired")
def retire(turn: Turn) -> None:
    turn.append("memory.retired", turn.known("memory"))


@operation("memory.reviewed")
def review(turn: Turn) -> None:
    turn.append("memory.reviewed", turn.known("memory"), at=f"2026-07-0{turn.value % 8 + 1}T08:00:00.000000Z")


@operation("memory.pinned")
def pin(turn: Turn) -> None:
    turn.append("memory.pinned", turn.known("memory"))


@operation("memory.unpinned")
def unpin(turn: Turn) -> None:
    turn.append("memory.unpinned", turn.known("memory"))


@operation("memory.deleted")
def delete(turn: Turn) -> None:
    turn.append("memory.deleted", turn.known("memory"))


@operation("memory.restored")
def restore(turn: Turn) -> None:
    deleted = turn.known("memory", deleted=True)
    if deleted and turn.value % 2:
        turn.append("memory.restored", deleted, register="deleted")
    else:
        turn.append("memory.restored", turn.known("memory"), register=("superseded", "retired")[turn.pick % 2])


# -- the graph


def thing(number: int) -> str:
    return ids.derived_entity("entity", THINGS[number % 3])


@operation("entity.mentioned", "memory")
def mention(turn: Turn) -> None:
    name = THINGS[turn.pick % 3]
    more = {"type": ("tool", "service")[turn.value % 2]} if turn.value else {"memory": turn.known("memory") or "x"}
    turn.append("entity.mentioned", thing(turn.pick), name=name.title() if turn.value % 2 else name, **more)


@operation("entity.linked", "memory")
def link(turn: Turn) -> None:
    more = {"context": f"because {turn.value}"} if turn.value % 2 else {}
    relation = ("uses", "owns")[turn.value // 2 % 2]
    turn.append("entity.linked", thing(turn.pick), relation=relation, target=thing(turn.pick + 1), **more)


@operation("entity.merged", "memory")
def merge_things(turn: Turn) -> None:
    turn.append("entity.merged", thing(turn.pick), into=thing(turn.pick + 1) if turn.value else None)


@operation("entity.removed", "memory")
def remove_thing(turn: Turn) -> None:
    more = {"link": f"link:uses:{thing(turn.pick + 1)}"} if turn.value % 2 else {}
    turn.append("entity.removed", thing(turn.pick), **more)


@operation("entity.restored", "memory")
def restore_thing(turn: Turn) -> None:
    turn.append("entity.restored", thing(turn.pick), register=("deleted", "merged")[turn.value % 2])


# -- records of sessions: the same record may be written on two machines, and grow

RECORDS: dict[str, tuple[str, dict[str, Any]]] = {
    "session.started": ("session", {"how": "startup"}),
    "session.summarised": ("summary", {"request": "faster", "learned": "an index"}),
    "prompt.submitted": ("prompt", {"text": "why is it slow?"}),
    "turn.recorded": ("turn", {"answer": "an index", "files_modified": ["a.py"]}),
    "observation.recorded": ("observation", {"type": "bugfix", "title": "fast", "facts": ["one", "two"]}),
}
_DELETIONS = {
    "session": "session.",
    "summary": "session.summary_",
    "prompt": "prompt.",
    "turn": "turn.",
    "observation": "observation.",
}


def _record(kind: str) -> None:
    type_, fields = RECORDS[kind]

    @operation(kind, "memory")
    def record(turn: Turn) -> None:
        origin = f"record {turn.pick % 2}"
        grown = {**fields, "project": f"p{turn.value % 2}", "session": "s1"}
        turn.append(kind, ids.derived_entity(type_, origin), **grown)

    @operation(f"{_DELETIONS[type_]}deleted", "memory")
    def delete_record(turn: Turn) -> None:
        turn.append(f"{_DELETIONS[type_]}deleted", turn.known("memory", type_=type_))

    @operation(f"{_DELETIONS[type_]}restored", "memory")
    def restore_record(turn: Turn) -> None:
        deleted = turn.known("memory", deleted=True, type_=type_)
        turn.append(f"{_DELETIONS[type_]}restored", deleted, register="deleted")


for _kind in RECORDS:
    _record(_kind)


@operation("session.ended", "memory")
def end(turn: Turn) -> None:
    turn.append("session.ended", ids.derived_entity("session", f"record {turn.pick % 2}"), reason=f"r{turn.value % 2}")


# -- documents, reflections, projects


@operation("document.text", "memory")
def write(turn: Turn) -> None:
    entity = ids.derived_entity("document", "memory/memory.md")
    turn.append("document.text", entity, name="memory/MEMORY.md", text=f"# mine {turn.value % 3}\n")


@operation("reflection.made", "memory")
def reflect(turn: Turn) -> None:
    known = turn.known("memory")
    if known:
        turn.append("reflection.made", ids.new_entity("reflection"), memories=[known], project="acme/shop")


@operation("reflection.deleted", "memory")
def delete_reflection(turn: Turn) -> None:
    turn.append("reflection.deleted", turn.known("memory", type_="reflection"))


@operation("reflection.restored", "memory")
def restore_reflection(turn: Turn) -> None:
    turn.append("reflection.restored", turn.known("memory", deleted=True, type_="reflection"), register="deleted")


@operation("project.aliased", "project")
def alias(turn: Turn) -> None:
    name = ("shop-old", "shop")[turn.pick % 2]
    turn.append("project.aliased", ids.derived_entity("project", name), alias=name, name=f"acme/shop{turn.value % 2}")


@operation("project.unaliased", "project")
def unalias(turn: Turn) -> None:
    turn.append("project.unaliased", ids.derived_entity("project", ("shop-old", "shop")[turn.pick % 2]))
