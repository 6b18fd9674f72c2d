"""Multi-value registers: how the events of one entity fold into its state.

Every field of an entity is a register. An event that writes it names in `sees` the writes its author had before them. The
*heads* of a register are the events that no event's `sees` names; its value is the head with the largest order key; heads
with different values are a conflict. Nothing is decided by who came first, so every machine comes to the same state.

A state is plain JSON, so that equal states have equal bytes:

    k  order key of the last event folded          c, u  when it was created and last changed, as people are told
    r  register -> heads in order, each [event id, value] ([event id, true, ids named by "*"] for a deletion)
    d  register -> ids named before they arrived   n     ids of events written by a newer version
    x  what the family derives (completed_at, comments ...)
"""

from __future__ import annotations

import orjson

from mait_code.journal.event import Future

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from mait_code.journal.event import Event

    State = dict[str, Any]
    #: A tuple when just folded, a list when read back.
    Head = Sequence[Any]


def start() -> State:
    """The state of an entity nothing is known of."""
    return {"k": None, "c": "", "u": "", "r": {}, "x": {}}


def apply(state: State, event: Event) -> bool:
    """Fold one event, the latest so far in the order, into the registers of `state`; its key is for the caller to note.
    False when the event is of a newer version than we read."""
    if type(event) is Future:
        state.setdefault("n", []).append(event.id)
        return False
    declared, registers, id_ = event.declared, state["r"], event.id
    state["u"] = shown = event.wall or event.at
    if declared.creates and not state["c"]:
        state["c"] = shown
    if event.sees:
        _see(state, registers, event)
    for register, value in declared.writes(id_, event.data):
        if "d" in state and id_ in state["d"].get(register, ()):
            continue
        head: Head = (id_, value)
        if register == "deleted" and value:
            head = (id_, value, event.sees.get("*", []))
        if register in registers:
            registers[register].append(head)
        else:
            registers[register] = [head]
    return True


def _see(state: State, registers: dict[str, list[Head]], event: Event) -> None:
    """Take away the heads an event names; ids that are not heads (yet) are kept."""
    for register, ids in event.sees.items():
        if register == "*":
            continue
        heads = registers.get(register, [])
        if len(heads) == 1 and [heads[0][0]] == ids:  # as nearly always
            del registers[register]
            continue
        left = [head for head in heads if head[0] not in ids]
        if len(heads) - len(left) < len(ids):
            present = {head[0] for head in heads}
            early = state.setdefault("d", {}).setdefault(register, [])
            early.extend(one for one in ids if one not in present and one not in early)
        if left:
            registers[register] = left
        else:
            registers.pop(register, None)


def value(state: State, register: str, default: Any = None) -> Any:
    """The value of a register: that of the head with the largest order key."""
    heads = state["r"].get(register)
    return heads[-1][1] if heads else default


def is_deleted(state: State) -> bool:
    """Deleted while any head of `deleted` is a deletion, whatever was written beside it."""
    heads = state["r"].get("deleted")
    return heads is not None and any(head[1] for head in heads)


def heads_of(state: State | None) -> dict[str, list[str]]:
    """The ids of all heads, by register: what a writer who knows this state names."""
    if state is None:
        return {}
    return {register: [head[0] for head in heads] for register, heads in state["r"].items()}


def differ(heads: list[Head]) -> bool:
    """Whether heads hold more than one value."""
    first = heads[0][1]
    return any(not _same(first, head[1]) for head in heads[1:])


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: Python takes 1, 1.0 and true for equal, inside objects too."""
    if type(one) is not type(other) or one != other:
        return False
    return type(one) is not dict or bool(
        orjson.dumps(one, option=orjson.OPT_SORT_KEYS) == orjson.dumps(other, option=orjson.OPT_SORT_KEYS)
    )


def unseen_by_deletion(state: State) -> list[str]:
    """Registers with a head that no deletion's `*` names: what was written concurrently with the deletion."""
    deletions = [head for head in state["r"].get("deleted", ()) if head[1]]
    if not deletions:
        return []
    named = {one for head in deletions for one in head[2]}
    return sorted(
        register
        for register, heads in state["r"].items()
        if register != "deleted" and any(head[0] not in named for head in heads)
    )


def conflicts(state: State, settled: tuple[str, ...] = ()) -> list[str]:
    """The registers in conflict. Those whose name begins with one of `settled` have a rule that names a winner."""
    registers = state["r"]
    if "deleted" in registers and is_deleted(state):
        if unseen_by_deletion(state) or not all(head[1] for head in registers["deleted"]):
            return ["deleted"]
        return []
    several = [register for register, heads in registers.items() if len(heads) > 1]
    return sorted(register for register in several if not register.startswith(settled) and differ(registers[register]))
