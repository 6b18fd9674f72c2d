"""What people and programs do to cards: one function per kind of event."""

from __future__ import annotations

from typing import Any

from convergence.turns import Turn, operation
from mait_code.journal import ids

COLUMNS = ("in_progress", "done", "backlog", "in_review")


@operation("card.created")
def create(turn: Turn) -> None:
    number = turn.machine.store("card").query("SELECT coalesce(max(number), 0) + 1 FROM entities")[0][0]
    turn.append(
        "card.created",
        ids.new_entity("card"),
        title=f"card {turn.value}",
        priority=("high", "low")[turn.value % 2],
        column=COLUMNS[turn.value % 4],
        number=number,
        project="acme/shop",
    )


@operation("card.edited")
def edit(turn: Turn) -> None:
    fields: list[dict[str, Any]] = [
        {"title": f"title {turn.pick % 2}"},
        {"title": "both", "description": f"text {turn.pick}"},
        {"completion_summary": "done so", "priority": "medium"},
        {"acceptance_criteria": None, "project": None},
    ]
    turn.append("card.edited", turn.known("card"), **fields[turn.value % 4])


@operation("card.moved")
def move(turn: Turn) -> None:
    turn.append("card.moved", turn.known("card"), column=COLUMNS[turn.value % 4])


@operation("card.tagged")
def tag(turn: Turn) -> None:
    turn.append("card.tagged", turn.known("card"), tag=f"tag {turn.value % 2}")


@operation("card.untagged")
def untag(turn: Turn) -> None:
    turn.append("card.untagged", turn.known("card"), tag=f"tag {turn.value % 2}")


@operation("card.commented")
def comment(turn: Turn) -> None:
    author = {"author": "somebody"} if turn.value == 3 else {}
    turn.append("card.commented", turn.known("card"), body=f"says {turn.value}", **author)


@operation("card.comment_deleted")
def comment_deleted(turn: Turn) -> None:
    card = turn.known("card")
    comment = turn.standing(card, "comment", "stands")
    turn.append("card.comment_deleted", card if comment else "", comment=comment)


@operation("card.referenced")
def reference(turn: Turn) -> None:
    turn.append("card.referenced", turn.known("card"), label="pull request", value=f"#{turn.value}")


@operation("card.unreferenced")
def unreference(turn: Turn) -> None:
    card = turn.known("card")
    reference = turn.standing(card, "reference", "stands")
    turn.append("card.unreferenced", card if reference else "", reference=reference)


@operation("card.bound")
def bind(turn: Turn) -> None:
    turn.append("card.bound", turn.known("card"), by={"session": f"session-{turn.value}"})


@operation("card.unbound")
def unbind(turn: Turn) -> None:
    turn.append("card.unbound", turn.known("card"))


@operation("card.deleted")
def delete(turn: Turn) -> None:
    turn.append("card.deleted", turn.known("card"))


@operation("card.restored")
def restore(turn: Turn) -> None:
    card = turn.known("card", deleted=True)
    if turn.value % 2 == 0 and card:
        turn.append("card.restored", card, register="deleted")
        return
    card = turn.known("card")
    for what in ("comment", "reference"):
        found = turn.standing(card, what, "does not")
        turn.append("card.restored", card if found else "", register=f"{what}:{found}")


@operation("card.claimed")
def claim(turn: Turn) -> None:
    """Two events in one action, of different registers."""
    card = turn.known("card")
    turn.append("card.moved", card, column="in_progress")
    turn.append("card.bound", card, by={"session": f"session-{turn.value}"})


@operation("card.reconsidered")
def reconsider(turn: Turn) -> None:
    """Two writes of one register in one action: the second has seen the first."""
    card = turn.known("card")
    turn.append("card.moved", card, column="in_review")
    turn.append("card.moved", card, column=COLUMNS[turn.value % 4])
