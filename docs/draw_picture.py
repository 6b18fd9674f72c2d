"""Draws docs/pictures, from what is really shown: python docs/draw_picture.py [--check]

tour.svg has the heart of the tour: two machines offline, one card moved to two columns, sync, the pick, equal digests. It
is drawn anew only where the tour has changed in more than ids, times and digests. The screens are those that the tests
compare with the program, without what asks for a font from afar. --check says by exit code 1 what is out of date, and
draws nothing.
"""

from __future__ import annotations

import html
import io
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from mait_code.commands import tour

if TYPE_CHECKING:
    from mait_code.commands.tour import Step

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/pictures/tour.svg"
#: Screens in the docs, and the pictures of the tests that they are.
SCREENS = {
    "board": "board-120x40-dark",
    "card": "board-card-120x40-dark",
    "conflicts": "conflicts-120x40-dark",
    "graph": "graph-120x40-dark",
    "home": "home-120x40-light",
    "inbox": "inbox-120x40-dark",
    "logs": "logs-120x40-light",
    "memory": "memory-120x40-dark",
    "observations": "observations-120x40-light",
    "reminders": "reminders-120x40-dark",
    "review": "review-120x40-light",
    "settings": "settings-120x40-dark",
    "timeline": "timeline-120x40-dark",
}
WIDTH = 88
#: The part that is shown: from the step so explained to the one before the step so explained.
FIRST, BEYOND = "Now both are offline", "The databases are only a cache"
#: Of these steps, those of the card: the others travel along.
TOLD = ("board", "sync", "conflicts", "digest")
#: The renderer asks for a font from afar; what the reader's machine has must do.
_FONT_FACES = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_BY_WHOM = re.compile(r"<!--.*?-->")
#: Line ends, which are drawn as texts of their own.
_NOTHING = re.compile(r'<text class="tour-r\d+"[^>]*>\n</text>')
_INDENTED = re.compile(r'x="([\d.]+)" (y="[\d.]+") textLength="([\d.]+)"([^>]*)>((?:&#160;)+)')
#: Width of a character, as the renderer has it.
_CELL = 12.2
_FONTS = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
#: What differs from one tour to the next.
_VOLATILE = re.compile(r"\b(?:[0-9a-f]{64}|\d+[a-z]{2}|\d{4}-\d\d-\d\d \d\d:\d\d)\b")


def shown() -> list[Step]:
    """The steps of the tour that are in the picture. Runs the tour."""
    steps: list[Step] = []
    tour.take(steps.append)
    explained = [step.explained for step in steps]
    first = next(number for number, text in enumerate(explained) if text.startswith(FIRST))
    beyond = next(number for number, text in enumerate(explained) if text.startswith(BEYOND))
    return [step for step in steps[first:beyond] if step.command.split()[1] in TOLD]


def lines(steps: list[Step]) -> list[Text]:
    """The steps as the tour prints them; of a digest only the total."""
    found: list[Text] = []
    for step in steps:
        if step.explained:
            found += [Text(), Text(step.explained, style="bold")]
        prompt = Text(f"  {step.machine} $ ", style="cyan")
        found.append(prompt.append(step.command, style="default"))
        printed = step.printed.splitlines()
        found += [Text(f"    {row}") for row in (printed[-1:] if step.command.endswith("digest") else printed)]
    return found[1:]


def draw(rows: list[Text]) -> str:
    """The picture. It names no other host and needs no file beside it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    for row in rows:
        console.print(row, soft_wrap=False, overflow="fold", highlight=False)
    picture = stand_alone(console.export_svg(title="./dev tour, the heart of it", unique_id="tour"))
    picture = _INDENTED.sub(_set_in, _NOTHING.sub("", picture))
    return _tidy(picture)


def screens() -> dict[Path, str]:
    """The pictures of screens, by where they stand."""
    kept = {name: ROOT / f"tests/pictures/{source}.svg" for name, source in SCREENS.items()}
    return {
        ROOT / f"docs/pictures/{name}.svg": _tidy(_INDENTED.sub(_set_in, stand_alone(path.read_text(encoding="utf-8"))))
        for name, path in kept.items()
    }


def stand_alone(picture: str) -> str:
    """A picture that names no other host."""
    return _BY_WHOM.sub("", _FONT_FACES.sub("", picture).replace("Fira Code, monospace", _FONTS))


def _tidy(picture: str) -> str:
    return "\n".join(line.rstrip() for line in picture.splitlines()) + "\n"


def _set_in(found: re.Match[str]) -> str:
    """Indentation by place: some viewers drop the blanks a text begins with."""
    blank = found[5].count(";") * _CELL
    return f'x="{float(found[1]) + blank:g}" {found[2]} textLength="{float(found[3]) - blank:g}"{found[4]}>'


def words(picture: str) -> list[str]:
    """The text of a picture, line by line, without what differs from one tour to the next."""
    found: dict[str, str] = {}
    for line, text in re.findall(
        r'<text class="tour-r\d+"[^>]*clip-path="url\(#tour-line-(\d+)\)">(.*?)</text>', picture
    ):
        found[line] = found.get(line, "") + html.unescape(text).replace("\xa0", " ")
    return [_VOLATILE.sub("…", text).rstrip() for _line, text in sorted(found.items(), key=lambda pair: int(pair[0]))]


def out_of_date() -> dict[Path, str]:
    """The pictures that are not what is shown today, and what they should be. Takes the tour."""
    wanted = screens()
    found = {path: picture for path, picture in wanted.items() if not _says(path, picture)}
    picture = draw(lines(shown()))
    if not PICTURE.is_file() or words(PICTURE.read_text(encoding="utf-8")) != words(picture):
        found[PICTURE] = picture
    return found


def _says(path: Path, picture: str) -> bool:
    return path.is_file() and path.read_text(encoding="utf-8") == picture


def main(arguments: list[str]) -> int:
    """Draw the pictures that are out of date, or say which those are."""
    found = out_of_date()
    for path, picture in found.items():
        name = path.relative_to(ROOT)
        if "--check" in arguments:
            print(f"{name} is not what is shown; run: .venv/bin/python docs/draw_picture.py", file=sys.stderr)
            continue
        path.parent.mkdir(exist_ok=True)
        path.write_text(picture, encoding="utf-8")
        print(f"drew {name}")
    return 1 if found and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
