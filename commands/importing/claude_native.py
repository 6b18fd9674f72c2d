"""Claude Code's own memory files: `projects/<slug>/memory/MEMORY.md` and the topic files beside it.

A topic file is one memory. MEMORY.md is an index: what in it only names a topic file is left to that file, and every
other item or paragraph is a memory.
"""

from __future__ import annotations

import os
import re

from mait_code.commands import claude_files
from mait_code.commands import project as projects
from mait_code.commands.importing.mait_code_data import DATABASES
from mait_code.commands.importing.records import Fact, Record
from mait_code.commands.importing.rows import Lost, nothing_kept
from mait_code.commands.importing.texts import fit, name
from mait_code.commands.importing.values import moment
from mait_code.journal import segments
from mait_code.journal.errors import NotFound, Refused
from mait_code.journal.ids import derived_entity
from mait_code.projections.memory_file import without_ours

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from mait_code.commands.importing.records import Importer

NAME = "claude-native"
INDEX = "MEMORY.md"
#: What the client calls a topic, and the type of memory it is.
TYPES = {"user": "preference", "feedback": "preference", "project": "fact", "reference": "fact"}
#: Transcripts looked at for the directory they were made in, and bytes of each.
_TRANSCRIPTS, _HEAD = 5, 256 * 1024
#: Steps of a slug that are tried on the disk.
_TRIES = 20_000

_FRONTMATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^[ \t]*([\w-]+):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]{0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+")
_LINK = re.compile(r"\]\(<?([^)>\s]+\.md)>?(?:#[^)]*)?\)|`([^`\s]+\.md)`")


def bring(importer: Importer, directory: str | None) -> None:
    """Bring in the memory files under a directory. Raises NotFound where there are none, Refused where it is ours."""
    root = directory or claude_files.directory()
    if not os.path.isdir(root):
        is_ = "no directory" if os.path.lexists(root) else "not there"
        raise NotFound(f"{root} is {is_}", "name the client's directory, or a directory of memory files")
    root = os.path.realpath(root)
    if any(_is_ours(importer, one) for one in (root, os.path.dirname(root))):
        raise Refused(
            f"{root} is a data directory of mait-code, not of Claude Code",
            "its memories are here already; from another machine they come with mait-code sync",
        )
    found = list(_memories(importer, root, named=directory is not None))
    if not found and directory:
        raise NotFound(f"{root} holds no memory files of Claude Code", "usually they are in ~/.claude/projects")
    importer.bring("memory", (record for slug, folder in found for record in _of_project(importer, slug, folder)))
    importer.finish(("memory",))


def _memories(importer: Importer, root: str, named: bool) -> Iterator[tuple[str, str]]:
    """(slug of the project, directory of memory files) of each project. Only a directory that the user `named` may be
    anything but the client's own."""
    inside = os.path.join(root, "projects")
    if os.path.isdir(inside) or not named:
        yield from _projects(importer, inside)
    elif os.path.basename(root) == "memory":
        yield os.path.dirname(root), root
    elif os.path.isdir(os.path.join(root, "memory")):
        yield root, os.path.join(root, "memory")
    else:
        yield from _projects(importer, root)


def _projects(importer: Importer, base: str) -> Iterator[tuple[str, str]]:
    for slug in _listed(base):
        home = os.path.join(base, slug)
        folder = os.path.join(home, "memory")
        if os.path.isdir(folder) and not _is_ours(importer, home):
            yield home, folder


def _is_ours(importer: Importer, directory: str) -> bool:
    """Whether a directory is a data directory of this program, the one in use or another, or of an older one."""
    if os.path.realpath(directory) == importer.ws.home.real:
        return True
    has_journal = bool(segments.directories(os.path.join(directory, "journal")))
    return has_journal or any(os.path.isfile(os.path.join(directory, one)) for one in DATABASES)


def _of_project(importer: Importer, home: str, folder: str) -> Iterator[Record]:
    project = project_of(home)
    files = sorted(
        (
            os.path.relpath(os.path.join(place, file), folder)
            for place, _, names in os.walk(folder)
            for file in names
            if file.endswith(".md")
        ),
        key=lambda path: (path != INDEX, path),
    )
    for path in files:
        full = os.path.join(folder, path)
        called = f"{os.path.basename(home)}/memory/{path}"
        if os.path.realpath(full).startswith(importer.ws.home.real + os.sep):
            continue  # a link to our own
        try:
            with open(full, "rb") as file:
                content = file.read()
            text = content.decode("utf-8-sig").replace("\r\n", "\n")
            changed = os.stat(full).st_mtime_ns // 1000
        except (OSError, UnicodeDecodeError) as error:
            importer.lost.append(Lost(called, None, f"it cannot be read: {error}"))
            continue
        theirs = without_ours(text)
        if theirs != text:
            importer.notes.append(f"{called}: what stands in it between the markers of mait-code is not imported")
            text = theirs
        if path == INDEX:
            yield from _index(importer, called, text, project, changed, set(files))
        else:
            record = _topic(importer, called, path, text, project, changed)
            if record is not None:
                yield record


def _topic(importer: Importer, called: str, path: str, text: str, project: str | None, changed: int) -> Record | None:
    fields, body = _parted(text)
    told = fields.get("description") or fields.get("name") or ""
    content = body if told and told in body else f"{told}\n\n{body}".strip()
    if not content:
        importer.lost.append(nothing_kept(called, None, ""))
        return None
    kind = fields.get("type", "").lower()
    wall = moment(fields.get("modified")) or changed
    scoped = None if kind == "user" else project
    record = _memory(importer, called, path, content, TYPES.get(kind, "fact"), scoped, wall, [kind])
    if record is not None:
        _take_the_place(importer, record)
    return record


def _index(
    importer: Importer, called: str, text: str, project: str | None, changed: int, files: set[str]
) -> Iterator[Record]:
    for heading, block in blocks(_parted(text)[1]):
        links = {os.path.normpath(one or other) for one, other in _LINK.findall(block)}
        if links and links <= files:
            continue
        record = _memory(importer, called, INDEX, block, "fact", project, changed, [heading])
        if record is not None:
            yield record


def _memory(
    importer: Importer,
    called: str,
    path: str,
    content: str,
    type_: str,
    project: str | None,
    wall: int,
    tags: list[str],
) -> Record | None:
    texts, notes = fit({"content": content})
    if not texts:
        importer.lost.append(nothing_kept(called, None, content))
        return None
    key = f"claude-native {project or ''}\0{path}\0{type_}\0{content}"
    data: dict[str, Any] = {
        "content": texts["content"],
        "type": type_,
        "scope": "project" if project else "global",
        "project": project,
        "tags": [tag for tag in map(name, tags) if tag] or None,
        "origin": f"{NAME} {project or ''} {path}"[:200],
    }
    fact = Fact("memory.stored", derived_entity("memory", key), key, wall, data)
    return Record("memories", called, None, [fact], notes)


def _take_the_place(importer: Importer, record: Record) -> None:
    """Of a file that changed since this machine last brought it in, what it said then is superseded."""
    from mait_code.journal import replica

    fact = record.facts[0]
    own = replica.load(importer.ws.home)
    store = importer.ws.reading("memory")
    if own is None or store.value("SELECT 1 FROM events WHERE id = ?", (fact.id,)):
        return
    query = "SELECT id FROM memory_entries WHERE origin = ? AND live AND scope = ? AND project IS ?"
    for (id_,) in store.query(query, (fact.data["origin"], fact.data["scope"], fact.data.get("project"))):
        before = f"memory/{id_}"
        if store.value("SELECT 1 FROM events WHERE entity = ? AND replica = ?", (before, own.replica)):
            key = f"{before}\0{fact.entity}"
            record.facts.append(Fact("memory.superseded", before, key, fact.wall, {"by": fact.entity}))


# -- text -------------------------------------------------------------------------------------------------------------


def _parted(text: str) -> tuple[dict[str, str], str]:
    """The fields at the head of a file, and its body."""
    found = _FRONTMATTER.match(text)
    if found is None:
        return {}, text.strip()
    fields = {key.lower(): value.strip("\"'") for key, value in _FIELD.findall(found[1])}
    return fields, text[found.end() :].strip()


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The items and paragraphs of a Markdown text, each under its heading. A list's sub-items go with their item, and a
    fenced block with what it follows."""
    heading, block = "", list[str]()
    fence = ""
    for line in [*text.split("\n"), ""]:
        opened = line.lstrip()[:3]
        if fence or opened in ("```", "~~~"):
            block.append(line)
            fence = "" if fence and opened == fence else fence or opened
            continue
        item, title = _ITEM.match(line), line.startswith("#")
        goes_on = block and line[:1] in (" ", "\t") and line.strip()
        if block and not goes_on and (item or title or not line.strip()):
            yield heading, _plain(block)
            block = []
        if title:
            heading = line.strip("# \t")
        elif line.strip():
            block.append(line)
    if block:
        yield heading, _plain(block)


def _plain(block: list[str]) -> str:
    return "\n".join([_ITEM.sub("", block[0], count=1), *block[1:]]).strip()


# -- the project of a slug --------------------------------------------------------------------------------------------


def project_of(home: str) -> str | None:
    """The project whose memory a directory of the client's `projects` holds; its slug where that cannot be told."""
    slug = os.path.basename(home)
    directory = _from_transcripts(home, slug) or _from_disk(slug)
    return projects.here(directory) if directory else name(slug, end=True)


def _from_transcripts(home: str, slug: str) -> str:
    """The directory a transcript beside the memory says it was made in."""
    import orjson

    transcripts = [one for one in _listed(home) if one.endswith(".jsonl") and not one.startswith("agent-")]
    for transcript in transcripts[-_TRANSCRIPTS:]:
        try:
            with open(os.path.join(home, transcript), "rb") as file:
                lines = file.read(_HEAD).split(b"\n")[:-1]
        except OSError:
            continue
        for line in lines:
            if b'"cwd"' not in line:
                continue
            try:
                raw = orjson.loads(line)
            except orjson.JSONDecodeError:
                continue
            cwd = raw.get("cwd") if isinstance(raw, dict) else None
            if isinstance(cwd, str) and claude_files.slug_of(cwd)[:200] == slug[:200]:
                return cwd
    return ""


def _from_disk(slug: str) -> str:
    """The directory of that slug, found by walking down from the root."""
    tries = _TRIES
    waiting = ["/"]
    while waiting and tries:
        place = waiting.pop()
        for one in reversed(_listed(place)):
            tries -= 1
            path = os.path.join(place, one)
            made = claude_files.slug_of(path)
            if slug == made and os.path.isdir(path):
                return path
            if slug.startswith(made + "-") and os.path.isdir(path):
                waiting.append(path)
            if not tries:
                break
    return ""


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []
