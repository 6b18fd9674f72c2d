"""What the pages say is so: examples run, names exist, tables and lines are those of the program."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from mait_code.commands.cli.frame import GLOBAL_OPTIONS, Context, Group, Table
from mait_code.commands.cli.table import ROOT as COMMANDS
from mait_code.journal import root, segments
from mait_code.journal.event import DEEPEST, LONGEST_LINE, Bad, Event, Future, parse
from mait_code.journal.home import DOCUMENTS, Home
from mait_code.journal.kinds import KINDS, RESERVED
from mait_code.journal.repository import LOCAL_SETTINGS
from mait_code.journal.sha import sha256
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    import click

    Cli = Callable[..., Any]

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
LOG_FORMAT, FOLDING, STORES, SYNC = (
    DOCS / f"internals/{name}.md" for name in ("log-format", "folding", "stores", "sync")
)


def script(name: str) -> ModuleType:
    """A program that stands beside the pages."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


examples = script("run_examples")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# -- examples


@pytest.mark.slow
@pytest.mark.git
@pytest.mark.parametrize("page", examples.PAGES, ids=named)
def test_examples_run_and_print_what_the_page_says(page: Path) -> None:
    run = examples.Run(page)
    assert not run.faults, "\n".join(run.faults)
    assert run.commands > 0


def test_the_pages_people_follow_are_run() -> None:
    followed = {ROOT / "README.md", DOCS / "tutorial.md", *DOCS.glob("how-to/*.md")}
    assert set(examples.PAGES) == followed


@pytest.mark.parametrize(
    ("said", "printed", "agree"),
    [
        ("Added 1kf: Fix it", "Added 1xw: Fix it", True),
        ("Added 1kf: Fix it", "Added 1xw: Fix that", False),
        ("Added 1kf: Fix it", "Captured abc12: Fix it", False),
        ("1kf  2026-11-30 10:00 UTC", "1xw  2031-01-02 23:59 UTC", True),
        ("Sent 1 event", "Sent 2 events", False),
        ("Sent 1 event", "Sent 2 event", False),
        ("  Tue 1 Dec 09:00 UTC (in 16 h)", "  Fri 9 Jan 09:00 UTC (in 2 days)", True),
        ("  Tue 1 Dec 09:00 UTC (in 16 h)", "  Fri 9 Jan 10:00 UTC (in 2 days)", False),
    ],
)
def test_only_ids_and_times_may_differ(said: str, printed: str, agree: bool) -> None:
    assert examples.Translation().agree([said], [printed]) is agree


def test_an_id_stands_for_one_thing() -> None:
    translation = examples.Translation()
    assert translation.agree(["Added 1kf: a"], ["Added 1xw: a"])
    assert translation.command("mait-code board move 1kf done") == "mait-code board move 1xw done"
    assert not translation.agree(["Moved 1kf: a"], ["Moved 1zz: a"])


# -- names


def code_of(page: Path) -> Iterator[str]:
    """Everything a page sets in the type of code: command lines of blocks, and inline code."""
    text = page.read_text(encoding="utf-8")
    for _first, language, content in examples.blocks(text):
        if language in ("", "sh", "console"):
            for row in content.splitlines():
                prompt = examples.PROMPT.match(row)
                if prompt or language != "console":
                    yield prompt[2] if prompt else row
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (" ".join(one.split()) for one in re.findall(r"`([^`]+)`", prose))


def words_of(code: str) -> list[str]:
    try:
        return shlex.split(code, comments=True)
    except ValueError:
        return code.split()


PREFIXES = {"mait-code": [], "mait": [], "mc-tool-board": ["board"], "mc-tool-inbox": ["inbox"]}
PREFIXES["mc-tool-reminders"] = ["reminders"]


def command_words(code: str) -> list[str]:
    """The words after the program's name, where a piece of code calls one of ours or begins like a command of it."""
    words = words_of(code)
    for place, word in enumerate(words):
        if word in PREFIXES:
            return PREFIXES[word] + words[place + 1 :]
    if len(words) > 1 and words[0] in COMMANDS.commands:
        return words
    return []


def unknown(words: list[str]) -> str:
    """The first word that is no command or option of the program, or an empty string."""
    found: click.Command = Group("mait-code", COMMANDS)
    context = Context(found, info_name="mait-code")
    for word in words:
        if word in ("|", ">", "&&", ";", "--"):
            break
        if word.startswith("-") and len(word) > 1:
            offered = (*found.get_params(context), *GLOBAL_OPTIONS)
            known = {name for one in offered for name in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0] not in known | {"-h", "--help"}:
                return word
        elif isinstance(found, Group) and re.fullmatch(r"[a-z]+", word):
            below = found.get_command(context, word) if word in found.table.commands else None
            if below is None:
                return word
            found, context = below, Context(below, info_name=word, parent=context)
        elif isinstance(found, Group):
            break
    return ""


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_commands_and_options_that_pages_name_exist(page: Path) -> None:
    wrong = [(code, unknown(words)) for code in code_of(page) if (words := command_words(code)) and unknown(words)]
    assert not wrong


def every_option() -> set[str]:
    def below(group: Group, context: click.Context) -> Iterator[str]:
        for name in group.table.commands:
            found = group.get_command(context, name)
            assert found is not None
            inside = Context(found, info_name=name, parent=context)
            yield from (text for one in found.get_params(inside) for text in (*one.opts, *one.secondary_opts))
            if isinstance(found, Group):
                yield from below(found, inside)

    top = Group("mait-code", COMMANDS)
    return {*below(top, Context(top)), *(text for one in GLOBAL_OPTIONS for text in one.opts), "--help", "-h"}


#: Options of other programs that pages may name by themselves.
FOREIGN: set[str] = set()


def test_options_named_by_themselves_exist() -> None:
    known = every_option() | FOREIGN
    wrong = [
        (named(page), code)
        for page in PAGES
        for code in code_of(page)
        if re.match(r"--[a-z]", code) and code.split()[0].partition("=")[0] not in known
    ]
    assert not wrong


def test_dev_commands_that_pages_name_exist() -> None:
    usage = subprocess.run([ROOT / "dev", "help"], capture_output=True, text=True, check=True).stdout
    for page in PAGES:
        for name in re.findall(r"\./dev ([a-z]+)", page.read_text(encoding="utf-8")):
            assert name == "help" or f"\n  {name} " in usage, (named(page), name)


def test_a_name_that_does_not_exist_is_noticed() -> None:
    assert unknown(["board", "fly"]) == "fly"
    assert unknown(["board", "next", "--clam"]) == "--clam"
    assert unknown(["undo", "2"]) == ""
    assert unknown(["frobnicate"]) == "frobnicate"


def test_every_page_is_reached_from_the_index() -> None:
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    linked = {(DOCS / target.partition("#")[0]).resolve() for target in re.findall(r"\]\(([^)]+)\)", text)}
    assert set(DOCS.rglob("*.md")) - linked == {DOCS / "index.md"}


# -- nothing of one machine, no hosts


#: Hosts that pages may name: an example, and the home of a tool that people may want.
HOSTS = {"example.org", "docs.astral.sh"}
#: Places that are the same on every machine, or nobody's.
PLACES = ("/dev/null", "/etc/machine-id", "/home/you", "/proc/")


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_pages_name_no_machine_and_no_host(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:https?|ssh)://([\w.-]+)", text)) <= HOSTS
    assert set(re.findall(r"\w@([\w-]+(?:\.[\w-]+)+)", text)) <= HOSTS
    paths = re.findall(r"(?<![\w.~$/<>{}*)\]…-])/[a-z]+/[\w.-]*", text)
    assert [path for path in paths if not path.startswith(PLACES)] == []


# -- the pictures


@pytest.mark.slow
@pytest.mark.git
def test_the_picture_shows_the_tour_of_today() -> None:
    picture = script("draw_picture")
    drawn = picture.PICTURE.read_text(encoding="utf-8")
    assert picture.words(drawn) == picture.words(picture.draw(picture.lines(picture.shown()))), (
        "run .venv/bin/python docs/draw_picture.py"
    )


def test_the_pictures_of_screens_are_those_that_the_tests_compare() -> None:
    wanted = script("draw_picture").screens()
    stale = [path.name for path, picture in wanted.items() if path.read_text(encoding="utf-8") != picture]
    assert stale == [], "run .venv/bin/python docs/draw_picture.py"
    drawn = {path.name for path in (DOCS / "pictures").iterdir()}
    assert drawn == {"tour.svg"} | {path.name for path in wanted}


@pytest.mark.parametrize("path", sorted((DOCS / "pictures").iterdir()), ids=lambda path: path.stem)
def test_a_picture_stands_alone(path: Path) -> None:
    drawn = path.read_text(encoding="utf-8")
    named = set(re.findall(r"https?://([\w.-]+)", drawn))
    assert named <= {"www.w3.org", "example.org"}
    assert not re.search(r"@font-face|@import|<image|<script|href=", drawn)


def test_every_picture_is_shown_somewhere() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [path.name for path in (DOCS / "pictures").iterdir() if f"pictures/{path.name}" not in pages] == []


# -- the log format


def fenced(page: Path, wanted: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [content for _line, language, content in examples.blocks(text) if language == wanted]


LINES = [row for content in fenced(LOG_FORMAT, "json") for row in content.splitlines() if row.startswith('{"kind":')]


@pytest.mark.parametrize("line", LINES, ids=lambda line: orjson.loads(line)["kind"])
def test_lines_of_the_format_are_as_we_write_them(line: str) -> None:
    event = parse(line.encode())
    assert type(event) is Event, getattr(event, "reason", "")
    assert event.line() == line.encode()


def test_every_key_and_family_has_a_line() -> None:
    events = [orjson.loads(line) for line in LINES]
    assert {key for event in events for key in event} == set(table(LOG_FORMAT, "The fields around the data"))
    assert {event["kind"].partition(".")[0] for event in events} == {name.partition(".")[0] for name in KINDS}


def rows_below(page: Path, heading: str) -> list[list[str]]:
    """The rows of the tables below a heading, up to the next one."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#+ |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    rows = [row for row in found[1].splitlines() if row.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows if not row.startswith("|---")]


def table(page: Path, heading: str) -> list[str]:
    """The names in the first column of those tables."""
    return [name for cells in rows_below(page, heading) for name in re.findall(r"`([^`]+)`", cells[0])]


FORMS = {
    "text": "text",
    "a name of 1 to 200 characters": "name",
    "a register that can be reopened": "name",
    "a whole number from 1": "number",
    "an object": "object",
    "an importance from 1 to 10": "importance",
    "a time such as 2026-11-30T15:21:07.123004Z": "time",
    "a list of texts": "texts",
    "a list of names of 1 to 200 characters": "names",
    "a list of objects": "objects",
}


KIND_SECTIONS = (
    "Cards",
    "Inbox",
    "Reminders",
    "Memories",
    "The graph",
    "Records of sessions",
    "Documents",
    "Reflections",
    "Projects",
    "Replicas",
)
_FORM = "texts|text|names|name|number|objects|object|moment|importance|time"


def declared_fields(name: str) -> dict[str, tuple[str, bool]]:
    """Field -> (form, must be there), as the program declares it."""
    found = {}
    for key, field in KINDS[name].fields.items():
        form = FORMS.get(field.what, "moment")
        found[key] = (form, field.required)
    return found


def test_every_kind_is_described_with_its_fields() -> None:
    described: dict[str, dict[str, tuple[str, bool]]] = {}
    for heading in KIND_SECTIONS:
        for cells in rows_below(LOG_FORMAT, heading):
            name = cells[0].strip("`")
            if "." in name:
                found = re.findall(rf"(\*?)`(\w+)`\*? ({_FORM})\b", cells[1])
                described[name] = {key: (form, not star) for star, key, form in found}
    assert described == {name: declared_fields(name) for name in KINDS}


def test_reserved_kinds_are_named() -> None:
    text = LOG_FORMAT.read_text(encoding="utf-8")
    assert all(f"`{name}` is reserved" in text for name in RESERVED)


def resealed(line: bytes) -> bytes:
    """A line with its checksum set right."""
    start = line.find(b',"sum":"')
    rest = line[:start] + line[start + 25 :]
    digest: str = sha256(rest).hexdigest()
    return line[:start] + b',"sum":"' + digest[:16].encode() + b'"' + line[start + 25 :]


def broken_lines() -> dict[str, bytes]:
    """A line for each reason, made from the first line of the page."""
    line = LINES[0].encode()

    def changed(old: bytes, new: bytes) -> bytes:
        assert old in line, old
        return resealed(line.replace(old, new, 1))

    return {
        f"longer than {LONGEST_LINE} bytes": changed(b'"in_progress"', b'"' + b"x" * LONGEST_LINE + b'"'),
        "NUL bytes": line + b"\0",
        "not UTF-8": line.replace(b"claude", b"cl\xe9ude"),
        "not JSON": line[:100],
        "not a JSON object": b"[1]",
        f"nested deeper than {DEEPEST} levels": changed(
            b'"data":{', b'"data":{"x":' + b"[" * DEEPEST + b"]" * DEEPEST + b","
        ),
        "kind is not a name such as card.moved": changed(b"card.moved", b"Card moved"),
        "kind is not the one the line begins with": changed(b'"v":1', b'"v":1,"kind":"card.tagged","v": 1'),
        "v is not a version number": changed(b'"v":1', b'"v":"1"'),
        "id is not 20 hexadecimal digits": changed(b'"id":"1', b'"id":"x'),
        "at is not a UTC time of 27 characters between 1970 and 8999": changed(b"T17:", b"T25:"),
        "replica is not 8 base-32 characters": changed(b'"replica":"8', b'"replica":"u'),
        "seq is not a positive number": changed(b'"seq":4', b'"seq":0'),
        "entity is not a type and 12 base-32 characters": changed(b"card/ct", b"card/00"),
        "actor is not a short text": changed(b'"actor":"claude"', b'"actor":7'),
        "session is not a short text": changed(b'"session":"', b'"session":7,"_":"'),
        "tx is not an event id": changed(b'"session":', b'"tx":"1","session":'),
        "undoes is not an event id": changed(b'"session":', b'"undoes":"1","session":'),
        "wall is not a UTC time of 27 characters": changed(b'"session":', b'"wall":"noon","session":'),
        "sees is not an object": changed(b'"sees":{"column":["3bb448e655f923a22bdd"]}', b'"sees":[]'),
        "sees holds something that is no list of ids": changed(b'["3bb448e655f923a22bdd"]', b'"3bb448e655f923a22bdd"'),
        "sees holds something that is no event id": changed(b'["3bb448e655f923a22bdd"]', b"[7]"),
        "data is not an object": changed(b'"data":{"column":"in_progress"}', b'"data":[]'),
        "sum is missing": line.replace(b',"sum":"1b1542d56823afba"', b""),
        "checksum": line.replace(b"in_progress", b"in_Progress"),
        "card.moved names an entity that is no card": changed(b"card/", b"inbox/"),
        "data.column is missing": changed(b'"column":"in_progress"', b""),
        "data.column is not a name of 1 to 200 characters": changed(b'"in_progress"', b'""'),
    }


def test_reasons_are_those_a_reader_gives() -> None:
    for reason, line in broken_lines().items():
        result = parse(line)
        assert isinstance(result, Bad), reason
        assert result.reason == reason
    (listed,) = [content for content in fenced(LOG_FORMAT, "text") if "NUL bytes" in content]
    assert listed.splitlines() == list(broken_lines())


def test_lines_that_are_read_all_the_same() -> None:
    line = LINES[0].encode()
    assert type(parse(line + b"\r")) is Event
    assert type(parse(b"\xef\xbb\xbf" + line)) is Event
    assert type(parse(resealed(line.replace(b"card.moved", b"card.folded", 1)))) is Future
    assert type(parse(resealed(line.replace(b'"v":1', b'"v":2', 1)))) is Future


def test_first_commit_and_its_files() -> None:
    text = LOG_FORMAT.read_text(encoding="utf-8")
    assert root.COMMIT in text
    for name, content in root.FILES.items():
        cells = next(cells for cells in rows_below(LOG_FORMAT, "Files") if cells[0] == f"`{name}`")
        written = "\n".join(re.findall(r"`([^`]+)`", cells[1]))
        assert f"{written}\n".encode() == content
    for name in DOCUMENTS:
        assert name in text


def test_sizes_and_reserved_numbers() -> None:
    text = LOG_FORMAT.read_text(encoding="utf-8")
    assert f"{LONGEST_LINE:,} bytes" in text
    assert f"reached {segments.CLOSED_AT:,} bytes" in text
    assert f"at most {DEEPEST} levels" in text


# -- programs on the pages


@pytest.fixture
def used(cli: Cli) -> Home:
    """A data directory in which some things happened."""
    for arguments in (
        ("inbox", "add", "naïve idea"),
        ("board", "add", "one", "--priority", "high"),
        ("board", "move", "1", "done"),
        ("reminders", "set", "in 2 weeks", "notes"),
        ("undo",),
        ("init", "--label", "laptop"),
    ):
        assert cli(*arguments).code == 0
    return Home(os.environ["MAIT_CODE_DATA_DIR"])


def run_snippets(page: Path, place: str) -> str:
    """Run the Python of a page, from top to bottom, with nothing but the library."""
    code = "\n".join(fenced(page, "python"))
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=place, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_log_can_be_read_with_the_page_alone(used: Home) -> None:
    printed = run_snippets(LOG_FORMAT, used.data)
    counted = {kind: int(count) for count, kind in (row.split() for row in printed.splitlines())}
    assert counted == {
        "card.created": 1,
        "card.moved": 1,
        "inbox.captured": 1,
        "journal.replica_labelled": 1,
        "reminder.set": 1,
        "reminder.deleted": 1,
    }


def test_the_digest_can_be_computed_with_the_page_alone(used: Home, cli: Cli) -> None:
    total = cli("digest", "--json").json["total"]
    assert run_snippets(FOLDING, used.state).strip() == total


# -- stores and sync


@pytest.mark.parametrize("name", stores.NAMES)
def test_tables_of_a_store_are_described(used: Home, name: str) -> None:
    store = stores.OPENERS[name](used)
    store.catch_up()
    everywhere = set(table(STORES, "In every store"))
    for (of,) in store.query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"):
        if of not in everywhere and not of.startswith("entries_fts"):
            columns = [row[1] for row in store.query(f"PRAGMA table_info({of})")]
            assert sorted(table(STORES, of)) == sorted(columns), of
    store.close()


def test_the_query_on_the_page_works(used: Home) -> None:
    (query,) = re.findall(r'"(SELECT [^"]+)"', STORES.read_text(encoding="utf-8"))
    store = stores.board(used)
    store.catch_up()
    assert store.query(query) == []
    store.close()


def test_what_stands_in_the_state_directory_is_described(used: Home, cli: Cli) -> None:
    assert cli("sync").code == 0
    assert cli("board", "bind", "1", "--session", "s", "--pid", str(os.getpid())).code in (0, 1)
    text = STORES.read_text(encoding="utf-8")
    for name in os.listdir(used.state):
        assert re.search(rf"(^|\s){re.escape(re.sub('-(wal|shm)$', '', name))}/?(\s|$)", text, flags=re.MULTILINE), name


def test_settings_of_the_repository_are_those_on_the_page() -> None:
    rows = {cells[0].strip("`"): cells[1].strip("`") for cells in rows_below(SYNC, "git at home and abroad")[1:]}
    assert rows == LOCAL_SETTINGS


def test_commands_of_the_table_are_all_in_the_reference() -> None:
    text = (DOCS / "reference/cli.md").read_text(encoding="utf-8")

    def below(table: Table, path: str) -> Iterator[str]:
        for name, entry in table.commands.items():
            yield f"{path} {name}"
            if isinstance(entry, Table):
                yield from below(entry, f"{path} {name}")

    assert [path for path in below(COMMANDS, "mait-code") if f"### {path}\n" not in text] == []
