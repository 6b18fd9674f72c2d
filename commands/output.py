"""The one place that writes: data to stdout, everything else to stderr.

Text that people stored is made visible before it is written: control characters, escape sequences and the
characters that reverse reading order come out as their escapes, so no title can move the cursor, rewrite the
screen or disguise itself. Only `Output.style` makes text that passes as it is.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType
    from typing import IO, Any, Self

__all__ = ["IN_LIST", "Output", "Progress", "Styled", "counted", "cut", "make_streams_safe", "path_text", "visible"]

#: Cells of a title in a line of a list, or in what a command says it did, that goes to no terminal. JSON has all of it.
IN_LIST = 200

_SGR = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "underline": "4",
    "strike": "9",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}

#: What the colours are called in a palette.
_ROLES = {
    "red": "error",
    "green": "success",
    "yellow": "warning",
    "blue": "primary",
    "magenta": "secondary",
    "cyan": "accent",
}

# Marks, embeddings, overrides and isolates that reorder text, and the line separators that terminals and pagers honour.
_REORDERING = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SEPARATORS = (0x2028, 0x2029)

_tables: dict[bool, dict[int, str]] = {}


def _table(multiline: bool) -> dict[int, str]:
    table = _tables.get(multiline)
    if table is None:
        table = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))}
        table |= {code: f"\\u{code:04x}" for code in (*_REORDERING, *_SEPARATORS)}
        table |= {0x09: "\\t", 0x0A: "\\n", 0x0D: "\\r"}
        if multiline:
            del table[0x09], table[0x0A]
        _tables[multiline] = table
    return table


def visible(text: str, multiline: bool = False) -> str:
    """The text with every character that would act on a terminal written out as its escape.

    With `multiline`, newlines and tabs stay as they are.
    """
    return text if text.isprintable() else text.translate(_table(multiline))


def path_text(path: str | bytes) -> str:
    """A path as text that can be printed and put into JSON, whatever the locale took its bytes for."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def counted(count: int, what: str, several: str = "") -> str:
    """A number with its noun: "1 event", "2 events"; `several` where that is not the noun and an s."""
    return f"{count} {what}" if count == 1 else f"{count} {several or what + 's'}"


def cut(text: str, width: int) -> str:
    """The text cut to a number of terminal cells, with an ellipsis where it was longer."""
    if text.isascii():
        return text if len(text) <= width else text[: width - 1] + "…"
    from unicodedata import combining, east_asian_width

    used = 0
    for place, letter in enumerate(text):
        cells = 0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1
        if used + cells > width - 1 and place + 1 < len(text):
            return text[:place] + "…"
        used += cells
    return text


class Styled(str):
    """Text that is already safe to write and may hold our own colour sequences."""

    __slots__ = ()


def make_streams_safe() -> None:
    """Make writing succeed whatever the locale: UTF-8 out, and no character that cannot be encoded.

    A standard stream that the caller closed is opened on the null device: otherwise the next file opened would get its
    number, and whatever a child process prints would end up inside that file.
    """
    while sys.stdin is None or sys.stdout is None or sys.stderr is None:
        number = os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(number, True)
        if number == 0:
            sys.stdin = os.fdopen(number, "r", encoding="utf-8")
        elif number == 1:
            sys.stdout = os.fdopen(number, "w", encoding="utf-8")
        elif number == 2:
            sys.stderr = os.fdopen(number, "w", encoding="utf-8")
        else:
            os.close(number)
            break
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _is_terminal(stream: IO[str]) -> bool:
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except (AttributeError, ValueError):
        return False


def _wants_colour(stream: IO[str], no_colour: bool) -> bool:
    if no_colour or os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return _is_terminal(stream)


class Output:
    """Where a command writes. `json` tells a command to write data with `data` and nothing with `line`."""

    def __init__(self, json: bool = False, no_colour: bool = False) -> None:
        self.json = json
        #: Whether stdout is a terminal that understands cursor movement: rich layout is for this case only.
        self.terminal = _is_terminal(sys.stdout)
        self.colour = not json and _wants_colour(sys.stdout, no_colour)
        self._stderr_terminal = _is_terminal(sys.stderr)
        self._stderr_colour = _wants_colour(sys.stderr, no_colour)
        self._codes: dict[str, str] = {}
        self._said: set[str] = set()

    def line(self, *parts: str) -> None:
        """One line of data on stdout. The parts are joined without a space."""
        sys.stdout.write("".join([part if type(part) is Styled else visible(part) for part in parts]) + "\n")

    def lines(self, rows: Iterable[str]) -> None:
        """Several lines of data on stdout."""
        for row in rows:
            self.line(row)

    def block(self, text: str, indent: str = "") -> None:
        """A body of several lines on stdout: newlines and tabs are kept, everything else is made visible."""
        for row in text.split("\n"):
            sys.stdout.write(f"{indent}{visible(row, multiline=True)}".rstrip() + "\n")

    def data(self, value: Any) -> None:
        """One JSON document on stdout: indented for people, compact for programs, non-ASCII text kept.

        Characters that act on a terminal are written as JSON escapes, which mean the same to every reader.
        """
        import orjson

        text = orjson.dumps(value, option=orjson.OPT_INDENT_2 if self.terminal else None).decode()
        if not text.isprintable():
            # JSON's own control characters are escaped already: a newline left here is layout.
            table = {code: f"\\u{code:04x}" for code in _table(True) if code >= 0x7F}
            text = text.translate(table)
        sys.stdout.write(text + "\n")

    def style(self, text: str, *names: str) -> Styled:
        """Safe text, coloured where colour is wanted. Names: bold dim italic underline strike and six colours."""
        return Styled(self._paint(visible(text), names, self.colour))

    def _paint(self, text: str, names: Iterable[str], colour: bool) -> str:
        if not colour:
            return text
        if not self._codes:
            self._codes = _SGR | _theme_codes()
        codes = ";".join(self._codes[name] for name in names)
        return f"\x1b[{codes}m{text}\x1b[0m" if codes else text

    def flush(self) -> None:
        """Send what has been written so far: for commands that go on for long."""
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """One line on stderr that is neither data nor a warning; each is said once in a run."""
        self._say_once(visible(text))

    def warn(self, text: str) -> None:
        """One line on stderr about something that went on in spite of a doubt; each is said once in a run."""
        self._say_once(self._paint("warning: ", ("yellow",), self._stderr_colour) + visible(text))

    def error(self, message: str, hint: str = "") -> None:
        """What failed, and on a second line what to do about it, both on stderr."""
        try:
            sys.stdout.flush()
        except OSError:
            # Data that cannot be written is reported by whoever flushes last; it must not swallow this message.
            pass
        self._say(self._paint("mait-code: ", ("red",), self._stderr_colour) + visible(message))
        if hint:
            self._say(self._paint("hint: ", ("dim",), self._stderr_colour) + visible(hint))

    def _say_once(self, text: str) -> None:
        # Several parts of one command may meet the same obstacle, a full disk above all.
        if text not in self._said:
            self._said.add(text)
            self._say(text)

    def _say(self, text: str) -> None:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def progress(self, label: str, total: int = 0, after: float = 1.0) -> Progress:
        """A counter on stderr, shown on a terminal once `after` seconds have passed; use it as a context manager.

        With `after=0` the label shows at once, for a single long wait that cannot count.
        """
        return Progress(label, total, after, self._stderr_terminal)


def _theme_codes() -> dict[str, str]:
    """Our six colours as the theme has them that somebody chose, where the terminal can show them."""
    if os.environ.get("COLORTERM") not in ("truecolor", "24bit"):
        return {}
    from mait_code.journal import settings

    theme = settings.resolve("theme")
    if theme.source == "default":
        return {}  # nobody chose: a terminal's own colours suit its background
    from mait_code.commands import palette

    chosen = palette.named(str(theme.value))
    if chosen is None:
        return {}
    found = {}
    for name, role in _ROLES.items():
        red, green, blue = bytes.fromhex(getattr(chosen, role)[1:])
        found[name] = f"38;2;{red};{green};{blue}"
    return found


class Progress:
    """A line that counts and then takes itself away."""

    def __init__(self, label: str, total: int, after: float, shown: bool) -> None:
        self.done = 0
        self._label = visible(label)
        self._total = total
        self._shown = shown
        self._due = 0.0
        self._after = after
        self._drawn = False

    def __enter__(self) -> Self:
        if self._shown:
            import time

            self._due = time.monotonic() + self._after
            if self._after <= 0:
                self._draw(self._label)
        return self

    def step(self, count: int = 1) -> None:
        """Say that `count` more are done. Cheap enough for an inner loop."""
        self.done += count
        if not self._shown:
            return
        import time

        now = time.monotonic()
        if now >= self._due:
            self._due = now + 0.1
            of = f"/{self._total}" if self._total else ""
            self._draw(f"{self._label} {self.done}{of}")

    def at(self, done: int, total: int) -> None:
        """Say how many are done, of how many."""
        self._total = total
        self.step(done - self.done)

    def _draw(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
        self._drawn = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the line away, so that what is printed next stands alone."""
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False
