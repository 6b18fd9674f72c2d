"""Blocks of private keys, as OpenSSL, SSH, PGP and PuTTY write them."""

from __future__ import annotations

from mait_code.journal.secret_lazy import Lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    Span = tuple[int, int, str]

__all__ = ["found"]

_MARKER = Lazy(
    r"[-–—]{2,5}\s?(?P<which>BEGIN|END)\s(?P<what>[A-Z0-9 ]{0,32}PRIVATE\sKEY(?:\sBLOCK)?)\s?[-–—]{0,5}"
    r"|(?P<putty>PuTTY-User-Key-File-\d)|(?P<mac>Private-MAC:\s{0,2}[0-9a-f]{0,80})"
)
#: What a block without its end consists of: base64, in lines or in one, and header fields.
_BLOCK = Lazy(
    r"(?:[\s>|\"'`+,\\*#]{1,8}|\\{1,4}[nrt]|[A-Za-z][A-Za-z-]{2,24}:[^\n\\]{0,100}(?=[\n\\])|[A-Za-z0-9+/=_-]{16,}"
    r"|(?<=[\s\\nrt>])[A-Za-z0-9+/]{1,76}={0,2}(?=\s{0,4}(?:[\n\\\"'`]|$)))*"
)
_ENCODED = Lazy(r"[A-Za-z0-9+/=]{16,}")


def found(text: str) -> Iterator[Span]:
    """Blocks of private keys, whole or cut off at either end."""
    if "PRIVATE KEY" not in text and "PuTTY-" not in text and "Private-MAC" not in text:
        return
    opened: re.Match[str] | None = None
    last = 0
    for marker in _MARKER().finditer(text):
        if marker["which"] == "BEGIN" or marker["putty"]:
            if opened is not None:
                yield (opened.start(), _end_of_block(text, opened.end(), marker.start()), "private key")
            opened = marker
            continue
        if opened is None and not marker["mac"]:
            start = _start_of_block(text, last, marker.start())
            yield (start, marker.end(), "private key")
        elif opened is not None:
            yield (opened.start(), marker.end(), "private key")
        opened, last = None, marker.end()
    if opened is not None:
        yield (opened.start(), _end_of_block(text, opened.end(), len(text)), "private key")


def _end_of_block(text: str, start: int, limit: int) -> int:
    block = _BLOCK().match(text, start, limit)
    end = block.end() if block else start
    while end > start and text[end - 1] in " \t\r\n\"'`":
        end -= 1
    return end


def _start_of_block(text: str, first: int, end: int) -> int:
    """Where the base64 begins that leads up to an end marker."""
    start = end
    while start > first:
        line_start = max(text.rfind("\n", first, start - 1), text.rfind(" ", first, start - 1), first - 1) + 1
        line = text[line_start:start].strip(" \r\n\t\\\"'>+")
        if line and not _ENCODED().fullmatch(line.replace("\\n", "")):
            break
        start = line_start
    return start
