"""What stands between the markers of a managed section of MEMORY.md: bullets, and what people put among them."""

from __future__ import annotations

import re
from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container

BOM = "\ufeff"
OPEN = re.compile(r"<!--\s*mait-code:(\w+)\s*-->\s*")
CLOSE = re.compile(r"<!--\s*/mait-code\s*-->\s*")

_BULLET = re.compile(r"([ \t]*)([-*+]|\d{1,9}[.)])(?:([ \t]+)(.*))?", re.DOTALL)
_HEADING = re.compile(r"#{1,6}(?:\s.*)?", re.DOTALL)
_RULE = re.compile(r"(?:-{3,}|\*{3,}|_{3,}|={3,})\s*")
_FENCE = re.compile(r" ?(`{3,}|~{3,})(.*)", re.DOTALL)
_PLACE = re.compile(r"(?:^|\s+)_\(project ([^,()\s][^,()]*?)(?:, branch ([^()]+?))?\)_\s*$")
#: From this much further in than its bullet's mark a line belongs to the bullet.
_DEEPER = 2


class Bullet(NamedTuple):
    """A bullet: its section, its text (of several lines, perhaps), and the project and branch it is about, if any."""

    section: str
    text: str
    project: str = ""
    branch: str = ""

    def lines(self) -> list[str]:
        """The bullet as lines of Markdown, without line ends."""
        first, *rest = self.text.split("\n")
        if self.project:
            branch = f", branch {self.branch}" if self.branch else ""
            first = f"{first} _(project {self.project}{branch})_"
        return [f"- {first}", *(f"  {line}" if line else "" for line in rest)]


class Block(NamedTuple):
    """A managed section as it was read. `before` and `after` is text that is no bullet: it is moved out, above the section
    or beneath it. `cut` says that a heading ended it before its marker did."""

    bullets: list[Bullet]
    before: str
    after: str
    cut: bool


def canonical(text: str) -> str:
    """A text as a bullet can hold it: no blanks around it, newlines alone as line ends, no tabs before a line."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    kept = [_indented(line) if line.strip() else "" for line in lines]
    kept[0] = kept[0].rstrip()
    return "\n".join(kept)


def _indented(line: str) -> str:
    if "\t" not in line:
        return line
    bare = line.lstrip(" \t")
    return line[: len(line) - len(bare)].expandtabs(4) + bare


def split(text: str) -> list[str]:
    """Lines with their ends, so that joined they are the text again."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


class Lines:
    """Lines being read, and how far. What stands in a fenced block of code is never a marker: it shows one."""

    __slots__ = ("_all", "_fenced", "at")

    def __init__(self, lines: list[str]) -> None:
        self._all = lines
        self._fenced = _fenced(lines)
        self.at = 0

    def done(self) -> bool:
        """Whether all have been read."""
        return self.at >= len(self._all)

    @property
    def bare(self) -> str:
        """The present line without its end."""
        return self._all[self.at].removesuffix("\n").removesuffix("\r")

    @property
    def fenced(self) -> bool:
        """Whether the present line is of a fenced block of code."""
        return self.at in self._fenced

    def opens(self, sections: Container[str]) -> str:
        """The section whose opening marker the present line is; an empty text where it is none."""
        found = None if self.fenced else OPEN.fullmatch(self.bare.removeprefix(BOM) if self.at == 0 else self.bare)
        return found[1] if found and found[1] in sections else ""

    def ends(self) -> bool:
        """Whether the present line is a closing marker."""
        return not self.fenced and CLOSE.fullmatch(self.bare) is not None

    def take(self) -> str:
        """The present line as it stands; goes on to the next."""
        self.at += 1
        return self._all[self.at - 1]

    def closes(self, sections: Container[str]) -> bool:
        """Whether a closing marker comes before the next opening one."""
        start = self.at
        try:
            while not self.done():
                if self.ends():
                    return True
                if self.opens(sections):
                    return False
                self.at += 1
            return False
        finally:
            self.at = start


def _fenced(lines: list[str]) -> set[int]:
    """The numbers of the lines of fenced blocks of code, fences included.

    A fence that nothing closes is none: a slip of the hand would make text of every section beneath it. Nor is one that
    stands further in than one blank, as the fences of a bullet do: so these lines are the same whatever bullets there are.
    """
    found: set[int] = set()
    fences = [
        (at, match[1], match[2].strip())
        for at, line in enumerate(lines)
        if (match := _FENCE.match(line.removeprefix(BOM) if at == 0 else line))
    ]
    unclosed: set[str] = set()
    place = 0
    while place < len(fences):
        start, mark, words = fences[place]
        place += 1
        if mark in unclosed or (mark[0] == "`" and "`" in words):
            continue
        for other in range(place, len(fences)):
            end, closing, more = fences[other]
            if closing.startswith(mark) and not more:
                found.update(range(start, end + 1))
                place = other + 1
                break
        else:
            unclosed.add(mark)
    return found


def read_block(lines: Lines, section: str, sections: Container[str]) -> Block:
    """Read a section's block, whose opening marker was the line before, up to its end: its closing marker, the next
    section's opening one, a heading, or the end of the file."""
    reader = _Reader(section)
    cut = False
    closed = lines.closes(sections)
    while not lines.done():
        if lines.ends():
            lines.at += 1
            break
        if lines.opens(sections):
            break
        bare = lines.bare
        if lines.fenced:
            reader.own(lines.take())
            continue
        if not reader.in_comment and _HEADING.fullmatch(bare):
            # Before the first bullet it is the section's own, moved inside the markers.
            if reader.has_bullets or not closed:
                cut = True
                break
            reader.own(lines.take())
            continue
        reader.add(bare, lines.take())
    reader.end_bullet()
    before = "".join(reader.before)
    if before and not before.endswith("\n"):
        before += "\n"
    # Before a heading of the user's, empty lines are the user's too.
    after = "".join([*reader.after, *(reader.blank if cut else ())])
    return Block(reader.bullets, before, after, cut)


class _Reader:
    """Tells the lines of a block apart: bullets, what belongs to them, and all else."""

    def __init__(self, section: str) -> None:
        self.section = section
        self.bullets: list[Bullet] = []
        self.before: list[str] = []
        self.after: list[str] = []
        #: Empty lines of which it is not known yet what they belong to.
        self.blank: list[str] = []
        self.in_comment = False
        self._bullet: list[str] = []
        self._indent = self._offset = 0

    @property
    def has_bullets(self) -> bool:
        return bool(self.bullets or self._bullet)

    def add(self, bare: str, raw: str) -> None:
        """Take in a line, which is no marker of ours."""
        if self.in_comment:
            self.own(raw)
            self.in_comment = "-->" not in bare
            return
        if not bare.strip():
            self.blank.append(raw)
            return
        line = _indented(bare)
        indent = len(line) - len(line.lstrip(" "))
        if self._bullet and indent >= self._indent + _DEEPER:
            self._bullet += ["" for _ in self.blank]
            self._bullet.append(line[min(indent, self._offset) :])
            self.blank.clear()
        elif self._starts_text(bare):
            self.own(raw)
        elif (found := _BULLET.fullmatch(line)) is not None:
            self.end_bullet()
            self.blank.clear()
            self._indent = indent
            self._offset = indent + len(found[2]) + min(len(found[3] or " "), 4)
            self._bullet = [found[4] or ""]
        elif self._bullet and not self.blank:
            self._bullet.append(line.lstrip(" "))  # as Markdown has it: the paragraph goes on
        else:
            self.own(raw)

    def _starts_text(self, bare: str) -> bool:
        """Whether a line begins a comment, or is a rule or a fence without its end: no bullet, and no part of one."""
        if bare.startswith("<!--"):
            self.in_comment = "-->" not in bare
            return True
        return _FENCE.match(bare) is not None or _RULE.fullmatch(bare) is not None

    def own(self, raw: str) -> None:
        """A line of the user's own, with the empty lines before it."""
        self.end_bullet()
        where = self.after if self.bullets else self.before
        where += [*self.blank, raw]
        self.blank.clear()

    def end_bullet(self) -> None:
        """The bullet is complete. One that says nothing is none."""
        if not self._bullet:
            return
        first, *rest = self._bullet
        place = _PLACE.search(first)
        text = canonical("\n".join([first[: place.start()] if place else first, *rest]))
        if text:
            self.bullets.append(Bullet(self.section, text, *((place[1], place[2] or "") if place else ())))
        self._bullet = []
