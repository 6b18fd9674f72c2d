"""Values of other programs' rows: whatever type they have, what we can make of them."""

from __future__ import annotations

from datetime import UTC, datetime

from mait_code.journal import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Row", "listed", "moment"]

#: Numbers above these are milliseconds and microseconds since 1970, those below seconds.
_MILLISECONDS, _MICROSECONDS = 10**11, 10**14


class Row:
    """One row: its table, its id and its values by column. `notes` say what was changed to read it."""

    __slots__ = ("id", "notes", "table", "values")

    def __init__(self, table: str, id_: int, values: dict[str, Any]) -> None:
        self.table = table
        self.id = id_
        self.values = values
        self.notes: list[str] = []

    def decoded(self, name: str, type_: str, raw: Any) -> Any:
        """A value from the name of its SQLite type and its bytes."""
        if raw is None or type_ == "null":
            return None
        if type_ == "integer":
            return int(raw)
        if type_ == "real":
            return float(raw)
        return self._utf8(name, raw)

    def _utf8(self, name: str, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.notes.append(f"{name} is not UTF-8; what could not be read of it was replaced by \ufffd")
            return raw.decode("utf-8", "replace")

    def text(self, name: str) -> str | None:
        """A value as text; None where there is none, or nothing but blanks."""
        value = self.values.get(name)
        if isinstance(value, bytes):
            value = self._utf8(name, value)
        elif isinstance(value, (int, float)):
            value = str(value)
        return value if isinstance(value, str) and value.strip() else None

    def whole(self, name: str) -> int | None:
        """A value as a whole number; None where it is none."""
        value = self.values.get(name)
        if isinstance(value, (bytes, str)):
            try:
                value = float(value)
            except ValueError:
                return None
        if isinstance(value, float):
            return int(value) if abs(value) < 2**53 else None
        return value if isinstance(value, int) else None

    def moment(self, *names: str) -> int | None:
        """Microseconds since 1970 of the first of these values that is a time; one without a zone is UTC."""
        for name in names:
            found = moment(self.values.get(name))
            if found is not None:
                return found
        return None


def moment(value: Any) -> int | None:
    """Microseconds since 1970 of a time as other programs write it: ISO 8601 (UTC where no zone is named), or a number
    of seconds, milliseconds or microseconds. None where it is none that the log can hold."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
            micros = clock.micros((found if found.tzinfo else found.replace(tzinfo=UTC)).isoformat())
        except (ValueError, OverflowError):
            try:
                value = float(value)
            except ValueError:
                return None
        else:
            return micros if 0 < micros < clock.LAST_MICROS else None
    if not isinstance(value, (int, float)) or not 0 < value < clock.LAST_MICROS:  # not a number fails both
        return None
    factor = 1 if value > _MICROSECONDS else 1_000 if value > _MILLISECONDS else 1_000_000
    micros = int(value * factor)
    return micros if micros < clock.LAST_MICROS else None


def listed(text: str | None) -> list[str]:
    """The texts of a list that stands in a column as JSON. What is no JSON list is one text."""
    if text is None:
        return []
    import orjson

    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return [text]
    if not isinstance(found, list):
        found = [found]
    told = [one if isinstance(one, str) else orjson.dumps(one).decode() for one in found if one is not None]
    return [one for one in told if one.strip()]
