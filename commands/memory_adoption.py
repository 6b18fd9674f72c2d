"""Taking over what somebody did to MEMORY.md by hand, as events of one action.

Everything is decided under the append lock, on what is true then: a memory that somebody else has changed since the file was
written is not hidden behind an edit that did not know of it, and what is true already is not written again. So an edit that
was taken over by a process killed before it could note so is taken over again without a trace.
"""

from __future__ import annotations

from mait_code.journal.errors import BadInput
from mait_code.journal.kinds import KINDS
from mait_code.journal.secrets import clean
from mait_code.projections import memory_pins, memory_queries, register
from mait_code.projections.likeness import key
from mait_code.projections.memories import same
from mait_code.projections.memory_file import DEFAULT, Bullet, Parsed, canonical, type_of
from mait_code.projections.memory_file_edits import Written, compare
from mait_code.projections.memory_pins import DOCUMENT, NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from mait_code.commands.workspace import Workspace
    from mait_code.journal.writing import Writer
    from mait_code.projections.memory_file_edits import Edit
    from mait_code.projections.memory_queries import Memory
    from mait_code.projections.store import Store

_STORED = KINDS["memory.stored"]
_TEXT = KINDS["document.text"]


class Last:
    """What the file was last written with. `free` says whether the user's text is still that; `heads` are the writes of it
    that whoever edits the file can have seen. None of it is known where nothing was written yet."""

    __slots__ = ("bullets", "heads", "known", "template_changed")

    def __init__(self, known: bool, bullets: Sequence[Written], heads: list[str], template_changed: bool) -> None:
        self.known = known
        self.bullets = bullets
        self.heads = heads
        self.template_changed = template_changed


class Adopted:
    """What came of it: the memories that each bullet of the file stands for, the writes of the user's text that the file
    holds, and what to say."""

    __slots__ = ("bullets", "heads", "notes")

    def __init__(self, bullets: list[Written], heads: list[str], notes: list[str]) -> None:
        self.bullets = bullets
        self.heads = heads
        self.notes = notes


def adopt(ws: Workspace, last: Last, file: Parsed, wait: float) -> Adopted:
    """Write what is new in the file into the log. `wait` is for the append lock, in seconds. Raises Busy, DiskRefused,
    Refused."""
    store = ws.store("memory")
    with ws.journal.writing(store, wait=wait) as writer:
        hand = _Hand(writer, store, ws.journal.allow_secret)
        bullets = hand.bullets(last.bullets, file.bullets)
        heads = hand.text(last, file.template) if last.template_changed or not last.known else last.heads
    if writer.events:
        ws.refreshed("memory")
    return Adopted(bullets, heads, hand.said())


class _Hand:
    """One edit of the file on its way into the log."""

    def __init__(self, writer: Writer, store: Store, allow_secret: bool) -> None:
        self.writer = writer
        self.store = store
        self.allow_secret = allow_secret
        self.known: dict[str, Memory] = {}
        #: Line of the file as it would be written now -> the memories it stands for.
        self.lines = {entry.bullet: entry.ids for entry in memory_pins.entries(memory_pins.rows(store))}
        #: What this action stored, pinned and used.
        self.made: dict[str, str] = {}
        self.used: set[str] = set()
        self.counts = dict.fromkeys(("new", "changed", "moved", "unpinned"), 0)
        self.has_text = False
        self.notes: list[str] = []

    def bullets(self, before: Sequence[Written], now: Sequence[Bullet]) -> list[Written]:
        """Take over the bullets. Returns them with the memories that they stand for now."""
        edits, removed = compare(before, now)
        ids = [id_ for edit in edits for id_ in edit.ids] + [id_ for gone in removed for id_ in gone.ids]
        self.known = self._memories([*ids, *(id_ for found in self.lines.values() for id_ in found)])
        written = [Written(edit.bullet, self._taken(edit)) for edit in edits]
        for one in written:
            self.used.update(one.ids)
        for gone in removed:
            self._unpin(gone)
        return written

    def _taken(self, edit: Edit) -> list[str]:
        if edit.bullet == edit.before:
            return edit.ids
        present = self.lines.get(edit.bullet)
        standing = [one for one in map(self.known.get, edit.ids) if one is not None and one.live]
        if edit.before is None or not standing:
            return present or self._stored(edit.bullet, {})
        if edit.before.text != edit.bullet.text:
            return self._changed(edit.bullet, edit.before, standing)
        return self._moved(edit.bullet, edit.before, standing)

    def _memories(self, ids: list[str]) -> dict[str, Memory]:
        """Memories by their id; deleted and unknown ones are left out."""
        wanted = list(dict.fromkeys(ids))
        where = f"id IN ({', '.join('?' * len(wanted))})"
        return {one.id: one for one in memory_queries.memories(self.store, where, wanted)}

    # -- what can happen to a bullet ----------------------------------------------------------------------------------

    def _stored(self, bullet: Bullet, more: dict[str, Any], replaces: Iterable[str] = ()) -> list[str]:
        """The memory that a bullet stands for, pinned: one that says the same in the same place, else a new one."""
        content = self._cleaned(bullet.text)
        if not content:
            return []
        data = {"type": type_of(bullet.section), **_place(bullet), **more}
        alike = same(key(content), data["type"], data["scope"], data.get("project"), data.get("branch"))
        found = self.made.get(alike) or (memory_queries.living_same(self.store, alike) or "").partition("/")[2]
        if found and found not in replaces:
            self._pin_known(found, content)
            return [found]
        event = self.writer.append(
            "memory.stored", verbatim=("content",), content=content, source={"file": NAME}, **data
        )
        self.writer.append("memory.pinned", event.entity)
        self.made[alike] = event.entity.partition("/")[2]
        self.counts["new"] += not replaces
        return [self.made[alike]]

    def _pin_known(self, id_: str, content: str) -> None:
        if id_ in self.made.values():
            return
        one = self.known.get(id_) or self._memories([id_])[id_]
        if canonical(one.content) != content and not self._was_told(one, content):
            self.writer.append("memory.seen", one.entity, verbatim=("content",), content=content)
        if not one.pinned and id_ not in self.used:
            self.writer.append("memory.pinned", one.entity)
            self.counts["new"] += 1
        self.used.add(id_)

    def _was_told(self, one: Memory, content: str) -> bool:
        return any(event.data.get("content") == content for event in self.store.events_of(one.entity))

    def _changed(self, bullet: Bullet, before: Bullet, standing: list[Memory]) -> list[str]:
        """Supersede what a bullet stood for, where that still says what the bullet said."""
        old = _saying(before.text, standing)
        if not old:
            return self.lines.get(bullet) or self._stored(bullet, {})
        first = old[0]
        more: dict[str, Any] = {"importance": first.importance}
        if first.tags:
            more["tags"] = first.tags
        if bullet.section == before.section:
            more["type"] = first.entry_type
        if bullet[2:] == before[2:]:
            more |= _where(first)
        replaced = {one.id for one in old}
        ids = self._stored(bullet, more, replaced)
        for one in old if ids else ():
            if one.id not in ids:
                self.writer.append("memory.superseded", one.entity, by=f"memory/{ids[0]}")
                self.counts["changed"] += one is first
        return ids

    def _moved(self, bullet: Bullet, before: Bullet, standing: list[Memory]) -> list[str]:
        """Another section is another type; another project named behind the text is another place."""
        changed = False
        for one in standing:
            data: dict[str, Any] = {}
            if bullet.section != before.section and type_of(bullet.section) != one.entry_type:
                data["type"] = type_of(bullet.section)
            if bullet[2:] != before[2:]:
                place = {"project": None, "branch": None, **_place(bullet)}
                data |= {name: value for name, value in place.items() if value != getattr(one, name)}
            if data:
                self.writer.append("memory.edited", one.entity, **data)
                changed = True
        self.counts["moved"] += changed
        return [one.id for one in standing]

    def _unpin(self, gone: Written) -> None:
        standing = [one for one in map(self.known.get, gone.ids) if one is not None and one.live]
        old = [one for one in _saying(gone.bullet.text, standing) if one.pinned and one.id not in self.used]
        for one in old:
            self.writer.append("memory.unpinned", one.entity)
        self.counts["unpinned"] += bool(old)

    # -- the user's own text ------------------------------------------------------------------------------------------

    def text(self, last: Last, template: str) -> list[str]:
        """Take over the user's text. Returns the writes of it that the file holds."""
        cleaned = self._cleaned(template, "text")
        state = self.store.state(DOCUMENT)
        heads = state["r"].get("text", ()) if state is not None else ()
        holding = [head[0] for head in heads if head[1] == cleaned]
        if holding:
            return holding
        if not last.known:
            # Whatever stood there before is not known; what the log held once is only old.
            if cleaned == DEFAULT and not heads:
                return []
            if any(event.data.get("text") == cleaned for event in self.store.events_of(DOCUMENT)):
                return []
        known = register.heads_of(state)
        sees = {"text": last.heads, "name": known.get("name", [])}
        event = self.writer.append(
            "document.text",
            DOCUMENT,
            sees={name: ids for name, ids in sees.items() if ids},
            verbatim=("text",),
            name=NAME,
            text=cleaned,
        )
        self.has_text = True
        return [event.id]

    def _cleaned(self, text: str, field: str = "content") -> str:
        """A text as the log may hold it. It is empty where all of it was private."""
        kind = _TEXT if field == "text" else _STORED
        try:
            data, notes = clean(kind, {field: text}, self.allow_secret)
        except BadInput as error:
            self.notes.append(f"{NAME}: {error.message}")
            return ""
        self.notes += [f"{NAME}: {note}" for note in notes]
        return str(data[field])

    def said(self) -> list[str]:
        """What was taken over, in one line, and what was changed about it."""
        counts = self.counts
        said = [
            f"{count} {words}"
            for count, words in (
                (counts["new"], "stored and pinned"),
                (counts["changed"], "changed"),
                (counts["moved"], "moved"),
                (counts["unpinned"], "unpinned"),
            )
            if count
        ]
        if self.has_text:
            said.append("your text")
        return [f"taken over from {NAME}: {', '.join(said)}", *self.notes] if said else self.notes


def _saying(text: str, standing: list[Memory]) -> list[Memory]:
    """Those of the memories behind a line that still say what it said; with them goes what says the same in other words."""
    exact = [one for one in standing if canonical(one.content) == text]
    alike = {one.same for one in exact}
    return exact + [one for one in standing if one not in exact and one.same in alike]


def _place(bullet: Bullet) -> dict[str, Any]:
    if not bullet.project:
        return {"scope": "global"}
    if not bullet.branch:
        return {"scope": "project", "project": bullet.project}
    return {"scope": "branch", "project": bullet.project, "branch": bullet.branch}


def _where(one: Memory) -> dict[str, Any]:
    place = {"scope": one.scope, "project": one.project, "branch": one.branch}
    return {name: value for name, value in place.items() if value is not None}
