"""Finding from the command line: memories, and everything else that is found like them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from mait_code.commands.cli.board_closing import local_time
from mait_code.commands.cli.frame import argument, command, option, pass_workspace
from mait_code.commands.cli.memory import beginning, for_place

if TYPE_CHECKING:
    from mait_code.commands.output import Output
    from mait_code.commands.workspace import Workspace

#: Seconds that a search may spend on embedding what has no vectors yet, besides its own question.
FILLING = 0.3


@command("search")
@argument("query", nargs=-1)
@option("--limit", "-n", type=click.IntRange(1, 1000), default=10, show_default=True, help="How many at most.")
@option(
    "--mode",
    type=click.Choice(["hybrid", "fts", "vector"]),
    default="hybrid",
    show_default=True,
    help="By words, by meaning, or both.",
)
@option("--rank", type=click.Choice(["best", "classic"]), help="How to order (the setting ranking by default).")
@option(
    "--kind", "kinds", metavar="KIND", multiple=True, help="memory, observation, summary, prompt or turn; repeatable."
)
@option("--type", "type_", metavar="TYPE", default="", help="Only this sort of memory or observation.")
@option("--concept", metavar="NAME", default="", help="Only observations about this concept.")
@option("--file", metavar="PATH", default="", help="Only what read or changed this file.")
@option("--tag", metavar="TAG", default="", help="Only memories with this tag.")
@option("--session", metavar="ID", default="", help="Only what comes from this session.")
@option("--since", metavar="WHEN", help="Only what is not older: 24h, 7d, 1w, or a date.")
@option("--until", metavar="WHEN", help="Only what is older.")
@option(
    "--stdin",
    "from_stdin",
    is_flag=True,
    help="Read one question a line, and answer each as it comes with a line of JSON.",
)
@for_place
@pass_workspace
def search(
    ws: Workspace,
    out: Output,
    query: tuple[str, ...],
    limit: int,
    mode: str,
    rank: str | None,
    kinds: tuple[str, ...],
    type_: str,
    concept: str,
    file: str,
    tag: str,
    session: str,
    since: str | None,
    until: str | None,
    from_stdin: bool,
    scope: str | None,
    project: str | None,
    branch: str | None,
) -> None:
    """Find memories, and observations, summaries, prompts and turns, best first.

    Any question will do: what shares its words or its meaning is found.
    """
    from mait_code.commands import memory_lines, memory_search, memory_times

    asked = memory_search.Asked(
        limit=limit, mode=mode, rank=rank or "", kinds=kinds, type_=type_, concept=concept, file=file, tag=tag,
        session=session, since=memory_times.since(since), until=memory_times.since(until), scope=scope or "",
        project=project, branch=branch,
    )  # fmt: skip
    memory_lines.refuse_words(query) if from_stdin else memory_lines.require_words(query)
    meanings = memory_search.Meanings(ws)
    try:
        if from_stdin:
            _answer(ws, out, asked, meanings)
        else:
            _show(ws, out, " ".join(query), asked, meanings)
    finally:
        meanings.close()


def _answer(ws: Workspace, out: Output, asked: Any, meanings: Any) -> None:
    """One line for each question, sent off as soon as it is known: whoever asks may wait for it before asking on."""
    from mait_code.commands import memory_questions, memory_search
    from mait_code.projections import ids

    if asked.mode != "fts":
        with out.progress("embedding") as progress:
            meanings.fill(step=progress.at)
    store = ws.reading("memory")
    for questions in memory_questions.waiting():
        shorts = ids.Shorts(store)
        for text, found in zip(questions, memory_search.answers(ws, questions, asked, meanings), strict=True):
            hits = [memory_search.hit(one, shorts.of(one.entity)) for one in found]
            out.line(memory_search.dumps({"query": text, "hits": hits}))
            out.flush()
        store = ws.refreshed("memory")  # what was stored before the next question is asked


def _show(ws: Workspace, out: Output, text: str, asked: Any, meanings: Any) -> None:
    from mait_code.commands import memory_search
    from mait_code.projections import ids

    if asked.mode != "fts":
        meanings.refresh(text, FILLING)
    (found,) = memory_search.search_all(ws, [text], asked, meanings)
    shorts = ids.Shorts(ws.reading("memory"))
    if out.json:
        out.data({"query": text, "hits": [memory_search.hit(one, shorts.of(one.entity)) for one in found]})
        return
    if not found:
        out.line(f"Nothing found for {text!r}.")
    for one in found:
        what = one.type if one.kind == "memory" else f"{one.kind}{f' ({one.type})' if one.type else ''}"
        out.line(
            out.style(f"{shorts.of(one.entity):<6}", "bold"),
            out.style(f" {local_time(one.created_at)[:10]}  {what:<12} ", "dim"),
            beginning(one.title or one.text, 100),
        )
