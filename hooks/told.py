"""What was found, as lines for the model: each says what it is and when it was stored."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from mait_code.commands.workspace import Workspace
    from mait_code.projections.search import Finding

#: Characters of one text.
_LENGTH = 300


def told(ws: Workspace, found: Iterable[Finding]) -> str:
    """One line for each."""
    from mait_code.commands.context_text import one_line
    from mait_code.projections.ids import Shorts

    shorts = Shorts(ws.reading("memory"))
    rows = []
    for one in found:
        said = one_line(one.text, _LENGTH)
        rows.append(f"- {shorts.of(one.entity)} {one.type or one.kind}, {one.created_at[:10]}: {said}")
    return "\n".join(rows)
