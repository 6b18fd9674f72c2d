"""Damage to logs, at random but repeatable, and an independent reading of what is left of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    #: Path inside the journal -> bytes, or one of the words for what is no regular file.
    Files = dict[str, bytes | str]

DIRECTORY, LINK, PIPE = "directory", "link", "pipe"
_SEGMENT = re.compile(r"[0-9a-hjkmnp-tv-z]{8}/[0-9]{6,12}\.jsonl")
_SUM = re.compile(rb',"sum":"[^"]*"')
BOM = b"\xef\xbb\xbf"

DEEP = "[" * 90 + "]" * 90
#: Values that a line with a right checksum may hold in any field of its data, or in any other.
VALUES = [
    *("0", "-1", "1e999", "NaN", "Infinity", "-Infinity", "123456789012345678901234567890", "18446744073709551615"),
    *("-9223372036854775808", "9223372036854775808", "1.0", "-0.0", "1e-400", "null", "true", "[]", "{}", '""', '"x"'),
    *('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\u202e\\u200f"', '"' + "é" * 300 + '"', '"' + "x" * 7000 + '"'),
    *(DEEP, '{"a":' * 60 + "1" + "}" * 60, '["a",["b",{"c":[null]}]]', '{"session":7}'),
    '{"due":"2030-02-31T99:99","zone":"Nowhere/Land"}',
    '{"due":"9999-12-31T23:59:59","zone":"UTC","rule":{"every":0}}',
    '{"due":"2030-01-01T09:00","zone":"UTC","rule":{"freq":"weekly","interval":-5,"days":["x"]}}',
    '{"due":"0001-01-01T00:00","zone":"Pacific/Kiritimati"}',
    *('"0000-00-00T00:00:00.000000Z"', '"1969-12-31T23:59:59.999999Z"', '"8999-12-31T23:59:59.999999Z"'),
    *('"2030-02-29T00:00:00.000000Z"', "undefined", "01", "1_000", "'x'"),
]


class Log:
    """A journal's files under mutation. `files` is what is to be on disk, `original` the untouched lines by their bytes,
    `crafted` lines that are damaged and carry a right checksum: they may be read or refused, but not ignored."""

    def __init__(self, files: dict[str, bytes], generator: random.Random) -> None:
        self.files: Files = dict(files)
        self.random = generator
        self.original = {line for content in files.values() for line in content.split(b"\n") if line}
        self.crafted: set[bytes] = set()
        self.done: list[str] = []

    def mutate(self) -> None:
        """Damage the log in one of the ways below."""
        how = self.random.choice(WAYS)
        self.done.append(how.__name__)
        how(self)

    # -- choosing

    def path(self) -> str:
        """A segment that is still one."""
        names = [
            name
            for name, content in sorted(self.files.items())
            if isinstance(content, bytes) and _SEGMENT.fullmatch(name)
        ]
        return self.random.choice(names) if names else ""

    def change(self, how: Callable[[bytes], bytes]) -> None:
        path = self.path()
        if path:
            content = self.files[path]
            assert isinstance(content, bytes)
            self.files[path] = how(content)

    def change_lines(self, how: Callable[[list[bytes]], list[bytes]]) -> None:
        self.change(lambda content: b"\n".join([*how(content.split(b"\n")[:-1]), b""]))

    def place_in(self, content: bytes) -> int:
        return self.random.randrange(len(content) + 1)

    def among(self, lines: list[bytes]) -> int:
        return self.random.randrange(len(lines)) if lines else 0

    # -- reading what is left, with nothing of the program's

    def expected(self) -> tuple[set[str], set[str], set[tuple[str, int]], set[tuple[str, int]]]:
        """(ids that must be folded, ids that may be, places that must be named, places that may be)."""
        whole: set[str] = set()
        perhaps: set[str] = set()
        named: set[tuple[str, int]] = set()
        maybe: set[tuple[str, int]] = set()
        for path, content in self.files.items():
            if not isinstance(content, bytes) or not _SEGMENT.fullmatch(path):
                continue
            for number, piece in enumerate(content.split(b"\n"), 1):
                bare = piece.rstrip(b"\r").removeprefix(BOM)
                if bare in self.original:
                    whole.add(_id_of(bare))
                elif bare in self.crafted:
                    maybe.add((path, number))
                    perhaps.add(_id_of(bare))
                elif piece.rstrip(b"\r"):
                    named.add((path, number))
        return whole, perhaps, named, maybe

    # -- writing it down

    def write(self, journal: str, before: Files) -> None:
        """Bring the disk from `before` to what this log is."""
        for path in before.keys() - self.files.keys():
            _remove(os.path.join(journal, path))
        for path, content in self.files.items():
            if before.get(path) != content:
                _put(os.path.join(journal, path), content)


def _id_of(line: bytes) -> str:
    found = re.search(rb'"id":"([^"]*)"', line)
    return found[1].decode("utf-8", "replace") if found else ""


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def _put(path: str, content: bytes | str) -> None:
    _remove(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if content == DIRECTORY:
        os.mkdir(path)
    elif content == LINK:
        os.symlink(os.path.join(os.path.dirname(path), "elsewhere.jsonl"), path)
    elif content == PIPE:
        os.mkfifo(path)
    else:
        assert isinstance(content, bytes)
        with open(path, "wb") as file:
            file.write(content)


def with_checksum(line: bytes) -> bytes:
    """The line with the checksum that its bytes should have."""
    match = _SUM.search(line)
    if match is None:
        return line
    rest = line[: match.start()] + line[match.end() :]
    return (
        line[: match.start()]
        + b',"sum":"'
        + hashlib.sha256(rest).hexdigest()[:16].encode()
        + b'"'
        + line[match.end() :]
    )


# -- ways to damage a log ---------------------------------------------------------------------------------------------


def flip_bits(log: Log) -> None:
    def flipped(content: bytes) -> bytes:
        changed = bytearray(content)
        for _ in range(log.random.choice([1, 1, 1, 5]) if changed else 0):
            changed[log.random.randrange(len(changed))] ^= 1 << log.random.randrange(8)
        return bytes(changed)

    log.change(flipped)


def cut_the_end(log: Log) -> None:
    log.change(lambda content: content[: log.place_in(content)])


def cut_the_newline(log: Log) -> None:
    log.change(lambda content: content.removesuffix(b"\n"))


def cut_the_beginning(log: Log) -> None:
    log.change(lambda content: content[log.place_in(content) :])


def cut_the_middle(log: Log) -> None:
    def cut(content: bytes) -> bytes:
        start = log.place_in(content)
        return content[:start] + content[start + log.random.randrange(1, 400) :]

    log.change(cut)


def duplicate_lines(log: Log) -> None:
    log.change_lines(lambda lines: [line for line in lines for _ in range(log.random.choice([1, 1, 2, 5]))])


def swap_lines(log: Log) -> None:
    log.change_lines(lambda lines: log.random.sample(lines, len(lines)))


def drop_a_line(log: Log) -> None:
    log.change_lines(lambda lines: [line for line in lines if log.random.random() < 0.8])


def crlf(log: Log) -> None:
    log.change(lambda content: content.replace(b"\n", b"\r\n"))


def some_crlf(log: Log) -> None:
    log.change_lines(lambda lines: [line + log.random.choice([b"", b"\r", b"\r\r"]) for line in lines])


def byte_order_mark(log: Log) -> None:
    log.change(lambda content: BOM + content)


def marks_everywhere(log: Log) -> None:
    log.change_lines(lambda lines: [log.random.choice([b"", BOM, BOM * 2]) + line for line in lines])


def latin_1(log: Log) -> None:
    log.change(lambda content: content.decode("utf-8", "replace").encode("latin-1", "replace"))


def one_latin_1_byte(log: Log) -> None:
    _insert(log, log.random.choice([b"\xe9", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"]))


def utf_16(log: Log) -> None:
    log.change(lambda content: content.decode("utf-8", "replace").encode("utf-16"))


def nuls(log: Log) -> None:
    _insert(log, b"\0" * log.random.choice([1, 7, 4096]))


def tail_of_nuls(log: Log) -> None:
    log.change(lambda content: content + b"\0" * log.random.choice([1, 512, 4096]))


def garbage(log: Log) -> None:
    _insert(log, log.random.randbytes(log.random.choice([1, 30, 3000])))


def blank_lines(log: Log) -> None:
    log.change_lines(
        lambda lines: [part for line in lines for part in ([line] if log.random.random() < 0.7 else [line, b"", b"\r"])]
    )


def spaces(log: Log) -> None:
    log.change_lines(
        lambda lines: [log.random.choice([b"", b" ", b"\t"]) + line + log.random.choice([b"", b" "]) for line in lines]
    )


def a_long_line(log: Log) -> None:
    text = log.random.choice(
        [b"x" * 300 * 1024, b"[" * 300 * 1024, b'{"a":' * 60_000, b'{"kind":"card.moved",' + b" " * 300 * 1024]
    )
    _insert_line(log, text)


def nearly_too_long(log: Log) -> None:
    _craft(
        log,
        lambda line: line[:-2] + b',"more":"' + b"x" * (256 * 1024 - len(line) - log.random.randrange(-4, 30)) + b'"}}',
    )


def other_json(log: Log) -> None:
    _insert_line(
        log,
        log.random.choice(
            [b"{}", b"[]", b"null", b"7", b'"x"', b"[" * 2000, b'{"kind":"card.moved"}', b"}", b"//", b"{'a':1}"]
        ),
    )


def conflict_markers(log: Log) -> None:
    def marked(lines: list[bytes]) -> list[bytes]:
        start = log.among(lines)
        ours, theirs = lines[start : start + 2], lines[start + 1 : start + 3]
        block = [b"<<<<<<< HEAD", *ours, b"=======", *theirs, b">>>>>>> 1f0a7c3 (from there)"]
        return [*lines[:start], *block, *lines[start + 2 :]]

    log.change_lines(marked)


def join_lines(log: Log) -> None:
    log.change(lambda content: content.replace(b"\n", b"", 1))


def empty(log: Log) -> None:
    log.change(lambda _content: log.random.choice([b"", b"\n", b"\n\n\n", b"\r\n", BOM]))


def something_else_there(log: Log) -> None:
    path = log.path()
    if path:
        log.files[path] = log.random.choice([DIRECTORY, LINK, PIPE])


def gone(log: Log) -> None:
    log.files.pop(log.path(), None)


def copies_of_sync_tools(log: Log) -> None:
    path = log.path()
    if path:
        stem = path.removesuffix(".jsonl")
        endings = [
            " 2.jsonl",
            ".sync-conflict-20261130-101010-ABCDEFG.jsonl",
            " (copy).jsonl",
            ".jsonl.orig",
            ".jsonl~",
            ".jsonl.tmp",
        ]
        log.files[stem + log.random.choice(endings)] = log.files[path]
        if log.random.random() < 0.5:
            del log.files[path]


def a_copy_in_another_directory(log: Log) -> None:
    path = log.path()
    if path:
        names = ["c0py0000", "notareplica", "c0py 000", "c0py0000.bak"]
        log.files[f"{log.random.choice(names)}/{os.path.basename(path)}"] = log.files[path]


def odd_names(log: Log) -> None:
    path = log.path()
    if path:
        name = log.random.choice(
            ["0000001.jsonl", "999999999999.jsonl", "1.jsonl", "000001.JSONL", "00000a.jsonl", "٠٠٠٠٠١.jsonl"]
        )
        log.files[f"{os.path.dirname(path)}/{name}"] = log.files.pop(path)


def a_value_with_a_right_checksum(log: Log) -> None:
    """Any field becomes any value, as a faulty program or a hostile one may write it."""

    def crafted(line: bytes) -> bytes:
        fields = re.findall(rb'"([a-z_]+)":', line)
        if not fields:
            return line
        field = log.random.choice(fields)
        value = log.random.choice(VALUES).encode()
        return re.sub(
            rb'"' + field + rb'":(?:"(?:[^"\\]|\\.)*"|\[[^\]]*\]|\d+|null)',
            lambda _: b'"' + field + b'":' + value,
            line,
            count=1,
        )

    _craft(log, crafted)


def a_field_more_with_a_right_checksum(log: Log) -> None:
    """A key that stands twice, or that nobody knows."""

    def crafted(line: bytes) -> bytes:
        key = log.random.choice(
            ["kind", "id", "at", "replica", "seq", "entity", "data", "sum", "tx", "sees", "wall", "more", ""]
        )
        value = log.random.choice(VALUES)
        if log.random.random() < 0.5:
            return b"{" + json.dumps(key).encode() + b":" + value.encode() + b"," + line[1:]
        return line[:-1] + b"," + json.dumps(key).encode() + b":" + value.encode() + b"}"

    _craft(log, crafted)


def a_field_less_with_a_right_checksum(log: Log) -> None:
    _craft(
        log,
        lambda line: re.sub(
            rb'"(?:kind|v|id|at|replica|seq|entity|actor|data)":("[^"]*"|\d+),',
            b"",
            line,
            count=log.random.choice([1, 2]),
        ),
    )


def _craft(log: Log, how: Callable[[bytes], bytes]) -> None:
    def changed(lines: list[bytes]) -> list[bytes]:
        if lines:
            number = log.among(lines)
            line = with_checksum(how(lines[number]))
            if line not in log.original and b"\n" not in line:
                log.crafted.add(line.rstrip(b"\r").removeprefix(BOM))
            lines[number] = line
        return lines

    log.change_lines(changed)


def _insert(log: Log, what: bytes) -> None:
    def inserted(content: bytes) -> bytes:
        place = log.place_in(content)
        return content[:place] + what + content[place:]

    log.change(inserted)


def _insert_line(log: Log, line: bytes) -> None:
    def inserted(lines: list[bytes]) -> list[bytes]:
        lines.insert(log.random.randrange(len(lines) + 1), line)
        return lines

    log.change_lines(inserted)


WAYS: list[Callable[[Log], Any]] = [
    *(
        flip_bits,
        cut_the_end,
        cut_the_newline,
        cut_the_beginning,
        cut_the_middle,
        duplicate_lines,
        swap_lines,
        drop_a_line,
    ),
    *(
        crlf,
        some_crlf,
        byte_order_mark,
        marks_everywhere,
        latin_1,
        one_latin_1_byte,
        utf_16,
        nuls,
        tail_of_nuls,
        garbage,
    ),
    *(
        blank_lines,
        spaces,
        a_long_line,
        nearly_too_long,
        other_json,
        conflict_markers,
        join_lines,
        empty,
        something_else_there,
    ),
    *(gone, copies_of_sync_tools, a_copy_in_another_directory, odd_names, a_value_with_a_right_checksum),
    *(a_value_with_a_right_checksum, a_field_more_with_a_right_checksum, a_field_less_with_a_right_checksum, flip_bits),
]
