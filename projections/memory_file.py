"""MEMORY.md: pinned memories in sections, one bullet each, with the user's own text around them.

A managed section is what stands between two marker lines, and holds bullets and nothing else:

    <!-- mait-code:decisions -->
    - releases are cut on Tuesdays
    <!-- /mait-code -->

All the rest is the user's, headings and markers in fenced code included, and is kept byte for byte as one text in which
each managed section is a pair of marker lines: the template. A section that the template lacks is added at the end with its
heading, and taken off again when the file is read, so that adding it changes no text of the user's. Everything here is pure.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mait_code.projections.memory_file_block import BOM, Bullet, Lines, canonical, read_block, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "DEFAULT",
    "SECTIONS",
    "Bullet",
    "Entry",
    "Parsed",
    "canonical",
    "grouped",
    "parse",
    "render",
    "without_ours",
]

#: Section -> (the type of the memories in it, its heading), in the order in which missing ones are added.
SECTIONS = {
    "preferences": ("preference", "Preferences"),
    "decisions": ("decision", "Decisions"),
    "procedures": ("procedure", "Procedures"),
    "facts": ("fact", "Facts"),
    "insights": ("insight", "Insights"),
    "relationships": ("relationship", "Relationships"),
    "tasks": ("task", "Tasks"),
    "events": ("event", "Events"),
    "other": ("", "Other"),
}
#: The block that counts what did not fit. It has no heading and always stands last.
MORE = "more"
#: Lines the file should not exceed, and how many the bullets get however much the user wrote.
MOST_LINES = 150
LEAST_ROOM = 40

#: What stands around the sections until somebody writes something else.
DEFAULT = (
    "# Memory\n\n<!-- What is pinned, kept by mait-code. Bullets between the marker lines can be edited by hand, and the"
    " next command\ntakes that over; all other text is yours. -->\n"
)

_ABOUT = frozenset(DEFAULT.split("\n")[2:4])
_SECTION_OF = {type_: section for section, (type_, _) in SECTIONS.items()}
_BLOCKS = frozenset((*SECTIONS, MORE))
_MORE_LINE = re.compile(r"_\d+ more (?:is|are) pinned\b.*_\s*")


class Part(NamedTuple):
    """A piece of a template: the place of a section, or text of the user's."""

    section: str
    text: str = ""


class Parsed(NamedTuple):
    """What a file says: the user's text with the places of the sections, and the bullets in them, in order."""

    template: str
    bullets: list[Bullet]


class Entry:
    """A line of the file before it is written: what it says, and the memories (ids, all pinned) that say so."""

    __slots__ = ("bullet", "created", "ids", "importance")

    def __init__(self, bullet: Bullet, id_: str, importance: int, created: str) -> None:
        self.bullet = bullet
        self.ids = [id_]
        self.importance = importance
        self.created = created


def section_of(type_: str) -> str:
    """The section that memories of a type stand in."""
    return _SECTION_OF.get(type_, "other")


def type_of(section: str) -> str:
    """The type of what is written into a section by hand."""
    return SECTIONS.get(section, ("", ""))[0] or "fact"


# -- reading ----------------------------------------------------------------------------------------------------------


def parse(text: str) -> Parsed:
    """Take a file apart. `parse` of what `render` wrote gives back the template and the bullets."""
    parts: list[Part] = []
    bullets: list[Bullet] = []
    lines = Lines(split(text))
    owed = False  # the end of a block that a heading of the user's has cut short
    while not lines.done():
        section = lines.opens(_BLOCKS)
        if section:
            bom = BOM if lines.at == 0 and lines.bare.startswith(BOM) else ""
            lines.at += 1
            block = read_block(lines, _SECTION_OF["fact"] if section == MORE else section, _BLOCKS)
            owed = block.cut
            before, after = block.before, block.after
            if section == MORE:
                before, after = _uncounted(before), _uncounted(after)
            parts += [Part("", bom + before), Part(section), Part("", after)]
            bullets += block.bullets
        elif owed and lines.ends():
            owed = False
            lines.at += 1
        else:
            parts.append(Part("", lines.take()))
    return Parsed(_written(_normal(parts)), bullets)


def without_ours(text: str) -> str:
    """A text of another program's without what this one writes: sections with all that is in them, markers, the words
    about them. What fenced code shows stays."""
    lines = Lines(split(_written([part for part in _parts(parse(text).template) if not part.section])))
    kept: list[str] = []
    while not lines.done():
        ours = not lines.fenced and (lines.ends() or lines.opens(_BLOCKS) or lines.bare in _ABOUT)
        line = lines.take()
        kept += [] if ours else [line]
    return "".join(kept)


def _uncounted(text: str) -> str:
    """Text from the last block without the line that counts."""
    return "".join(line for line in split(text) if not _MORE_LINE.fullmatch(line))


def _normal(parts: Iterable[Part]) -> list[Part]:
    """Each section once, texts joined, and without what is added to every file that lacks it."""
    kept: list[Part] = []
    for part in parts:
        if part.section:
            if part not in kept:
                kept.append(part)
        elif part.text:
            if kept and not kept[-1].section:
                kept[-1] = Part("", kept[-1].text + part.text)
            else:
                kept.append(part)
    # In whatever order they stand: were it to matter, what is a template alone would be none with a section behind it.
    while kept and kept[-1].section:
        before = _without_heading(kept[:-1], kept[-1].section)
        if before is None:
            break
        kept = before
    if any(part.section == MORE for part in kept):
        return _normal(part for part in kept if part.section != MORE)
    return kept


def _without_heading(parts: list[Part], section: str) -> list[Part] | None:
    """The parts without the heading that `_added` puts before a section; None where they do not end with it."""
    *rest, last = parts or [Part("")]
    if last.section:
        return parts if section == MORE and not last.text else None
    for eol in ("\n", "\r\n"):
        heading = _heading(section, eol)
        if last.text.removeprefix(BOM) == heading and not rest:
            return [part for part in (Part("", last.text[: -len(heading)] if heading else last.text),) if part.text]
        added = eol + heading
        if not last.text.endswith(added):
            continue
        kept = last.text[: -len(added)]
        shorter = [*rest, Part("", kept)] if kept else rest
        if (kept.removeprefix(BOM) or rest) and _line_end(shorter) == eol:
            return shorter
    return None


def _heading(section: str, eol: str) -> str:
    return "" if section == MORE else f"## {SECTIONS[section][1]}{eol}"


def _line_end(parts: Sequence[Part]) -> str:
    """How lines end in the user's text: as the first one does."""
    for part in parts:
        at = part.text.find("\n")
        if at >= 0:
            return "\r\n" if part.text[at - 1 : at] == "\r" else "\n"
    # A newline added behind this one character would make them the end of a line.
    return "\r\n" if parts and parts[-1].text.endswith("\r") else "\n"


def _written(parts: Sequence[Part]) -> str:
    eol = _line_end(parts)
    return "".join(
        f"<!-- mait-code:{part.section} -->{eol}<!-- /mait-code -->{eol}" if part.section else part.text
        for part in parts
    )


# -- writing ----------------------------------------------------------------------------------------------------------


def grouped(entries: Iterable[tuple[Entry, str]]) -> list[Entry]:
    """One entry for what is said twice: by the same line, or by memories that are the same (the second of each pair)."""
    found: list[Entry] = []
    known: dict[object, Entry] = {}
    for entry, same in sorted(entries, key=lambda pair: (pair[0].created, pair[0].ids)):
        first = known.get(entry.bullet) or known.get(same)
        if first is None:
            found.append(entry)
            first = entry
        else:
            first.ids += entry.ids
            first.importance = max(first.importance, entry.importance)
        known.setdefault(entry.bullet, first)
        known.setdefault(same, first)
    return found


def render(template: str, entries: Sequence[Entry]) -> tuple[str, list[Entry]]:
    """The file's text, and the entries in it in the order of their bullets. What does not fit is counted in a line."""
    parts = _normal(_parts(template))
    shown = _fitting(entries, sum(part.text.count("\n") for part in parts))
    by_section: dict[str, list[Entry]] = {}
    for entry in sorted(shown, key=lambda one: (one.created, one.ids)):
        by_section.setdefault(entry.bullet.section, []).append(entry)
    eol = _line_end(parts)
    out: list[str] = []
    placed: list[Entry] = []
    for part in _added(parts, by_section, len(entries) - len(shown), eol):
        if not part.section:
            out.append(part.text)
            continue
        here = by_section.get(part.section, ())
        placed += here
        body = [line for entry in here for line in entry.bullet.lines()]
        if part.section == MORE:
            body = [part.text]
        out += [f"{line}{eol}" for line in (f"<!-- mait-code:{part.section} -->", *body, "<!-- /mait-code -->")]
    return "".join(out), placed


def _parts(template: str) -> list[Part]:
    """A template's parts; what stands between its markers is nobody's."""
    parts: list[Part] = []
    lines = Lines(split(template))
    while not lines.done():
        section = lines.opens(_BLOCKS)
        if section:
            parts += [Part("", BOM if lines.at == 0 and lines.bare.startswith(BOM) else ""), Part(section)]
            lines.at += 1
            if not lines.done() and lines.ends():
                lines.at += 1
        else:
            parts.append(Part("", lines.take()))
    return parts


def _added(parts: list[Part], by_section: dict[str, list[Entry]], hidden: int, eol: str) -> list[Part]:
    """The parts with the sections that they lack, at the end."""
    present = {part.section for part in parts}
    wanted = [section for section in SECTIONS if section in by_section and section not in present]
    found = list(parts)
    for section in (*wanted, *((MORE,) if hidden else ())):
        empty = not any(part.section or part.text.removeprefix(BOM) for part in found)
        found.append(Part("", ("" if empty else eol) + _heading(section, eol)))
        are = "is" if hidden == 1 else "are"
        count = f"_{hidden} more {are} pinned; `mait-code memory list --pinned` shows all._"
        found.append(Part(section, count if section == MORE else ""))
    return found


def _fitting(entries: Sequence[Entry], lines: int) -> list[Entry]:
    """The most important entries, of equal ones the newest, that fit beside so many lines of the user's."""
    room = max(LEAST_ROOM, MOST_LINES - lines)
    shown: list[Entry] = []
    sections: set[str] = set()
    newest = sorted(sorted(entries, key=lambda one: one.ids), key=lambda one: one.created, reverse=True)
    for entry in sorted(newest, key=lambda one: -one.importance):
        # A new section also takes an empty line, its heading and two markers.
        takes = len(entry.bullet.lines()) + (0 if entry.bullet.section in sections else 4)
        if takes <= room:
            room -= takes
            sections.add(entry.bullet.section)
            shown.append(entry)
    return shown
