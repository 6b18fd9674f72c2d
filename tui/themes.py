"""Themes: ours, made of the palettes that the command line shares, beside those that Textual brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.theme import Theme

from mait_code.commands import palette
from mait_code.journal import settings

if TYPE_CHECKING:
    from typing import Any

    from textual.app import App

__all__ = ["chosen", "register"]

#: Textual's own that need a terminal's 16 colours to be what they are meant to be.
_UNWANTED = ("textual-ansi", "ansi-dark", "ansi-light")


def register(app: App[Any]) -> None:
    """Make our themes known to an app."""
    for one in palette.PALETTES.values():
        app.register_theme(_theme(one))
    for name in _UNWANTED:
        if name in app.available_themes:
            app.unregister_theme(name)


def chosen(app: App[Any]) -> str:
    """The theme that the settings name; one that is not known means the default."""
    name = str(settings.value("theme"))
    ours = palette.named(name)
    if ours is not None:
        return ours.name
    return name if name in app.available_themes else palette.DEFAULT


def _theme(one: palette.Palette) -> Theme:
    return Theme(
        one.name,
        primary=one.primary,
        secondary=one.secondary,
        accent=one.accent,
        foreground=one.foreground,
        background=one.background,
        surface=one.surface,
        panel=one.panel,
        success=one.success,
        warning=one.warning,
        error=one.error,
        dark=one.dark,
        variables={
            "block-cursor-background": one.primary,
            "block-cursor-foreground": one.background,
            "block-cursor-text-style": "none",
            "footer-key-foreground": one.accent,
            "input-selection-background": f"{one.primary} 35%",
        },
    )
