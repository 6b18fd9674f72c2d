"""Finding: any question is a valid one, and what it should find is found."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from convergence.checks import agree, tables
from hypothesis import given, settings
from hypothesis import strategies as st

from mait_code.commands import memory, memory_search
from mait_code.commands.memory_scope import Place
from mait_code.commands.workspace import Workspace
from mait_code.projections import stores
from mait_code.projections.digest import digest
from mait_code.projections.pieces import pieces
from mait_code.projections.question import MOST_WORDS, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

EVERYWHERE = Place("global")


@pytest.fixture
def ws(home: Path) -> Iterator[Workspace]:
    with Workspace.open(str(home / "data")) as opened:
        yield opened


def store(ws: Workspace, *texts: str, **more: Any) -> list[str]:
    """Store texts; their ids in order."""
    found = []
    for text in texts:
        made, _ = memory.draft(
            text, place=more.get("place", EVERYWHERE), **{k: v for k, v in more.items() if k != "place"}
        )
        found.append(memory.store(ws, made).memory.id)
    return found


def found(ws: Workspace, text: str, **asked: Any) -> list[str]:
    """The texts that a question finds, best first."""
    asked = {"mode": "fts", "scope": "all", **asked}
    meanings = memory_search.Meanings(ws)
    try:
        (hits,) = memory_search.search_all(ws, [text], memory_search.Asked(**asked), meanings)
    finally:
        meanings.close()
    return [hit.text for hit in hits]


# -- words of all languages

SAMPLES = {
    "東京都の天気は晴れです": ["東京", "天気", "東京の天気?", "晴"],
    "我们决定使用数据库连接池": ["数据库", "连接池", "使用数据库"],
    "서버는 포트 8080에서 실행됩니다": ["포트", "서버", "8080"],
    "เซิร์ฟเวอร์ใช้พอร์ตห้าพัน": ["เซิร์ฟเวอร์", "พอร์ต"],
    "Die Datenbankverbindung läuft über den Verbindungspool": ["Verbindung", "Datenbank", "Verbindungspool", "lauft"],
    "Die Rechtsschutzversicherungsgesellschaft zahlt": ["Versicherung", "Rechtsschutz", "Gesellschaft"],
    "un café très serré à côté": ["cafe", "CAFÉ", "très"],
    "Сервер слушает порт пять тысяч": ["сервер", "порт"],
    "the function getUserName reads HTTPHeaders": ["user name", "getusername", "http headers", "headers"],
    "set MAX_RETRY_COUNT in config.yaml": ["max retry", "MAX_RETRY_COUNT", "config.yaml", "yaml"],
    "deployed with 🚀 on friday": ["deploying", "Friday?", "deploys"],
    "مرحبا بالعالم": ["مرحبا"],
}


@pytest.mark.parametrize("text", SAMPLES, ids=lambda text: text[:16])
def test_a_text_is_found_by_its_words(ws: Workspace, text: str) -> None:
    store(ws, "nothing to do with it at all", text, "another matter entirely, such as giraffes")
    for question in SAMPLES[text]:
        assert found(ws, question)[:1] == [text], question


ODD = [
    '"', '""', "'", "?", "-", "--", "*", "(", ")", "AND", "OR", "NOT", "NEAR", "NEAR(a b)", "a AND", "OR b", "^a", "a:b", "content:x",
    "{a b}", "+", "port OR", "what's the port?", "-port", "port*", '"port', "\\", "%", "_", ";", "--port=5432", "SELECT 1; DROP TABLE x",
    "\0", "a\0b", "🚀", "👩‍👩‍👧‍👦", "مرحبا", "東", "ๆ", "a" * 10_000, "wort " * 2_000, "東京" * 5_000, "\ud7a3", "\u200b", "\n\n", "\t", "1", "a.b.c",
    "../../etc/passwd", "C++", "C#", ".NET", "x=y", "<b>", "&amp;", "'; --", "\x1b[31m", "NULL", "entries_fts", "rowid:1",
]  # fmt: skip


@pytest.mark.parametrize("mode", ["fts", "hybrid"])
def test_odd_questions_are_questions(ws: Workspace, mode: str) -> None:
    store(ws, "the port is 5432", "C++ and C# and .NET", "東京都", 'quotes " and \\ slashes')
    meanings = memory_search.Meanings(ws)
    asked = memory_search.Asked(mode=mode, scope="all")
    assert len(memory_search.search_all(ws, ODD, asked, meanings)) == len(ODD)
    meanings.close()


@pytest.mark.slow
def test_ten_thousand_odd_questions(ws: Workspace) -> None:
    """No question is an error, and none takes long: a hundredth of a second on average."""
    store(ws, "the port is 5432", "what AND why OR when NEAR there", "東京都 คำ 🚀", "naïve café")
    generator = random.Random(20261130)
    parts = [*ODD[:60], "port", "why", "NEAR", "東京", "café", " ", " ", "5432", "\u0301", "\u202e"]
    questions = ["".join(generator.choices(parts, k=generator.randint(1, 8)))[:10_000] for _ in range(10_000)]
    asked = memory_search.Asked(mode="fts", scope="all", limit=3)
    answers = memory_search.search_all(ws, questions, asked, memory_search.Meanings(ws))
    assert len(answers) == 10_000
    for question, hits in zip(questions, answers, strict=True):
        if "port" in Question(question).words:
            assert any("port" in hit.text for hit in hits), question


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_a_question_has_few_words_and_is_quoted(text: str) -> None:
    question = Question(text)
    assert len(question.words) <= MOST_WORDS
    assert question.match().count('"') % 2 == 0


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300))
def test_pieces_are_words_apart(text: str) -> None:
    assert all(pieces(text).split(" ")) or pieces(text) == ""


@pytest.mark.parametrize("run", ["a", "A", "aB", "AAb", "1", "東", "é", "_", "a1", " "])
def test_long_runs_take_time_in_proportion(run: str) -> None:
    """Twenty times the text may take sixty times as long, not four hundred. Base64 is pasted into notes."""

    def took(length: int) -> float:
        text = (run * length)[:length]
        began = time.process_time()
        pieces(text)
        Question(text).match()
        return time.process_time() - began

    small = min(took(10_000) for _ in range(3))
    assert took(200_000) < max(60 * small, 0.5)


# -- what is searched, and from where


def test_scopes_are_honoured(ws: Workspace) -> None:
    store(ws, "everywhere tea")
    store(ws, "project tea", place=Place("project", "acme/shop"))
    store(ws, "branch tea", place=Place("branch", "acme/shop", "feature/cart"))
    store(ws, "other tea", place=Place("project", "acme/api"))
    every = {"everywhere tea", "project tea", "branch tea", "other tea"}
    assert set(found(ws, "tea")) == every
    assert set(found(ws, "tea", scope="global")) == {"everywhere tea"}
    assert set(found(ws, "tea", scope="project", project="acme/shop")) == {"project tea"}
    assert set(found(ws, "tea", scope="branch", project="acme/shop", branch="feature/cart")) == {"branch tea"}
    assert set(found(ws, "tea", scope="", project="acme/shop")) == {"everywhere tea", "project tea"}
    assert set(found(ws, "tea", scope="", project="acme/shop", branch="feature/cart")) == every - {"other tea"}


def test_filters(ws: Workspace) -> None:
    store(ws, "tagged tea", tags=["drink", "hot"])
    store(ws, "typed tea", type_="decision")
    store(ws, "plain tea", session="s1")
    with ws.journal.writing(ws.store("memory")) as writer:
        writer.append(
            "observation.recorded",
            type="bugfix",
            title="tea spilled",
            concepts=["gotcha"],
            files_modified=["src/tea.py"],
        )
        writer.append("prompt.submitted", text="more tea?")
    ws.refreshed("memory")
    assert found(ws, "tea", tag="DRINK") == ["tagged tea"]
    assert found(ws, "tea", type_="decision") == ["typed tea"]
    assert found(ws, "tea", session="s1") == ["plain tea"]
    assert found(ws, "tea", concept="gotcha") == ["tea spilled"]
    assert found(ws, "tea", file="tea.py") == found(ws, "tea", file="src/tea.py") == ["tea spilled"]
    assert found(ws, "tea", file="ea.py") == []
    assert set(found(ws, "tea", kinds=("prompt", "observation"))) == {"tea spilled", "more tea?"}
    assert found(ws, "tea", since="2999-01-01T00:00:00.000000Z") == []
    assert len(found(ws, "tea", until="2999-01-01T00:00:00.000000Z")) == 5


def test_what_is_retired_or_superseded_or_deleted_is_not_found(ws: Workspace) -> None:
    gone = store(ws, "old tea one", "old tea two", "old tea three")
    (kept,) = store(ws, "new tea")
    with ws.journal.writing(ws.store("memory")) as writer:
        writer.append("memory.retired", f"memory/{gone[0]}")
        writer.append("memory.superseded", f"memory/{gone[1]}", by=f"memory/{kept}")
        writer.append("memory.deleted", f"memory/{gone[2]}")
    ws.refreshed("memory")
    assert found(ws, "tea") == ["new tea"]
    with ws.journal.writing(ws.store("memory")) as writer:
        writer.append("memory.restored", f"memory/{gone[0]}", register="retired")
    ws.refreshed("memory")
    assert set(found(ws, "tea")) == {"new tea", "old tea one"}


def test_an_answer_is_found_by_its_question(ws: Workspace) -> None:
    store(ws, "Which database do we take for the ledger?", "Postgres, as everybody knows it.", session="talk")
    store(ws, "Postgres was mentioned elsewhere")
    assert "Postgres, as everybody knows it." in found(ws, "database ledger")


def test_a_name_in_the_question_prefers_who_speaks(ws: Workspace) -> None:
    store(ws, "Ann: my dog likes the sea", "Bob: my dog likes the sea too")
    assert found(ws, "What does Bob's dog like?")[0].startswith("Bob")
    assert found(ws, "What does Ann's dog like?")[0].startswith("Ann")


def test_by_meaning(ws: Workspace) -> None:
    """Nothing of the question stands in the text; with the packaged model it is found all the same."""
    store(ws, "We chose PostgreSQL for storing orders", "Giraffes have long necks", "The meeting is at noon")
    meanings = memory_search.Meanings(ws)
    assert meanings.vectors is not None, meanings.reason
    assert meanings.fill() == 3
    assert meanings.fill() == 0
    meanings.close()
    assert found(ws, "relational database decision", mode="hybrid")[:1] == ["We chose PostgreSQL for storing orders"]
    assert found(ws, "which animal is tall?", mode="vector")[:1] == ["Giraffes have long necks"]


def test_classic_ranking_prefers_the_important(ws: Workspace) -> None:
    store(ws, "tea is fine", importance=1)
    store(ws, "tea is very fine", importance=10)
    assert found(ws, "tea", rank="classic")[0] == "tea is very fine"


# -- the index keeps up


def test_the_index_after_many_changes_is_that_of_a_rebuild(ws: Workspace) -> None:
    """Stored by the hundred, in sessions that interleave, in the past of what is there, edited, retired, deleted."""
    generator = random.Random(7)
    for turn in range(4):
        drafts = []
        for number in range(80):
            wall = (1_700_000_000 + generator.randrange(10_000)) * 10**6
            session = f"s{generator.randrange(5)}" if number % 3 else ""
            drafts.append(
                memory.draft(f"word{number} turn {turn} said", place=EVERYWHERE, wall=wall, session=session)[0]
            )
        memory.store_all(ws, drafts)
        known = [row[0] for row in ws.store("memory").query("SELECT id FROM memory_entries ORDER BY id")]
        with ws.journal.writing(ws.store("memory")) as writer:
            for id_ in generator.sample(known, 40):
                writer.append("memory.edited", f"memory/{id_}", content=f"edited {id_}")
            for id_ in generator.sample(known, 10):
                writer.append("memory.deleted", f"memory/{id_}")
        ws.refreshed("memory")
    opened = ws.store("memory")
    before = digest(opened), tables(opened)
    opened.rebuild()
    agree("rebuilt", (digest(opened), tables(opened)), before)


def test_a_rebuild_embeds_nothing_again(ws: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    store(ws, "one thing", "and another", session="s")
    meanings = memory_search.Meanings(ws)
    assert meanings.fill() == 2
    stores.memory(ws.home).rebuild()
    ws.close()
    again = memory_search.Meanings(ws)
    assert again.fill() == 0
    again.close()


# -- the command


def test_many_questions_on_stdin(program: Callable[..., Any]) -> None:
    lines = [orjson.dumps({"content": f"fact number {n} of tea", "ref": f"r{n}"}) for n in range(5)]
    stored = program("memory", "store", "--stdin", "--scope", "global", input=b"\n".join(lines))
    assert stored.code == 0, stored.err
    asked = ("memory", "search", "--stdin", "--json", "--scope", "all", "--mode", "fts")
    rows = [orjson.loads(line) for line in program(*asked, input=b"tea\n\nnumber 3?\n").out.splitlines()]
    assert [row["query"] for row in rows] == ["tea", "", "number 3?"]
    assert len(rows[0]["hits"]) == 5
    assert rows[1]["hits"] == []
    assert rows[2]["hits"][0]["ref"] == "r3"


def test_a_question_on_stdin_is_answered_before_the_next_is_asked(home: Path) -> None:
    """A program may keep the search running; what it stores meanwhile is found too."""
    command = [sys.executable, "-m", "mait_code.commands.cli.main", "memory"]
    subprocess.run([*command, "store", "green tea", "--scope", "global"], check=True, capture_output=True)
    asked = [*command, "search", "--stdin", "--mode", "fts", "--scope", "all"]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\ufefftea\n".encode())
        process.stdin.flush()
        first = orjson.loads(process.stdout.readline())
        assert (first["query"], len(first["hits"])) == ("tea", 1)
        subprocess.run([*command, "store", "black tea", "--scope", "global"], check=True, capture_output=True)
        process.stdin.write(b"black tea\r\nte")
        process.stdin.flush()
        second = orjson.loads(process.stdout.readline())
        assert (second["query"], second["hits"][0]["content"]) == ("black tea", "black tea")
        process.stdin.write(b"a")
        process.stdin.close()
        assert orjson.loads(process.stdout.readline())["query"] == "tea"
        assert process.wait(timeout=60) == 0


def test_nobody_reads_on(home: Path) -> None:
    """`| head -2` of very many questions ends soon, and not with an error."""
    command = [sys.executable, "-m", "mait_code.commands.cli.main", "memory"]
    subprocess.run([*command, "store", "green tea", "--scope", "global"], check=True, capture_output=True)
    asked = [*command, "search", "--stdin", "--mode", "fts", "--scope", "all"]
    with subprocess.Popen(asked, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"which tea is green\n" * 2000)  # fits into the pipe, which stays open
        process.stdin.flush()
        assert orjson.loads(process.stdout.readline())["hits"]
        process.stdout.close()
        process.wait(timeout=60)
        assert process.stderr.read() == b""


def test_a_line_that_is_no_text_costs_the_answers_before_it_nothing(program: Callable[..., Any]) -> None:
    done = program("memory", "search", "--stdin", "--mode", "fts", input=b"tea\n\xff\n")
    assert (done.code, len(done.out.splitlines())) == (2, 1)
    assert b"line 2 is not UTF-8" in done.err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 1 is not JSON"),
        ("[]", "line 1 is no object"),
        ('{"content": 7}', "line 1: content is missing"),
        ('{"content": ""}', "line 1: the text is empty"),
        ('{"content": "x", "importance": 11}', "line 1: an importance"),
        ('{"content": "x", "at": "yesterday"}', "line 1: 'yesterday' is no time"),
        ('{"content": "x", "tags": "a"}', "line 1: tags"),
        ('{"content": "x", "type": "poem"}', "line 1: there is no type"),
    ],
)
def test_a_bad_line_stores_nothing(program: Callable[..., Any], line: str, said: str) -> None:
    lines = f'{line}\n{{"content": "fine"}}\n'.encode()
    refused = program("memory", "store", "--stdin", "--scope", "global", input=lines)
    assert refused.code == 2
    assert said in refused.err.decode()
    found = program("memory", "search", "fine", "--json", "--mode", "fts", "--scope", "all")
    assert orjson.loads(found.out)["hits"] == []


def test_nothing_heavy_is_loaded_for_words(home: Path) -> None:
    """A search by words, and storing, start no model."""
    code = (
        "import sys; from mait_code.commands.cli import main; sys.argv = ['mc-tool-memory', *sys.argv[1:]];"
        "import os; os._exit = lambda code: None; main.memory();"
        "print(sorted({'numpy', 'onnxruntime', 'tokenizers', 'fastembed', 'rich'} & set(sys.modules)))"
    )
    import sys

    for words in (["store", "some tea"], ["search", "tea", "--mode", "fts"]):
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=60)
        assert done.stdout.splitlines()[-1] == "[]", done.stderr
