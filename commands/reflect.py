"""Reflection: a model looks over what was remembered since the last time, and people decide on what it proposes.

What is still to be looked at is derived: living memories that no reflection covers, insights apart. Nothing is kept that
says how far one has come, so nothing can be skipped by a clock, an import or another machine.
"""

from __future__ import annotations

from mait_code.commands import memory, memory_edits
from mait_code.commands.memory_scope import Place
from mait_code.commands.reflect_answer import TOOL, Insight, Operation, Read, keyed, prompt, read
from mait_code.journal import clock, ids, settings
from mait_code.projections import memory_queries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory
    from mait_code.projections.store import Store

__all__ = ["Batch", "Made", "Operation", "Proposal", "batches", "carry_out", "gather", "propose", "record"]

INSIGHT_IMPORTANCE = 6
#: Rounds of one `--drain`.
MOST_ROUNDS = 20
_DAY = 86_400 * clock.SECOND
_PENDING = (
    "live AND entry_type <> 'insight' AND NOT EXISTS (SELECT 1 FROM reflected r WHERE r.memory = memory_entries.id)"
)


class Wanted:
    """Which memories a reflection is about: a project's by all its names, with the global ones or (scope `every`)
    without; those of one branch; the global ones alone."""

    __slots__ = ("branch", "names", "project", "scope")

    def __init__(
        self, project: str | None, names: tuple[str, ...] = (), scope: str = "", branch: str | None = None
    ) -> None:
        self.project = project
        self.names = names
        self.scope = scope
        self.branch = branch

    def condition(self) -> tuple[str, list[Any]]:
        """The same as SQL over memory_entries."""
        of_project = f"(scope <> 'global' AND project IN ({', '.join('?' * len(self.names))}))"
        if self.project is None or self.scope == "global":
            return "scope = 'global'", []
        if self.scope == "branch" or self.branch is not None:
            return f"{of_project} AND scope = 'branch' AND branch IS ?", [*self.names, self.branch]
        if self.scope == "project":
            return f"{of_project} AND scope = 'project'", [*self.names]
        if self.scope == "every":
            return of_project, [*self.names]
        return f"({of_project} OR scope = 'global')", [*self.names]


class Batch:
    """Memories to look over together, oldest first, and the pinned ones beside them. `pending` counts all there are."""

    __slots__ = ("covered", "memories", "pending", "pins", "wanted")

    def __init__(
        self, wanted: Wanted, memories: list[Memory], covered: list[str], pins: list[Memory], pending: int
    ) -> None:
        self.wanted = wanted
        self.memories = memories
        #: Every entity that this batch stands for: copies of one memory are shown once.
        self.covered = covered
        self.pins = pins
        self.pending = pending


class Proposal:
    """What the model made of a batch, as far as it can be used."""

    __slots__ = ("batch", "model", "read", "tokens")

    def __init__(self, batch: Batch, found: Read, model: str, tokens: int) -> None:
        self.batch = batch
        self.read = found
        self.model = model
        self.tokens = tokens


class Made:
    """What was recorded: the reflection (`reflection/id`), and its insights."""

    __slots__ = ("entity", "insights")

    def __init__(self, entity: str, insights: list[Memory]) -> None:
        self.entity = entity
        self.insights = insights


def batches(ws: Workspace, scope: str = "", project: str | None = None, branch: str | None = None) -> list[Wanted]:
    """What the scope options mean: this directory's project with what is global, or as they say; `all` is every project
    in turn, and then what is global. Raises BadInput where a scope needs a project or a branch that there is not."""
    from mait_code.commands import memory_scope, project_aliases

    if scope == "all":
        names = project_aliases.known(ws.reading("projects"))
        rows = ws.reading("memory").query(
            f"SELECT DISTINCT project FROM memory_entries WHERE scope <> 'global' AND {_PENDING} ORDER BY project"  # noqa: S608
        )
        found = dict.fromkeys(names.project(row[0]) for row in rows if row[0])
        return [*(Wanted(one, names.of(one), "every") for one in found), Wanted(None)]
    if scope == "global":
        return [Wanted(None)]
    if scope or branch is not None:
        place = memory_scope.here(scope or "branch", project, branch)
        project, branch = place.project, place.branch
    elif project is None:
        project = memory_scope.context()[0]
    if project is None:
        return [Wanted(None)]
    names_of = project_aliases.names_of(ws, project)
    return [Wanted(names_of[0], names_of, scope, branch)]


def gather(store: Store, wanted: Wanted, size: int, days: int) -> Batch:
    """The next batch: the newest `size` that are to be looked at, in the order in which they came to be.

    The first reflection of a project looks `days` back, so that a long history is not chewed at once; later ones take
    whatever is left.
    """
    where, bindings = wanted.condition()
    pending = f"{where} AND {_PENDING}"
    if not _reflected_before(store, wanted):
        pending += " AND last_seen_at >= ?"
        bindings.append(clock.text(max(0, clock.wall() - days * _DAY)))
    rows = store.query(
        f"SELECT id, same FROM memory_entries WHERE {pending} ORDER BY created_at DESC, id DESC",  # noqa: S608
        tuple(bindings),
    )
    groups: dict[str, list[str]] = {}
    for id_, same in rows:
        groups.setdefault(same, []).append(id_)
    chosen = list(groups.values())[:size]
    found = memory_queries.memories(
        store,
        f"id IN ({', '.join('?' * len(chosen))})",
        [copies[-1] for copies in chosen],
        order="created_at, id",
    )
    in_sight, more = wanted.condition()
    pins = memory_queries.memories(
        store, f"pinned AND live AND {in_sight} AND {memory_queries.ONE_OF_COPIES}", more, order="created_at, id"
    )
    return Batch(wanted, found, [f"memory/{id_}" for copies in chosen for id_ in copies], pins, len(groups))


def _reflected_before(store: Store, wanted: Wanted) -> bool:
    if wanted.project is None:
        return bool(store.value("SELECT 1 FROM reflections WHERE project IS NULL LIMIT 1"))
    marks = ", ".join("?" * len(wanted.names))
    return bool(store.value(f"SELECT 1 FROM reflections WHERE project IN ({marks}) LIMIT 1", wanted.names))  # noqa: S608


def propose(ws: Workspace, batch: Batch) -> Proposal:
    """Ask the model about a batch. Raises ModelFailed; changes nothing."""
    from mait_code.commands import model

    pins, memories = keyed(batch.pins, "p"), keyed(batch.memories, "m")
    answer = model.ask(
        prompt(batch.wanted.project, pins, memories),
        TOOL,
        model=str(settings.value("reflection-model")),
        limit=float(settings.value("llm-timeout")),
        home=ws.home,
    )
    found = read(answer.value, pins, memories)
    return Proposal(batch, found, answer.model, answer.input_tokens + answer.output_tokens)


def record(ws: Workspace, proposal: Proposal, insights: list[Insight] | None = None) -> Made:
    """Write down that the batch was looked over, with its insights (or those given), in one action."""
    store, wanted = ws.store("memory"), proposal.batch.wanted
    place = Place("project", wanted.project) if wanted.project else Place("global")
    reflection = ids.new_entity("reflection")
    entities: list[str] = []
    made: dict[str, str] = {}
    with ws.journal.writing(store) as writer:
        for one in proposal.read.insights if insights is None else insights:
            drafted, _notes = memory.draft(
                one.text, "insight", INSIGHT_IMPORTANCE, place, origin=reflection, source=_evidence(one.backing)
            )
            entities.append(memory.append(writer, store, drafted, made)[0])
        covered: dict[str, Any] = {"memories": proposal.batch.covered}
        if entities:
            covered["insights"] = list(dict.fromkeys(entities))
        covered |= {key: value for key, value in (("project", wanted.project), ("by", proposal.model[:200])) if value}
        writer.append("reflection.made", reflection, **covered)
    after = ws.refreshed("memory")
    found = [memory_queries.one(after, one) for one in dict.fromkeys(entities)]
    return Made(reflection, [one for one in found if one is not None])


def _evidence(backing: list[Memory]) -> dict[str, Any]:
    return {"memories": [one.entity for one in backing]}


def carry_out(ws: Workspace, proposal: Proposal, operation: Operation) -> list[str]:
    """Carry out an operation that was approved, as one action. Returns what is to be told besides.

    Raises NotFound or Refused where a pinned memory was changed meanwhile.
    """
    pins = [one.id for one in operation.pins]
    if operation.op == "add":
        notes = _add(ws, proposal.batch.wanted, operation)
    elif operation.op == "rewrite":
        notes = memory_edits.supersede(ws, pins[0], operation.text).notes
    elif operation.op == "merge":
        merged = memory_edits.merge(ws, pins, operation.text)
        notes = [*merged.memory.notes, *(reason for _id, reason in merged.skipped)]
    else:
        notes = _retire(ws, pins)
    operation.applied = True
    return notes


def _add(ws: Workspace, wanted: Wanted, operation: Operation) -> list[str]:
    store = ws.store("memory")
    place = Place("project", wanted.project) if wanted.project else Place("global")
    drafted, notes = memory.draft(
        operation.text, operation.type, INSIGHT_IMPORTANCE, place, source=_evidence(operation.backing)
    )
    with ws.journal.writing(store) as writer:
        entity, joined = memory.append(writer, store, drafted, {})
        known = memory_queries.one(store, entity) if joined else None
        if known is None or not known.pinned:
            writer.append("memory.pinned", entity)
    ws.refreshed("memory")
    return notes


def _retire(ws: Workspace, pins: list[str]) -> list[str]:
    store = ws.store("memory")
    with ws.journal.writing(store) as writer:
        for id_ in pins:
            found = memory_edits.living(store, id_)
            for entity in (found.id, *found.copies):
                writer.append("memory.retired", f"memory/{entity}")
    ws.refreshed("memory")
    return []
