"""The graph through the real journal and command line: one spelling, merging, removing, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from two_machines import Machine, exchange

from mait_code.commands import graph, graph_names
from mait_code.commands.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., Any]


def tell(*facts: tuple[Any, ...], memory: str | None = None) -> list[Any]:
    """Mention (name, type) and link (source, relation, target) things in one action."""
    with Workspace.open() as ws:
        store = ws.store("memory")
        with ws.journal.writing(store) as writer:
            done: list[Any] = []
            for fact in facts:
                if len(fact) == 2:
                    done.append(graph.mention(writer, store, *fact, memory=memory))
                else:
                    done.append(graph.link(writer, store, *fact, memory=memory))
        ws.refreshed("memory")
    return done


def listed(cli: Cli, *query: str) -> dict[str, dict[str, Any]]:
    result = cli("memory", "entities", *query, "--json")
    assert result.code == 0, result.err
    return {one["name"]: one for one in result.json}


def relations(cli: Cli, name: str) -> set[tuple[str, str, str]]:
    result = cli("memory", "relationships", name, "--json")
    assert result.code == 0, result.err
    return {(one["direction"], one["relationship_type"], one["entity"]["name"]) for one in result.json["relationships"]}


# -- one spelling ------------------------------------------------------------------------------------------------------


def test_a_name_is_one_thing_in_whatever_case_and_spacing(cli: Cli) -> None:
    tell(
        ("Ada Lovelace", "person"),
        ("ada  lovelace", "unknown"),
        (" ADA\tLOVELACE ", "unknown"),
        ("`Ada Lovelace`", "tool"),
    )
    found = listed(cli)
    assert list(found) == ["Ada Lovelace"]
    assert (found["Ada Lovelace"]["entity_type"], found["Ada Lovelace"]["mention_count"]) == ("person", 4)
    assert graph_names.entity_of("Caf\u00e9") == graph_names.entity_of("CAFE\u0301")


def test_a_type_is_raised_from_unknown_and_then_kept(cli: Cli) -> None:
    tell(("redis", "unknown"))
    tell(("redis", "service"))
    tell(("Redis", "concept"))
    assert listed(cli)["redis"]["entity_type"] == "service"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("module", "concept"), ("Component", "concept"), ("feature", "concept"), ("pattern", "concept"),
        ("process", "concept"), ("artifact", "concept"), ("reference", "concept"), ("resource", "concept"),
        ("system", "service"), ("infrastructure", "service"), ("org", "org"), ("PERSON", "person"),
        ("gadget", "unknown"), ("", "unknown"),
    ],
)  # fmt: skip
def test_types_are_canonical_on_write(cli: Cli, given: str, kept: str) -> None:
    tell(("thing", given))
    assert listed(cli)["thing"]["entity_type"] == kept


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("runs_on", "depends_on"), ("runs on", "depends_on"), ("implements", "contributes_to"),
        ("integrates-with", "uses"), ("Owns", "owns"), ("likes", "related_to"), ("", "related_to"),
    ],
)  # fmt: skip
def test_relations_are_canonical_on_write(cli: Cli, given: str, kept: str) -> None:
    assert tell(("App", given, "Linux")) == [True]
    assert relations(cli, "app") == {("out", kept, "Linux")}
    assert relations(cli, "LINUX") == {("in", kept, "App")}


PASSING = [
    "v1.2.3", "1.2", "version 2", "v2", "1.2.3-rc.1", "2.x", "#42", "PR 12", "PR #12", "MR-7", "issue 5", "GH-9", "card 12kf",
    "PROJ-123", "acme/rocket#12", "a1b2c3d", "commit abc123f", "0123456789abcdef0123456789abcdef01234567", "feature/login",
    "fix/the-thing", "origin/main", "refs/heads/x", "main", "master", "login branch", "2026-11-30", "12", "127.0.0.1",
    "6f1c0b7e-9a2d-4c5e-8b10-6f1c0b7e9a2d", "", "  ", "x" * 201, "bad\x1b[31mname",
]  # fmt: skip
LASTING = [
    "Redis", "Python 3.11", "UTF-8", "SHA-256", "acme/rocket", "C#", "S3", "GPT-4", "V8", "Ada Lovelace", "facade", "7-Zip",
    "漢字", "Straße", "docs/sync.md", "x" * 200, "defaced", "Main Street",
]  # fmt: skip


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_no_thing(cli: Cli, name: str) -> None:
    assert tell((name, "tool"), ("Redis", "uses", name), (name, "uses", "Redis")) == [None, False, False]
    assert listed(cli) == {}


@pytest.mark.parametrize("name", LASTING)
def test_what_lasts_is_one(cli: Cli, name: str) -> None:
    assert tell((name, "tool")) != [None]
    assert list(listed(cli)) == [name]


# -- looking -----------------------------------------------------------------------------------------------------------


def test_listing_is_by_mentions_and_takes_part_of_a_name(cli: Cli) -> None:
    tell(("Redis", "tool"), ("redis", "tool"), ("Redwood", "tool"), ("Ada", "person"))
    assert list(listed(cli)) == ["Redis", "Ada", "Redwood"]
    assert list(listed(cli, "RED")) == ["Redis", "Redwood"]
    assert list(listed(cli, "list", "wood")) == ["Redwood"]
    assert len(listed(cli, "--limit", "2")) == 2
    text = cli("memory", "entities", "redis").out
    assert text.split()[1:] == ["Redis", "tool,", "2", "mentions"]
    assert "has 'nobody' in its name" in cli("memory", "entities", "nobody").out


def test_relationships_by_name_and_id_and_unknown_ones(cli: Cli) -> None:
    tell(
        ("Ada Lovelace", "person"),
        ("Ada Lovelace", "uses", "Redis", "for queues"),
        ("Rocket", "depends_on", "Ada Lovelace"),
    )
    thing = listed(cli)["Ada Lovelace"]
    expected = {("out", "uses", "Redis"), ("in", "depends_on", "Rocket")}
    for name in ("ada lovelace", thing["id"], thing["short"], f"entity/{thing['id']}"):
        assert relations(cli, name) == expected
    lines = cli("memory", "relationships", "Ada", "Lovelace").out.splitlines()
    assert lines[0] == "Ada Lovelace (person)"
    assert lines[1].split() == ["→", "uses", "Redis", "(unknown)", "for", "queues"]
    assert lines[2].split() == ["←", "depends_on", "Rocket", "(unknown)"]
    unknown = cli("memory", "relationships", "Ada Lovelase")
    assert unknown.code == 1
    assert "did you mean Ada Lovelace?" in unknown.err
    assert cli("memory", "relationships").code == 2


def test_a_thing_is_not_linked_to_itself_nor_twice(cli: Cli, home: Path) -> None:
    assert tell(("Redis", "uses", "REDIS"), ("App", "uses", "Redis")) == [False, True]
    assert tell(("app", "uses", "redis")) == [False]
    assert tell(("app", "uses", "redis", "as a queue")) == [True]
    answer = cli("memory", "relationships", "app", "--json").json
    assert [one["context"] for one in answer["relationships"]] == ["as a queue"]


# -- merging -----------------------------------------------------------------------------------------------------------


def merged(cli: Cli, *names: str) -> dict[str, Any]:
    result = cli("memory", "entities", "merge", *names, "--json")
    assert result.code == 0, result.err
    answer: dict[str, Any] = result.json
    return answer


def test_merging_repoints_links_and_counts(cli: Cli) -> None:
    tell(
        ("k8s", "tool"), ("Kubernetes", "unknown"), ("k8s", "uses", "etcd"), ("App", "runs_on", "k8s"),
        ("App", "runs_on", "Kubernetes"), ("k8s", "related_to", "Kubernetes"), ("Kubernetes", "uses", "Linux"),
    )  # fmt: skip
    before = {name: relations(cli, name) for name in ("k8s", "Kubernetes", "App")}
    done = merged(cli, "K8S", "kubernetes")
    assert (done["repointed"], done["deduplicated"], done["self_loops"]) == (1, 1, 1)
    assert done["name"] == "Kubernetes"
    found = listed(cli)
    assert set(found) == {"Kubernetes", "App", "etcd", "Linux"}
    assert found["Kubernetes"]["merged"] == ["k8s"]
    assert found["Kubernetes"]["mention_count"] == 2
    assert found["Kubernetes"]["entity_type"] == "tool"
    expected = {("out", "uses", "etcd"), ("out", "uses", "Linux"), ("in", "depends_on", "App")}
    assert relations(cli, "Kubernetes") == relations(cli, "k8s") == expected
    assert list(listed(cli, "k8s")) == ["Kubernetes"]
    # Later mentions go where it went.
    tell(("K8s", "tool"), ("k8s", "owns", "Pods"))
    assert listed(cli)["Kubernetes"]["mention_count"] == 3
    assert ("out", "owns", "Pods") in relations(cli, "kubernetes")
    assert cli("memory", "entities", "merge", "k8s", "Kubernetes").code == 1
    assert cli("undo").code == 0
    assert cli("undo").code == 0
    assert {name: relations(cli, name) for name in before} == before
    assert cli("conflicts", "list", "--json").json == []


def test_merging_is_one_action_with_what_creates_first(cli: Cli) -> None:
    tell(("App", "uses", "k8s"), ("Kubernetes", "tool"))
    assert "1 link repointed, 0 there already, 0 dropped" in cli("memory", "entities", "merge", "k8s", "Kubernetes").out
    with Workspace.open() as ws:
        store = ws.reading("memory")
        names = ("App", "k8s", "Kubernetes")
        events = sorted(
            (event for name in names for event in store.events_of(graph_names.entity_of(name))), key=lambda one: one.key
        )
    last = [event for event in events if event.tx == events[-1].tx]
    assert [event.kind for event in last] == ["entity.linked", "entity.merged", "entity.removed"]


def test_merges_of_merges_and_wrong_usage(cli: Cli) -> None:
    tell(("a one", "tool"), ("b two", "tool"), ("c three", "tool"))
    merged(cli, "a one", "b two")
    merged(cli, "b two", "c three")
    assert listed(cli)["c three"]["merged"] == ["a one", "b two"] or listed(cli)["c three"]["merged"] == [
        "b two",
        "a one",
    ]
    assert set(listed(cli)) == {"c three"}
    assert tell(("A One", "tool")) == [graph_names.entity_of("c three")]
    assert cli("memory", "entities", "merge", "a one").code == 2
    assert cli("memory", "entities", "merge", "a", "b", "c").code == 2
    assert cli("memory", "entities", "merge", "nobody", "c three").code == 1
    assert cli("memory", "entities", "merge", "c three", "C Three").code == 1
    assert cli("memory", "entities", "remove").code == 2


# -- removing ----------------------------------------------------------------------------------------------------------


def test_what_was_removed_is_not_brought_back_by_a_mention(cli: Cli) -> None:
    tell(("Redis", "tool"), ("App", "uses", "Redis"), ("redis-alias", "tool"))
    merged(cli, "redis-alias", "Redis")
    refused = cli("memory", "entities", "remove", "redis-alias")
    assert refused.code == 1
    assert "merged into Redis" in refused.err
    assert cli("memory", "entities", "remove", "redis").code == 0
    assert set(listed(cli)) == {"App"}
    assert relations(cli, "App") == set()
    assert tell(("Redis", "tool"), ("redis-alias", "tool"), ("App", "uses", "Redis")) == [None, None, False]
    assert set(listed(cli)) == {"App"}
    assert cli("memory", "relationships", "Redis").code == 1
    assert cli("memory", "entities", "remove", "Redis").code == 1
    assert cli("conflicts", "list", "--json").json == []
    assert cli("undo").code == 0
    assert relations(cli, "App") == {("out", "uses", "Redis")}
    assert listed(cli)["Redis"]["merged"] == ["redis-alias"]


def test_what_only_deleted_memories_spoke_of_does_not_show(cli: Cli) -> None:
    first = cli("memory", "store", "the app keeps its queue in Redis", "--json").json["id"]
    second = cli("memory", "store", "Redis listens on its usual port", "--json").json["id"]
    tell(("Redis", "tool"), ("App", "uses", "Redis"), ("Redis", "uses", "Sockets"), memory=f"memory/{first}")
    tell(("Redis", "tool"), ("App", "uses", "Redis"), memory=f"memory/{second}")
    assert listed(cli)["Redis"]["mention_count"] == 2
    with Workspace.open() as ws:
        store = ws.store("memory")
        with ws.journal.writing(store) as writer:
            writer.append("memory.deleted", f"memory/{first}")
    assert set(listed(cli)) == {"Redis", "App"}
    assert listed(cli)["Redis"]["mention_count"] == 1
    assert relations(cli, "Redis") == {("in", "uses", "App")}
    with Workspace.open() as ws:
        store = ws.store("memory")
        with ws.journal.writing(store) as writer:
            writer.append("memory.deleted", f"memory/{second}")
    assert listed(cli) == {}


# -- two machines ------------------------------------------------------------------------------------------------------


def test_two_machines_that_merge_each_into_the_other_agree(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (Machine(tmp_path, name, cli, monkeypatch) for name in ("one", "other"))
    one.enter()
    tell(("k8s", "tool"), ("Kubernetes", "tool"), ("App", "uses", "k8s"), ("App", "uses", "Kubernetes"))
    exchange(one, other)
    one.ok("memory", "entities", "merge", "k8s", "Kubernetes")
    other.ok("memory", "entities", "merge", "Kubernetes", "k8s")
    exchange(one, other)
    shown = []
    for machine in (one, other):
        names = {thing["name"]: thing for thing in machine.json("memory", "entities")}
        assert len(names) == 2, names
        kept = next(name for name in names if name != "App")
        shown.append((kept, names[kept]["mention_count"], tuple(names[kept]["merged"])))
        assert machine.json("conflicts", "list") == []
    assert shown[0] == shown[1]
    assert shown[0][1] == 2


def test_links_written_elsewhere_at_the_time_of_a_merge_show_under_the_target(
    tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (Machine(tmp_path, name, cli, monkeypatch) for name in ("one", "other"))
    one.enter()
    tell(("k8s", "tool"), ("Kubernetes", "tool"))
    exchange(one, other)
    one.ok("memory", "entities", "merge", "k8s", "Kubernetes")
    other.enter()
    tell(("App", "uses", "k8s"), ("k8s", "uses", "etcd"), ("k8s", "tool"))
    exchange(one, other)
    for machine in (one, other):
        related = machine.json("memory", "relationships", "kubernetes")["relationships"]
        assert {(r["direction"], r["entity"]["name"]) for r in related} == {("out", "etcd"), ("in", "App")}


def test_the_same_answers_after_a_rebuild(cli: Cli) -> None:
    tell(("k8s", "tool"), ("Kubernetes", "tool"), ("App", "uses", "k8s"), ("gone", "tool"))
    merged(cli, "k8s", "Kubernetes")
    assert cli("memory", "entities", "remove", "gone").code == 0
    before = cli("memory", "entities", "--json").json
    assert cli("rebuild").code == 0
    assert cli("memory", "entities", "--json").json == before
