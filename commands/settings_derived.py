"""What follows from the settings and is none itself: where files are, and how long a vector is. For reading only."""

from __future__ import annotations

from mait_code.journal import settings
from mait_code.journal.errors import BadInput
from mait_code.journal.home import Home

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["listing", "one", "refuse"]


def _dimension(home: Home) -> object:
    """Numbers of a vector; 0 where there is no model."""
    from mait_code.projections.model_files import Wanted, resolve

    found = resolve(home, Wanted.from_settings()).found
    return 0 if found is None else found.dimension


def _models(_home: Home) -> object:
    from mait_code.projections.model_files import own_cache

    return own_cache()


def _bridge(_home: Home) -> object:
    from mait_code.commands import bridge_config

    return bridge_config.path()


#: Each with how it is found, and what it is. The names are those that mait-code had for them before.
_DERIVED: dict[str, tuple[Callable[[Home], object], str]] = {
    "embedding-dim": (_dimension, "Numbers in a vector of the model in use; 0 where there is none."),
    "memory-db-path": (lambda home: home.in_state("memory.db"), "The store of memories, made from the journal."),
    "reminders-db-path": (lambda home: home.in_state("reminders.db"), "The store of reminders, made from the journal."),
    "bridge-config-path": (_bridge, "The bridge's channel on this machine."),
    "model-cache-dir": (_models, "Where models lie that are fetched by name."),
    "observations-dir": (lambda home: home.journal, "The journal, which holds observations like all else."),
    "project-aliases-path": (
        lambda home: home.in_state("projects.db"),
        "Other names of projects, made from the journal.",
    ),
    "dashboard-config-path": (lambda home: home.in_data("dashboard.toml"), "The tiles of the start page."),
}


def listing() -> list[dict[str, Any]]:
    """Every one with its value."""
    return [found for key in _DERIVED if (found := one(key)) is not None]


def one(key: str) -> dict[str, Any] | None:
    """One of them with its value; None for any other key."""
    if key not in _DERIVED:
        return None
    ask, says = _DERIVED[key]
    return {"key": key, "value": ask(Home(str(settings.value("data-dir")))), "source": "derived", "help": says}


def refuse(key: str) -> None:
    """Raise BadInput for a key that nobody can set."""
    if key in _DERIVED:
        raise BadInput(f"{key} follows from other settings", "it can be read, not set")
