"""Our entries in the client's settings.json: put in beside what is there, found again, and taken out."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Any

from mait_code.commands.install.json_text import Document, MalformedError
from mait_code.commands.install.programs import EVENTS, STATUSLINE, program_of
from mait_code.journal.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mait_code.commands.install.programs import Hook

__all__ = ["FILE", "handlers", "merge", "merge_statusline", "parse", "plugin", "registered", "strip"]

FILE = "settings.json"
_BOM = "\ufeff"
_PLUGIN = "mait-code@"


def parse(path: str, raw: bytes | None) -> Document:
    """The file as a document. Raises Refused where it is malformed: what the user has there must not be lost."""
    hint = "correct it in an editor, then try again; nothing was changed"
    try:
        text = (raw or b"").decode()
        document = Document(text.removeprefix(_BOM))
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not UTF-8 (byte {error.start})", hint) from error
    except MalformedError as error:
        raise Refused(f"{path} is malformed: {error}", hint) from error
    hooks = document.get(["hooks"])
    if hooks is not None and type(hooks) is not dict:
        raise Refused(f"{path} is malformed: hooks is no object", hint)
    for event, groups in (hooks or {}).items():
        if event in EVENTS and type(groups) is not list:
            raise Refused(f"{path} is malformed: hooks.{event} is no list", hint)
        for group in groups if event in EVENTS else ():
            if type(group) is not dict or type(group.get("hooks", [])) is not list:
                raise Refused(f"{path} is malformed: hooks.{event} has an entry that is none", hint)
    return document


def encode(document: Document, raw: bytes | None) -> bytes:
    """The document as the bytes of the file, with the mark at its beginning that it had."""
    return ((_BOM if (raw or b"").startswith(_BOM.encode()) else "") + document.text).encode()


def plugin(document: Document) -> str:
    """The name under which our plug-in is enabled, empty where it is not."""
    enabled = document.get(["enabledPlugins"])
    names = enabled if type(enabled) is dict else {}
    return next((name for name, on in names.items() if name.startswith(_PLUGIN) and on), "")


def handlers(document: Document, event: str) -> Iterator[tuple[list[str | int], dict[str, Any], str]]:
    """Each of our handlers of an event: its path, itself, and the program's word in its command."""
    groups = document.get(["hooks", event])
    for at, group in enumerate(groups if type(groups) is list else []):
        inside = group.get("hooks") if type(group) is dict else None
        for position, handler in enumerate(inside if type(inside) is list else []):
            word = program_of(handler.get("command")) if type(handler) is dict else ""
            if word:
                yield ["hooks", event, at, "hooks", position], handler, word


def registered(document: Document) -> dict[str, str]:
    """The program that each event of ours runs."""
    return {event: word for event in EVENTS for _path, _handler, word in handlers(document, event)}


def merge(document: Document, hooks: Iterable[Hook], directory: str, made: list[str]) -> None:
    """Put the hooks in. What the user changed in an entry of ours stays; what is not wanted any more goes.

    `made` is told the containers that were not there before.
    """
    by_event = {hook.event: hook for hook in hooks}
    for event in EVENTS:
        hook = by_event.get(event)
        if hook is None:
            _take_out(document, event, made)
        else:
            _put_in(document, hook, directory, made)


def _put_in(document: Document, hook: Hook, directory: str, made: list[str]) -> None:
    group = hook.group(directory)
    # An entry without a directory is another version's, with a shape of its own: ours replaces it.
    while foreign := next((one for one in handlers(document, hook.event) if os.sep not in one[2]), None):
        _remove_handler(document, foreign[0])
    present = [one for one in handlers(document, hook.event) if os.path.basename(one[2]) == hook.program]
    if present:
        path, handler, word = present[0]
        program = os.path.join(directory, hook.program)
        if os.path.realpath(word) != os.path.realpath(program):  # another name of the same program does as well
            old, new = shlex.quote(word), shlex.quote(program)
            command = handler["command"]
            document.put([*path, "command"], command.replace(old if old in command else word, new, 1))
        return
    for at, container in enumerate((["hooks"], ["hooks", hook.event])):
        if document.get(container) is None:
            document.put(container, [] if at else {})
            _note(made, ".".join(container))
    document.append(["hooks", hook.event], group)


def _note(made: list[str], name: str) -> None:
    if name not in made:
        made.append(name)


def merge_statusline(document: Document, directory: str, made: list[str], chain: bool) -> None:
    """Have the status line show what waits, behind the user's own; unless `chain`, only keep ours pointing right."""
    current = document.get(["statusLine"])
    command = current.get("command") if type(current) is dict else None
    program = shlex.quote(os.path.join(directory, STATUSLINE))
    word = program_of(command, STATUSLINE)
    if word:
        assert isinstance(command, str)
        if os.path.realpath(word) != os.path.realpath(os.path.join(directory, STATUSLINE)):
            old = shlex.quote(word)
            document.put(["statusLine", "command"], command.replace(old if old in command else word, program, 1))
    elif chain and isinstance(command, str) and command.strip():
        document.put(["statusLine", "command"], f"{program} {shlex.quote(command)}")
    elif chain:
        document.put(["statusLine"], {"type": "command", "command": program})
        _note(made, "statusLine")


def strip(document: Document, made: Iterable[str], rules: Iterable[str] = ()) -> None:
    """Take out every entry of ours, the permission rules named, and the containers that we made and that are empty now."""
    left = list(made)
    for event in EVENTS:
        _take_out(document, event, left)
    _strip_statusline(document)
    remove_rules(document, rules, left)
    if document.get(["hooks"]) == {} and "hooks" in left:
        document.remove(["hooks"])


def remove_rules(document: Document, rules: Iterable[str], made: Iterable[str]) -> None:
    """Take permission rules out, and the containers that we made for them."""
    gone = set(rules)
    allowed = document.get(["permissions", "allow"])
    for at in range(len(allowed) - 1 if type(allowed) is list else -1, -1, -1):
        if allowed[at] in gone:
            document.remove(["permissions", "allow", at])
    for container, empty in ((["permissions", "allow"], []), (["permissions"], {})):
        if document.get(container) == empty and ".".join(container) in made:
            document.remove(container)


def _take_out(document: Document, event: str, made: list[str]) -> None:
    while found := next(handlers(document, event), None):
        _remove_handler(document, found[0])
    if document.get(["hooks", event]) == [] and f"hooks.{event}" in made:
        document.remove(["hooks", event])
        made.remove(f"hooks.{event}")


def _remove_handler(document: Document, path: list[str | int]) -> None:
    group = path[:3]
    only = len(document.get([*group, "hooks"])) == 1
    document.remove(group if only else path)


def _strip_statusline(document: Document) -> None:
    current = document.get(["statusLine"])
    command = current.get("command") if type(current) is dict else None
    word = program_of(command, STATUSLINE)
    if not word:
        return
    assert isinstance(command, str)
    words = shlex.split(command)
    rest = words[words.index(word) + 1 :]
    if rest:
        document.put(["statusLine", "command"], rest[0] if len(rest) == 1 else shlex.join(rest))
    else:
        document.remove(["statusLine"])
