"""The themes' colours, as plain data: the screens make their themes of it, the command line its console's styles.

Colours are #rrggbb. Names are those of the setting `theme`; one without `mait-` means the same.
"""

from __future__ import annotations

__all__ = ["DEFAULT", "PALETTES", "Palette", "named"]

DEFAULT = "mait-dark"
_FAMILY = "mait-"


class Palette:
    """The colours of one theme. `panel` lies on `surface`, which lies on `background`."""

    __slots__ = (
        "accent",
        "background",
        "dark",
        "error",
        "foreground",
        "name",
        "panel",
        "primary",
        "secondary",
        "success",
        "surface",
        "warning",
    )

    def __init__(self, name: str, dark: bool, ground: str, colours: str) -> None:
        self.name = name
        self.dark = dark
        self.background, self.surface, self.panel, self.foreground = ground.split()
        self.primary, self.secondary, self.accent, self.success, self.warning, self.error = colours.split()


#: Ground: background, surface, panel, text. Colours: primary, secondary, accent, success, warning, error.
_TABLE = (
    Palette(
        "mait-dark", True, "#12141c #191c27 #242938 #dde2ee", "#7db0ff #a99bff #ffb870 #7fd99a #f4c96b #ff7a8a"
    ),
    Palette(
        "mait-bubblegum", True, "#1c121d #271929 #38243b #fbeaf6", "#ff85cb #bb9bff #7fe3ff #90e8ac #ffd77a #ff7c96"
    ),
    Palette(
        "mait-aurora", True, "#0c171b #112228 #1b323a #dcf1ed", "#57d9bd #86bdff #c9a4ff #9be28c #f0d277 #ff8585"
    ),
    Palette(
        "mait-ember", True, "#18110e #231814 #35251d #f5e8dd", "#ff945a #e3ad66 #ffd775 #aecf78 #ffc95e #ff7468"
    ),
    Palette(
        "mait-syntax", True, "#101311 #181d1a #252c28 #d6ddd6", "#74c7ec #cba6f7 #f2b880 #a8d98a #ecd27c #f38a94"
    ),
    Palette(
        "mait-light", False, "#f6f6f2 #fdfdfb #e7e8e2 #22252c", "#2757c4 #6b45bf #9a4a12 #216a3a #805600 #b32638"
    ),
)  # fmt: skip
PALETTES = {one.name: one for one in _TABLE}


def named(name: str) -> Palette | None:
    """The palette of a theme's name, with or without `mait-`; None where it is none of ours."""
    name = name.strip().lower()
    return PALETTES.get(name) or PALETTES.get(_FAMILY + name)
