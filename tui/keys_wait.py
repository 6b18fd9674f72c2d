"""What happens quicker, or later, than a screen is there: keys before it came up, work when it is being closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence
    from typing import Any, Protocol

    from textual.dom import DOMNode

    class _Mounts(Protocol):
        @property
        def is_mounted(self) -> bool: ...
        @property
        def children(self) -> Sequence[object]: ...


__all__ = ["KeysWait", "start"]


class KeysWait:
    """Mixed into a screen: what its keys do needs its widgets, so they do nothing until those are there."""

    def check_action(self: _Mounts, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """Whether an action may run now."""
        return self.is_mounted and bool(self.children)


def start(node: DOMNode, work: Callable[[], Coroutine[Any, Any, None]], group: str, exclusive: bool = False) -> None:
    """Run `work` beside everything else; `exclusive` cancels what of its group still runs for this node.

    The function is handed on, not its coroutine: where the house closes before its turn came, nothing was begun.
    """
    node.run_worker(cast("Any", work), group=group, exclusive=exclusive)
