"""How a kind is declared: fields with checks, and the registers an event of it writes."""

from __future__ import annotations

from mait_code.journal import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Data = dict[str, Any]
    Check = Callable[[Any], bool]
    Writes = list[tuple[str, Any]]


class Field:
    """One field of a kind: a check on its value, and whether it must be there and not null. `what` is used in messages."""

    __slots__ = ("check", "plain", "required", "what")

    def __init__(self, what: str, check: Check, required: bool = True, plain: type | None = None) -> None:
        self.what = what
        self.check = check
        self.required = required
        #: The type of which every value is right, where there is one.
        self.plain = plain

    def optional(self) -> Field:
        """The same field, which may be absent or null."""
        return Field(self.what, self.check, required=False, plain=self.plain)


def _name(value: Any) -> bool:
    return type(value) is str and 0 < len(value) <= 200


TEXT = Field("text", lambda value: type(value) is str, plain=str)
#: An open enumeration (a column, a priority): newer programs may know more values than this one.
NAME = Field("a name of 1 to 200 characters", _name)
NUMBER = Field("a whole number from 1", lambda value: type(value) is int and 1 <= value < 2**53)
OBJECT = Field("an object", lambda value: type(value) is dict, plain=dict)
#: As the order of events writes it: UTC, microseconds.
TIME = Field("a time such as 2026-11-30T15:21:07.123004Z", clock.valid)


def _list_of(check: Check) -> Check:
    return lambda value: type(value) is list and all(check(one) for one in value)


TEXTS = Field("a list of texts", _list_of(lambda one: type(one) is str))
NAMES = Field("a list of names of 1 to 200 characters", _list_of(_name))
OBJECTS = Field("a list of objects", _list_of(lambda one: type(one) is dict))


def register_of(*names: str) -> Field:
    """The name of a register that may be reopened: one of `names`, or one that begins with a name ending in a colon."""
    prefixes = tuple(name for name in names if name.endswith(":"))

    def check(value: Any) -> bool:
        return _name(value) and (value in names or value.startswith(prefixes))

    return Field("a register that can be reopened", check)


class Kind:
    """A kind of event. `entity` is the type its entities have; `writes` lists the registers an event of it sets."""

    __slots__ = ("_required", "creates", "entities", "entity", "fields", "name", "upcasts", "version", "writes")

    def __init__(
        self,
        name: str,
        version: int,
        fields: dict[str, Field],
        *,
        entity: str,
        writes: Callable[[str, Data], Writes] | None = None,
        creates: bool = False,
        upcasts: dict[int, Callable[[Data], Data]] | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.fields = fields
        self.entity = entity
        #: How the names of its entities begin.
        self.entities = entity + "/"
        self.creates = creates
        self.upcasts = upcasts or {}
        #: The (register, value) pairs an event of this id and data sets.
        self.writes = writes or self._writes_fields
        self._required = tuple(key for key, field in fields.items() if field.required)

    def fault(self, data: Data) -> str:
        """Why `data` is not this kind's, or an empty string. Unknown fields are no fault."""
        fields = self.fields
        for key, value in data.items():
            # Kinds have many fields and most events few.
            if key in fields:
                field = fields[key]
                if type(value) is not field.plain and (field.required if value is None else not field.check(value)):
                    return f"data.{key} is not {field.what}"
        for key in self._required:
            if key not in data:
                return f"data.{key} is missing"
        return ""

    def _writes_fields(self, _event_id: str, data: Data) -> Writes:
        """Every declared field that is present is a register: the rule where a kind has none of its own."""
        fields = self.fields
        return [(key, value) for key, value in data.items() if key in fields]

    def upcast(self, version: int, data: Data) -> Data:
        """Data of an older version brought to this kind's own."""
        while version < self.version:
            data = self.upcasts[version](data)
            version += 1
        return data


def kind(
    name: str,
    version: int = 1,
    /,
    *shared: dict[str, Field],
    entity: str = "",
    writes: Callable[[str, Data], Writes] | None = None,
    creates: bool = False,
    upcasts: dict[int, Callable[[Data], Data]] | None = None,
    **fields: Field,
) -> Kind:
    """Declare a kind. The entity type is the name's first part unless said otherwise. `shared` are fields that several
    kinds have."""
    return Kind(
        name,
        version,
        {key: field for group in (*shared, fields) for key, field in group.items()},
        entity=entity or name.partition(".")[0],
        writes=writes,
        creates=creates,
        upcasts=upcasts,
    )


def nothing(_event_id: str, _data: Data) -> Writes:
    """For kinds that record a fact and set no register."""
    return []


def deletion(_event_id: str, _data: Data) -> Writes:
    """For the kinds that delete: `deleted` is a register like any other."""
    return [("deleted", True)]


def reopening(_event_id: str, data: Data) -> Writes:
    """For the kinds that take back what `register` says: a deletion, or else whatever it holds."""
    register = data["register"]
    return [(register, False if register == "deleted" else None)]
