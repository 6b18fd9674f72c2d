"""Changing a JSON document in its text: what is not touched keeps every byte, its order and its layout.

Dumping a parsed document again would rewrite the whole file in one style, and nobody could take our part out exactly.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Sequence

    Path = Sequence[str | int]

__all__ = ["Document", "MalformedError"]

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}]+")
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"[ \t]*")


class MalformedError(ValueError):
    """The text is no JSON object; the message says where."""


class _Node:
    """A value in the text. `begins` holds where each element begins: a member at its key."""

    __slots__ = ("begins", "end", "items", "keys", "start")

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start
        self.keys: list[str] | None = None
        self.items: list[_Node] = []
        self.begins: list[int] = []


class Document:
    """A JSON object as text that can be changed piece by piece. A path is the keys and positions from the root."""

    def __init__(self, text: str) -> None:
        """Raises MalformedError where the text is no JSON object. An empty text is an empty object."""
        self.text = text if text.strip() else "{}\n"
        try:
            self.root = orjson.loads(self.text)
        except orjson.JSONDecodeError as error:
            raise MalformedError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
        if type(self.root) is not dict:
            raise MalformedError("it holds no JSON object")
        self._newline = "\r\n" if "\r\n" in self.text else "\n"
        self._tree = _scan(self.text, _skip(self.text, 0))

    def get(self, path: Path) -> Any:
        """The value at a path, None where there is none."""
        value: Any = self.root
        for step in path:
            if isinstance(step, int):
                if type(value) is not list or not -len(value) <= step < len(value):
                    return None
            elif type(value) is not dict or step not in value:
                return None
            value = value[step]
        return value

    def put(self, path: Path, value: Any) -> None:
        """Set a member of an object. The object has to be there."""
        *parents, key = path
        parent = self._node(parents)
        known = _position(parent, key)
        if known is not None:
            node = parent.items[known]
            base = self._indent_at(parent.begins[known])
            self._splice(node.start, node.end, self._render(value, base, self._is_spread(parent)))
        else:
            self._add(parent, f"{json.dumps(key, ensure_ascii=False)}: ", value)

    def append(self, path: Path, value: Any) -> None:
        """Add an item at the end of a list. The list has to be there."""
        self._add(self._node(path), "", value)

    def remove(self, path: Path) -> None:
        """Take a member or an item out, with its comma."""
        *parents, last = path
        parent = self._node(parents)
        at = _position(parent, last)
        assert at is not None, "only what is there is taken out"
        if len(parent.items) == 1:
            self._splice(parent.start + 1, parent.end - 1, "")
        elif at:
            # With the comma before it, as it was put in: whatever came behind it since stays as it is.
            self._splice(parent.items[at - 1].end, parent.items[at].end, "")
        else:
            self._splice(parent.begins[0], parent.begins[1], "")

    def _node(self, path: Path) -> _Node:
        node = self._tree
        for step in path:
            at = _position(node, step)
            assert at is not None, "the path was looked up before"
            node = node.items[at]
        return node

    def _add(self, parent: _Node, label: str, value: Any) -> None:
        if parent.items:
            spread = self._is_spread(parent)
            indent = self._indent_at(parent.begins[-1])
            separator = f",{self._newline}{indent}" if spread else ", "
            end = parent.items[-1].end
            self._splice(end, end, separator + label + self._render(value, indent, spread))
            return
        outer = self._indent_at(parent.start)
        if not self._is_spread(self._tree) and self._tree.items:
            self._splice(parent.start + 1, parent.end - 1, label + self._render(value, outer, False))
            return
        indent = outer + self._unit()
        inside = f"{self._newline}{indent}{label}{self._render(value, indent, True)}{self._newline}{outer}"
        self._splice(parent.start + 1, parent.end - 1, inside)

    def _splice(self, start: int, end: int, text: str) -> None:
        self.text = self.text[:start] + text + self.text[end:]
        self.root = orjson.loads(self.text)
        self._tree = _scan(self.text, _skip(self.text, 0))

    def _render(self, value: Any, base: str, spread: bool) -> str:
        if not spread:
            return json.dumps(value, ensure_ascii=False)
        text = json.dumps(value, ensure_ascii=False, indent=self._unit())
        return text.replace("\n", self._newline + base)

    def _is_spread(self, node: _Node) -> bool:
        """Whether the elements stand on lines of their own."""
        return bool(node.begins) and "\n" in self.text[node.start : node.begins[0]]

    def _indent_at(self, at: int) -> str:
        """The blanks that begin the line of a place."""
        line = self.text.rfind("\n", 0, at) + 1
        found = _INDENT.match(self.text, line)
        return found.group() if found else ""

    def _unit(self) -> str:
        if self._is_spread(self._tree):
            return self._indent_at(self._tree.begins[0]) or "  "
        return "  "


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _position(node: _Node, step: str | int) -> int | None:
    if isinstance(step, int):
        return step if step < len(node.items) else None
    # The last of equal keys counts, as for every JSON reader.
    keys = node.keys or []
    return next((at for at in range(len(keys) - 1, -1, -1) if keys[at] == step), None)


def _scan(text: str, at: int) -> _Node:
    """The places of a value that is known to be sound."""
    node = _Node(at)
    if text[at] not in "{[":
        found = (_STRING if text[at] == '"' else _SCALAR).match(text, at)
        assert found is not None, "orjson has read it"
        node.end = found.end()
        return node
    if text[at] == "{":
        node.keys = []
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        node.begins.append(at)
        if node.keys is not None:
            key = _scan(text, at)
            node.keys.append(orjson.loads(text[key.start : key.end]))
            at = _skip(text, _skip(text, key.end) + 1)
        item = _scan(text, at)
        node.items.append(item)
        at = _skip(text, item.end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    node.end = at + 1
    return node
