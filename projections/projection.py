"""What a family of entities adds to the shared fold: derived state, readable rows, and how a register is written back.

A projection is pure: no clock, no I/O, no randomness. The same events give the same state on every machine. A state is kept
as JSON with its keys sorted, so what has an order is a list, never an object.
"""

from __future__ import annotations

from mait_code.journal.event import Event, Future
from mait_code.projections import register

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, ClassVar

    from mait_code.projections.register import State

    Row = tuple[Any, ...]


class Projection:
    """One family. Subclasses say which tables it fills and what it derives."""

    #: First part of the kinds' names, and the type of the entities.
    family = ""
    entity = ""
    #: Table name -> its columns' declarations; the first column is the entity's 12 characters.
    tables: ClassVar[dict[str, str]] = {}
    #: Further indexes, as SQL.
    indexes: tuple[str, ...] = ()
    #: Entities are known by a name, and need no event that creates them before they are shown.
    known_by_name = False
    #: Registers (by the beginning of their name) whose rule names a winner, so that no conflict is listed.
    settled: tuple[str, ...] = ()
    #: Registers that only say which entity it is: what writes another register writes them along, always the same.
    naming: tuple[str, ...] = ()

    @property
    def families(self) -> tuple[str, ...]:
        """First parts of all kinds that go into the store."""
        return (self.family,)

    @property
    def types(self) -> tuple[str, ...]:
        """Types of all entities that have readable rows."""
        return (self.entity,)

    def part(self, type_: str) -> Projection | None:
        """The projection of entities of a type; None where this program knows none."""
        return self if type_ == self.entity else None

    def fold(self, state: State | None, event: Event) -> State:
        """The state after one more event, which is later than all the state has seen."""
        return self.fold_all(state, [event])

    def fold_all(self, state: State | None, events: Sequence[Event]) -> State:
        """The state after more events, at least one, in order, all of them later than what the state has seen."""
        if state is None:
            state = register.start()
        apply, derive = register.apply, self.derive
        for event in events:
            if apply(state, event):
                derive(state, event)
        state["k"] = list(events[-1].key)
        return state

    def derive(self, state: State, event: Event) -> None:
        """Bring the derived part `x` up to the event just applied."""

    def conflicts(self, state: State) -> list[str]:
        """The registers in conflict."""
        return register.conflicts(state, self.settled)

    def number(self, state: State) -> int | None:  # noqa: ARG002
        """The number an entity goes by, where its family numbers them."""
        return None

    def rows(self, entity: str, state: State) -> Iterable[tuple[str, Row]]:
        """The readable rows of an entity, each with its table. Deleted entities have none."""
        raise NotImplementedError

    def inverse(self, name: str, value: Any, state: State) -> tuple[str, dict[str, Any]]:
        """The kind and data that give register `name` the value it had, for undo and `conflicts pick`."""
        raise NotImplementedError

    def unsaid(self, event: Event) -> tuple[str, dict[str, Any]] | None:  # noqa: ARG002
        """The kind and data that take back what an event says without a register, for undo; None where that is nothing."""
        return None


class Several(Projection):
    """Families that share a store. `main` is the one that ids without a type are of."""

    def __init__(self, main: Projection, *others: Projection) -> None:
        self.parts = {one.entity: one for one in (main, *others)}
        self.main = main
        self.family, self.entity = main.family, main.entity
        self.tables = {  # type: ignore[misc]  # the tables of all
            name: columns for one in self.parts.values() for name, columns in one.tables.items()
        }
        self.indexes = tuple(index for one in self.parts.values() for index in one.indexes)

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.family for one in self.parts.values()))

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(self.parts)

    def part(self, type_: str) -> Projection | None:
        return self.parts.get(type_)

    def fold_all(self, state: State | None, events: Sequence[Event]) -> State:
        # What is newer than this program may be about a type it does not know: it is kept in the state all the same.
        part = self.parts.get(events[0].entity.partition("/")[0], self.main)
        return part.fold_all(state, events)


__all__ = ["Future", "Projection", "Several"]
