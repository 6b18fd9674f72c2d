"""Export and import: nothing is lost on the way, and nothing comes twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from two_machines import Machine, exchange

from mait_code.journal import clock, ids
from mait_code.projections import stores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]

PLACE = ("--project", "rocket")


@pytest.fixture
def machines(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> list[Machine]:
    return [Machine(tmp_path, name, cli, monkeypatch) for name in ("anna", "bert", "carl")]


def fill(machine: Machine) -> None:
    """Something of everything there is, in all its states."""

    def stored(*arguments: str) -> str:
        return str(machine.json("memory", "store", *arguments, *PLACE)["id"])

    machine.enter()
    port = stored("the port is 5432", "--tag", "net", "--tag", "db", "--importance", "8")
    stored("The port is 5432.", "--importance", "9")
    machine.ok("memory", "supersede", port, "the port is 5433 \u202e caf\u00e9 \x7f \u6f22\nsecond line")
    machine.ok("memory", "retire", stored("gone"))
    machine.ok("memory", "pin", stored("in sight", "--branch", "feature"))
    machine.ok("memory", "reviewed", stored("true", "--type", "procedure"))
    machine.ok("memory", "delete", stored("deleted"))
    item = machine.json("inbox", "add", "from the inbox")["short"]
    machine.ok("inbox", "triage", item, "--to", "memory")
    place = machine.home
    journal = machine.journal()
    long_ago = clock.micros("2024-02-29T12:00:00.123456Z")
    with journal.writing(stores.memory(place)) as writer:
        old = writer.append(
            "memory.stored", wall=long_ago, content="told in 2024", type="event", ref="a", session="s9",
            source={"file": "x.py"},
        ).entity  # fmt: skip
        writer.append("memory.seen", old, wall=long_ago + clock.SECOND, ref="b", content="told again")
        anna, pump = (ids.derived_entity("entity", name) for name in ("anna", "pump"))
        writer.append(
            "entity.mentioned", anna, wall=long_ago, name="Anna", type="person", memory=old, context="she said"
        )
        writer.append("entity.mentioned", anna, name="Anna")
        writer.append("entity.mentioned", pump, name="Pump")
        writer.append("entity.linked", anna, relation="owns", target=pump, context="since 2020")
        other = ids.derived_entity("entity", "anne")
        writer.append("entity.mentioned", other, name="Anne")
        writer.append("entity.merged", other, into=anna)
        here = {"session": "s9", "project": "rocket"}
        session = ids.derived_entity("session", "s9")
        writer.append("session.started", session, wall=long_ago, how="startup", title="pump day", **here)
        writer.append("session.ended", session, reason="exit")
        writer.append("prompt.submitted", wall=long_ago + 5, text="why does it leak", number=1, **here)
        writer.append("turn.recorded", request="r", answer="a", commands=[{"command": "ls", "exit": 0}], **here)
        writer.append("observation.recorded", type="bugfix", title="Fixed", facts=["f"], concepts=["c"], **here)
        writer.append("session.summarised", request="pump", learned="seals wear", tokens=12, **here)
        writer.append("reflection.made", memories=[old], project="rocket")
        document = ids.derived_entity("document", "memory/NOTES.md")
        writer.append("document.text", document, name="memory/NOTES.md", text="mine\n")


def export(machine: Machine, to: Path) -> bytes:
    machine.ok("memory", "export", "--out", str(to))
    return to.read_bytes()


def test_export_and_import_lose_nothing(machines: list[Machine], tmp_path: Path) -> None:
    anna, bert, carl = machines
    fill(anna)
    content = export(anna, tmp_path / "a.jsonl")
    lines = [orjson.loads(line) for line in content.splitlines()]
    assert lines[0] == {"kind": "export", "format": 1}
    kinds = {line["kind"] for line in lines[1:]}
    assert kinds == {
        "memory", "entity", "relationship", "session", "prompt", "turn", "observation", "summary", "reflection", "document",
    }  # fmt: skip
    assert anna.ok("memory", "export").out.encode() == content == export(anna, tmp_path / "again.jsonl")
    assert "deleted" not in {line.get("content") for line in lines}
    done = bert.json("memory", "import", str(tmp_path / "a.jsonl"))
    assert sum(done["imported"].values()) == len(lines) - 1
    assert (done["known"], done["deleted"], done["unknown"]) == (0, 0, 0)
    assert export(bert, tmp_path / "b.jsonl") == content
    listing = ("memory", "list", "--include-superseded", "--scope", "all", "--limit", "99")
    assert bert.json(*listing) == anna.json(*listing)
    assert bert.json("memory", "stats")["unreflected"] == anna.json("memory", "stats")["unreflected"]
    # Once more, here and where it came from: nothing happens.
    for machine in (anna, bert):
        before = machine.digest()
        again = machine.json("memory", "import", str(tmp_path / "a.jsonl"))
        assert (again["imported"], again["known"]) == ({}, len(lines) - 1)
        assert machine.digest() == before
    # A third machine takes in the same file without knowing of the second.
    carl.ok("memory", "import", str(tmp_path / "a.jsonl"))
    exchange(bert, carl)
    assert export(bert, tmp_path / "b.jsonl") == export(carl, tmp_path / "c.jsonl") == content
    assert bert.json("conflicts") == []
    exchange(anna, bert)
    assert export(anna, tmp_path / "a2.jsonl") == export(bert, tmp_path / "b.jsonl")
    assert anna.json("conflicts") == []
    assert len(anna.json(*listing)) == len([line for line in lines if line["kind"] == "memory"])


def test_what_is_here_stays_as_it_is(machines: list[Machine], tmp_path: Path) -> None:
    anna, bert, _ = machines
    kept = anna.json("memory", "store", "the port is 5432", *PLACE)["id"]
    gone = anna.json("memory", "store", "something else", *PLACE)["id"]
    export(anna, tmp_path / "a.jsonl")
    bert.ok("memory", "import", str(tmp_path / "a.jsonl"))
    bert.ok("memory", "edit", kept, "the port is 1")
    bert.ok("memory", "delete", gone)
    again = bert.ok("memory", "import", str(tmp_path / "a.jsonl"))
    assert "1 of these was deleted here" in again.err
    assert [one["content"] for one in bert.json("memory", "list", "--scope", "all")] == ["the port is 1"]
    bert.ok("undo", "3")  # delete, edit and the whole import
    assert bert.json("memory", "list", "--scope", "all") == []


def test_two_states_of_one_memory_are_a_conflict_not_a_loss(machines: list[Machine], tmp_path: Path) -> None:
    anna, bert, carl = machines
    id_ = anna.json("memory", "store", "the port is 5432", *PLACE)["id"]
    export(anna, tmp_path / "old.jsonl")
    anna.ok("memory", "edit", id_, "the port is 5433")
    export(anna, tmp_path / "new.jsonl")
    bert.ok("memory", "import", str(tmp_path / "old.jsonl"))
    carl.ok("memory", "import", str(tmp_path / "new.jsonl"))
    exchange(bert, carl)
    (conflict,) = bert.json("conflicts")
    assert {side["value"] for side in conflict["sides"]} == {"the port is 5432", "the port is 5433"}


def test_import_from_stdin_and_the_clock_to_the_microsecond(program: Cli, cli: Cli, home: Path) -> None:
    stored = cli("memory", "store", "just now", "--json").json
    content = program("memory", "export").out
    done = program(
        "memory", "import", "-", "--json", "--data-dir", str(home / "other"), input=b"\xef\xbb\xbf" + content
    )
    assert (done.code, orjson.loads(done.out)["imported"]) == (0, {"memory": 1})
    listed = program("memory", "list", "--json", "--scope", "all", "--data-dir", str(home / "other"))
    assert orjson.loads(listed.out)[0]["created_at"] == stored["created_at"]


def memory(**more: Any) -> bytes:
    row = {"kind": "memory", "id": "kfhq2m9xt47w", "content": "x", "entry_type": "fact"}
    return orjson.dumps(row | more) + b"\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "line 1 is not JSON"),
        (b"[]\n", "line 1 is no line of an export"),
        (b'{"content":"x"}\n', "no line of an export"),
        (b"\xff\xfe\n", "line 1 is not JSON"),
        (b'{"kind":"export","format":99}\n', "format 99"),
        (memory() + memory(id="short"), "line 2: id is no id"),
        (memory(id=7), "line 1: id is no id"),
        (memory(content=""), "line 1: content is missing"),
        (memory(content=["x"]), "line 1: content is missing"),
        (memory(entry_type=None), "line 1: entry_type is missing"),
        (memory(importance="high"), "line 1: memory.stored"),
        (memory(created_at="yesterday"), "line 1: 'yesterday' is no time"),
        (memory(created_at=5), "line 1: created_at is no time"),
        (memory(created_at="9999-12-31T23:59:59Z"), "out of range"),
        (memory(seen=["again"]), "line 1: seen is no list of objects"),
        (memory(seen={}), "line 1: seen is no list"),
        (memory(seen=[{"ref": 5}]), "line 1: memory.seen"),
        (memory(superseded_by="x"), "line 1: superseded_by is no id"),
        (memory(tags=[5]), "line 1: memory.stored"),
        (memory(content="word " * 60_000), "too long"),
        (b'{"kind":"entity","id":"kfhq2m9xt47w"}\n', "line 1: name is missing"),
        (b'{"kind":"relationship","source":"kfhq2m9xt47w"}\n', "line 1: target is no id"),
        (b'{"kind":"turn","id":"kfhq2m9xt47w","commands":5}\n', "line 1: turn.recorded"),
        (b'{"kind":"prompt","id":"kfhq2m9xt47w"}\n', "line 1: prompt.submitted"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(cli: Cli, tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(memory(id="aahq2m9xt47w") + content if not content.startswith(b'{"kind":"export"') else content)
    said = (
        said.replace("line 2", "line 3").replace("line 1", "line 2")
        if not content.startswith(b'{"kind":"exp')
        else said
    )
    result = cli("memory", "import", str(file))
    assert (result.code, result.out) == (2, "")
    assert said in result.err
    assert len(result.err.splitlines()) == 2
    assert cli("memory", "list", "--scope", "all", "--json").json == []


def test_files_that_cannot_be_read_or_written(cli: Cli, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.jsonl", tmp_path):
        result = cli("memory", "import", str(path))
        assert (result.code, len(result.err.splitlines())) == (1, 2)
        assert "memory export" in result.err
        assert str(path) in result.err
    assert cli("memory", "export", "--out", str(tmp_path)).code == 2
    assert cli("memory", "export", "--out", str(tmp_path / "no" / "file")).code == 2
    (tmp_path / "empty").write_bytes(b"\n\n")
    assert cli("memory", "import", str(tmp_path / "empty"), "--json").json["imported"] == {}
    assert cli("memory", "export").out == '{"kind":"export","format":1}\n'


def test_what_a_newer_version_wrote_is_passed_over_and_told(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(b'{"kind":"dream","id":"x"}\n' + memory(mood="good", created_at="2024-01-01"))
    result = cli("memory", "import", str(file))
    assert (result.code, "1 line is of a kind" in result.err) == (0, True)
    listed = cli("memory", "list", "--json", "--scope", "all").json
    assert [(one["content"], one["created_at"][:4]) for one in listed] == [("x", "2024")]


def test_a_line_twice_in_one_file_is_one(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    file.write_bytes(memory() + memory())
    assert cli("memory", "import", str(file), "--json").json == {
        "imported": {"memory": 1}, "known": 1, "deleted": 0, "unknown": 0,
    }  # fmt: skip


def test_secrets_in_a_file_are_masked(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "file.jsonl"
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    file.write_bytes(memory(content=f"the token is {token}"))
    result = cli("memory", "import", str(file))
    assert result.code == 0
    assert token not in cli("memory", "list", "--json", "--scope", "all").out
    assert "masked" in cli("memory", "list", "--json", "--scope", "all").out
