"""Memories from the command line: storing, and what the other memory commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mait_code.commands.cli.board_closing import local_time
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.output import counted

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace
    from mait_code.projections.memory_queries import Memory

#: The importance that is not worth a word, and characters of an id in a remark.
USUAL, SHORT = 5, 8
SCOPE = click.Choice(["global", "project", "branch", "all"])


def for_place(function: Any) -> Any:
    """The options that say where a memory belongs, or from where it is seen."""
    function = option("--branch", metavar="NAME", help="The branch (this directory's by default).")(function)
    function = option("--project", metavar="NAME", help="The project (this directory's by default; empty for none).")(
        function
    )
    return option("--scope", type=SCOPE, help="global, project, branch, or all.")(function)


@command("store")
@argument("content", nargs=-1)
@option("--type", "type_", metavar="TYPE", default="fact", show_default=True, help="What sort of memory it is.")
@option("--importance", type=click.IntRange(1, 10), help="From 1 to 10; 5 where it is not said.")
@option("--tag", "tags", metavar="TAG", multiple=True, help="A tag; repeatable.")
@option("--stdin", "from_stdin", is_flag=True, help="Read JSON lines, one memory each, and store them in one action.")
@for_place
@pass_workspace
def store(
    ws: Workspace,
    out: Output,
    content: tuple[str, ...],
    type_: str,
    importance: int | None,
    tags: tuple[str, ...],
    from_stdin: bool,
    scope: str | None,
    project: str | None,
    branch: str | None,
) -> None:
    """Store a memory.

    A single dash as the text reads stdin. With --stdin each line is an object: content, and if you like type, importance,
    scope, project, branch, session, at, ref, tags.
    """
    from mait_code.commands import memory, stored_text
    from mait_code.commands.cli.board_options import words_or_stdin
    from mait_code.commands.memory_scope import here, refuse_contradiction

    refuse_contradiction(scope, project, branch)
    named = [stored_text.name(tag, "a tag") for tag in tags]
    if project is not None:
        from mait_code.commands.memory_seen import known_as

        project = known_as(ws, project)
        scope = scope or (None if project else "global")
    place = here(memory.scope_named(scope) if scope else "", project, branch)
    if from_stdin:
        from mait_code.commands import memory_lines

        memory_lines.refuse_words(content)
        new, again = memory_lines.store(ws, memory_lines.from_stdin(), type_, importance, place, named, out.note)
        out.data({"stored": new, "seen": again}) if out.json else out.line(
            f"Stored {new}, {counted(again, 'was', 'were')} known already."
        )
        return
    made, notes = memory.draft(words_or_stdin(content), type_, importance, place, tags=named)
    stored = memory.store(ws, made)
    for note in notes:
        out.note(note)
    if out.json:
        similar = [
            {"id": one.id, "short": one.short, "similarity": round(ratio, 4), "content": one.content}
            for one, ratio in stored.close
        ]
        away = stored.put_away.json() if stored.put_away is not None else None
        out.data({**stored.memory.json(), "deduplicated": stored.joined, "similar": similar, "put_away": away})
        return
    did = "Known already" if stored.joined else "Stored"
    out.line(f"{did} ", out.style(stored.memory.short, "bold"), ": ", stored.memory.first_line)
    if stored.put_away is not None:
        gone = stored.put_away
        how = f"superseded by {gone.superseded_by[:SHORT]}" if gone.superseded_by else "retired"
        out.warn(f"{gone.short} says the same and was {how}; this one counts all the same")
    if stored.close:
        out.warn("this may contradict what is known:")
        for one, ratio in stored.close:
            out.note(f"  {one.short}  {_alike(stored.memory.content, one.content, ratio)}  {one.first_line}")
        out.note(f"if it does: mait-code memory supersede {stored.close[0][0].short} TEXT")


def _alike(text: str, other: str, similarity: float) -> str:
    """How alike two texts are that are not the same memory."""
    if text.casefold().split() == other.casefold().split():
        return "the same but for capitals:"
    return f"{min(99, round(similarity * 100))} %"  # what makes two of them weighs little, and is no nothing


def row(out: Output, memory: Memory) -> None:
    """One memory on one line: id, date, type, importance where it is not the usual, and its beginning."""
    what = memory.entry_type + (f" {memory.importance}" if memory.importance != USUAL else "")
    out.line(
        out.style(f"{memory.short:<6}", "bold"),
        out.style(f" {local_time(memory.created_at)[:10]}  {what:<13} ", "dim"),
        beginning(memory.content),
        out.style(marks(memory), "yellow" if memory.conflicts or memory.newer else "cyan"),
    )


def beginning(text: str, longest: int = 120) -> str:
    """The beginning of a text on one line."""
    line = " ".join(text[: longest * 4].split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def marks(memory: Memory) -> str:
    """What else is to be said of a memory on its line."""
    said = []
    if memory.superseded_by:
        said.append(f"superseded by {memory.superseded_by[:SHORT]}")
    if memory.retired_at:
        said.append("retired")
    if memory.pinned:
        said.append("pinned")
    if memory.seen_count > 1:
        said.append(f"seen {memory.seen_count} times")
    if memory.newer:
        said.append("written by a newer version")
    if memory.conflicts:
        said.append(f"!conflict: {', '.join(memory.conflicts)}")
    return "".join(f" ({one})" for one in said)
