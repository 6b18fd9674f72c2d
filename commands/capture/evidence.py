"""What is recorded of a turn: cleaned first, cut afterwards, never more than a record may hold.

Texts are cleaned before they are cut: half a secret is not recognised as one, and is a secret all the same.
"""

from __future__ import annotations

import os

import orjson

from mait_code.commands.capture.turns import EXIT
from mait_code.commands.output import counted
from mait_code.journal.secrets import harmless

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from mait_code.commands.capture.turns import Turn

    Data = dict[str, Any]

#: Bytes of the data of one record; its line has about 500 more.
LARGEST = 3500
#: Bytes below which a record stays for most turns.
_USUAL = 1400
#: Characters and numbers of things in a roomy record; each further step halves them.
_REQUEST, _ANSWER, _COMMAND, _FAILURE, _PATH = 600, 600, 160, 200, 200
_COMMANDS, _FILES, _FAILURES = 12, 24, 6
#: How large each part may be: roomy records are for turns with little in them.
_SIZES = (2, 1, 0.5, 0.25, 0.12, 0.06)
_ELLIPSIS = "…"
#: Characters of a text that are cleaned: what is recorded is far less.
_CLEANED = 16 * 1024
_NO_BRANCH = ("", "HEAD")


def cleaned(text: str) -> str:
    """The beginning of a text without what is private and with its secrets masked."""
    return harmless(text[:_CLEANED])


def cut(text: str, length: int) -> str:
    """At most so many characters, with a mark where something was left out."""
    return text if len(text) <= length else text[: length - 1].rstrip() + _ELLIPSIS


def shown_path(path: str, directory: str) -> str:
    """A path as it is recorded: from the session's directory where it is in there."""
    inside = os.path.join(directory, "")
    return path[len(inside) :] if directory and path.startswith(inside) else path


def of(turn: Turn) -> Data:
    """The data of a turn, without where it belongs."""
    texts = _Cleaned(turn)
    data = texts.data(_SIZES[0])
    for size in _SIZES[1:]:
        if len(orjson.dumps(data)) <= (_USUAL if size == 1 else LARGEST):
            break
        data = texts.data(size)
    return data


class _Cleaned:
    """The texts of a turn, cleaned once and cut as often as it takes."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._request, self._answer = cleaned(turn.request), cleaned(turn.answer)
        self._commands = [(" ".join(cleaned(command).split()), status) for command, status in turn.commands]
        self._failures = list(dict.fromkeys(_failure(*one) for one in turn.failures))
        self._read = [cleaned(shown_path(one, turn.directory)) for one in turn.read if one not in turn.modified]
        self._modified = [cleaned(shown_path(one, turn.directory)) for one in turn.modified]

    def data(self, size: float) -> Data:
        def few(found: list[Any], count: int) -> list[Any]:
            return found[: max(1, int(count * size))]

        def short(text: str, length: int) -> str:
            return cut(text, max(20, int(length * size)))

        turn = self._turn
        commands = _latest(self._commands, max(1, int(_COMMANDS * size)))
        tokens = total(turn)
        data: Data = {
            "request": short(self._request, _REQUEST),
            "answer": short(self._answer, _ANSWER),
            "files_read": [short(one, _PATH) for one in few(self._read, _FILES)],
            "files_modified": [short(one, _PATH) for one in few(self._modified, _FILES)],
            "commands": [
                {"command": short(command, _COMMAND), **({} if status is None else {"exit": status})}
                for command, status in commands
            ],
            "failures": [short(one, _FAILURE) for one in few(self._failures, _FAILURES)],
            "tokens": tokens,
            "duration": turn.duration or None,
            "agent": cut(turn.agent, 100) or None,
        }
        return {name: value for name, value in data.items() if value not in (None, "", [], {})}


def _failure(what: str, said: str) -> str:
    """What failed and the line that says why: the first one, of a Python traceback the last. Each is cleaned whole: beside
    other words a secret may look like none."""
    what, said = cleaned(what).strip(), cleaned(said)
    status = EXIT.match(said)
    told = [line.strip() for line in EXIT.sub("", said, count=1).splitlines() if line.strip()]
    says = told[-1:] if told and told[0].startswith("Traceback (") else told[:1]
    reason = ([f"exit {status[1]}"] if status else []) + says
    return ": ".join(one for one in (what.partition("\n")[0], ", ".join(reason)) if one)


def _latest(commands: list[tuple[str, int | None]], count: int) -> list[tuple[str, int | None]]:
    """Those that failed, and the last ones, in order: what worked early on is the least to be missed."""
    ranked = sorted(range(len(commands)), key=lambda at: (commands[at][1] == 0, -at))
    return [commands[at] for at in sorted(ranked[:count])]


def total(turn: Turn) -> dict[str, int]:
    """Tokens of a turn, each message counted once."""
    found: dict[str, int] = {}
    for usage in turn.tokens.values():
        for name, count in usage.items():
            found[name] = found.get(name, 0) + count
    return found


def branch_of(turn: Turn) -> str | None:
    """The branch of a turn; the client says HEAD where there is none."""
    return None if turn.branch in _NO_BRANCH else turn.branch[:200]


def summary(turns: Iterable[Data]) -> Data:
    """A session in the words of its evidence: what was asked, what was changed, run, and what failed. `turns` are the data
    of all of its turns, in order."""
    turns = list(turns)
    own = [one for one in turns if not one.get("agent")] or turns
    modified = _named(turns, "files_modified")
    failures = _named(own[-3:], "failures")
    ran = [one for turn in turns for one in turn.get("commands", ())]
    failed = sum(1 for one in ran if one.get("exit"))
    told = []
    if modified:
        told.append(f"{counted(len(modified), 'file')} changed: {_some(modified, 8)}")
    if ran:
        told.append(f"{counted(len(ran), 'command')} run" + (f", {failed} failed" if failed else ""))
    answer = next((str(one["answer"]) for one in reversed(own) if one.get("answer")), "")
    if answer:
        told.append(cut(answer, 400))
    requests = [str(one["request"]) for one in own if one.get("request")]
    data: Data = {
        "request": cut(requests[0], 300) if requests else None,
        "completed": "\n".join(told) or None,
        "notes": f"failed: {_some(failures, 3)}" if failures else None,
        "files_modified": [cut(one, _PATH) for one in modified[-20:]] or None,
    }
    if len(requests) > 1:
        data["investigated"] = f"{len(requests)} requests; the last: {cut(requests[-1], 300)}"
    return {name: value for name, value in data.items() if value is not None}


def _named(turns: list[Data], name: str) -> list[str]:
    return list(dict.fromkeys(str(one) for turn in turns for one in turn.get(name, ())))


def _some(found: list[str], count: int) -> str:
    more = len(found) - count
    return ", ".join(cut(one, 120) for one in found[-count:]) + (f" and {more} more" if more > 0 else "")
