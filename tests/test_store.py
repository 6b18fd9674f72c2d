"""Stores: a damaged file heals by itself and says the same as before; nobody ever takes an emptied store for a full one."""

from __future__ import annotations

import fcntl
import os
import random
import shutil
import subprocess
import threading
from typing import TYPE_CHECKING

import apsw
import pytest
from workers.place import Place, another, read, write

from mait_code.commands.workspace import Workspace
from mait_code.journal import kinds
from mait_code.journal.errors import Busy
from mait_code.projections import board_queries, ids, stores
from mait_code.projections import store as store_module
from mait_code.projections.digest import digest
from mait_code.projections.rebuild import rebuild

if TYPE_CHECKING:
    from collections.abc import Callable

    from mait_code.projections.store import Store


@pytest.fixture
def place(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A machine with something in every store, all of them folded and closed."""
    monkeypatch.setenv("MAIT_CODE_MACHINE_ID", "machine-1")
    place = Place(tmp_path_factory.mktemp("place"))
    fill(place, 40)
    place.folded()
    return place


def fill(place: Place, count: int) -> None:
    journal = place.journal()
    opened = place.stores()
    with journal.writing(*opened) as writer:
        for number in range(count):
            card = writer.append("card.created", title=f"card {number} " + "x" * 300, number=number + 1)
            writer.append("card.moved", card.entity, column="done")
            writer.append("card.tagged", card.entity, tag="blocked")
            writer.append("inbox.captured", body=f"thought {number}")
            when = {"due": "2030-01-01T09:00", "zone": "Europe/Berlin"}
            writer.append("reminder.set", what=f"reminder {number}", when=when)
    for store in opened:
        store.close()


def checkpoint(path: str) -> None:
    """Put everything into the main file, so that damage to it counts."""
    db = apsw.Connection(path)
    db.pragma("user_version")  # a connection that has read nothing has no log to take back
    assert db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE) == (0, 0)
    db.close()


def rows_of(store: Store) -> list[tuple[object, ...]]:
    return [
        row
        for table in sorted(store.projection.tables)
        for row in sorted(store.query(f"SELECT * FROM {table}"), key=repr)
    ]


def sql(path: str, *statements: str) -> None:
    db = apsw.Connection(path)
    for statement in statements:
        db.execute(statement)
    db.close()


def damage_page(path: str, name: str) -> None:
    """Overwrite the first page of a table or an index."""
    checkpoint(path)
    db = apsw.Connection(path)
    page: int = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).get or 1
    size: int = db.pragma("page_size")
    db.close()
    content = bytearray(read(path))
    start = (page - 1) * size + (100 if page == 1 else 0)
    content[start : page * size] = os.urandom(page * size - start)
    write(path, bytes(content))


def each_file(path: str, act: Callable[[str], object]) -> None:
    for ending in ("", "-wal", "-shm"):
        if os.path.exists(path + ending):
            act(path + ending)


def cut(path: str, parts: int) -> None:
    checkpoint(path)
    content = read(path)
    write(path, content[: len(content) * parts // 10])


def header(path: str) -> None:
    checkpoint(path)
    content = read(path)
    write(path, b"SQLite format 3\0" + os.urandom(84) + content[100:])


DAMAGES: dict[str, Callable[[str], object]] = {
    "garbage": lambda path: write(path, os.urandom(20000)),
    "garbage-everywhere": lambda path: each_file(path, lambda one: write(one, os.urandom(9000))),
    "text": lambda path: write(path, b"This is no database.\n" * 50),
    "zero-bytes": lambda path: write(path, b""),
    "zero-bytes-everywhere": lambda path: each_file(path, lambda one: write(one, b"")),
    "zeros": lambda path: write(path, bytes(40960)),
    "truncated-early": lambda path: cut(path, 1),
    "truncated-late": lambda path: cut(path, 8),
    "header": header,
    "no-log": lambda path: [os.unlink(path + end) for end in ("-wal", "-shm") if os.path.exists(path + end)],
    "no-main": os.unlink,
    "log-garbage": lambda path: write(path + "-wal", os.urandom(30000)),
    "log-directory": lambda path: (each_file(path + "-wal", os.unlink), os.mkdir(path + "-wal")),
    "index-directory": lambda path: (each_file(path + "-shm", os.unlink), os.mkdir(path + "-shm")),
    "all-gone": lambda path: each_file(path, os.unlink),
    "directory": lambda path: (each_file(path, os.unlink), os.mkdir(path)),
    "full-directory": lambda path: (each_file(path, os.unlink), os.mkdir(path), write(path + "/file", b"x")),
    "link-to-nowhere": lambda path: (each_file(path, os.unlink), os.symlink("/nowhere/at/all", path)),
    "pipe": lambda path: (each_file(path, os.unlink), os.mkfifo(path)),
    "another-database": lambda path: (
        each_file(path, os.unlink),
        sql(path, "CREATE TABLE t (x)", "PRAGMA user_version = 9"),
    ),
    "a-database-with-our-names": lambda path: (
        each_file(path, os.unlink),
        sql(path, "CREATE VIEW segments AS SELECT 1", "CREATE TABLE meta (x)", "PRAGMA user_version = 2"),
    ),
    "meta-empty": lambda path: sql(path, "DELETE FROM meta"),
    "mark-text": lambda path: sql(path, "UPDATE meta SET value = 'x' WHERE key = 'mark'"),
    "mark-json": lambda path: sql(path, "UPDATE meta SET value = CAST('{\"a\": 1}' AS BLOB) WHERE key = 'mark'"),
    "mark-shape": lambda path: sql(
        path, "UPDATE meta SET value = CAST('[\"\", {\"a\": [1]}]' AS BLOB) WHERE key = 'mark'"
    ),
    "no-entities": lambda path: sql(path, "DROP TABLE entities"),
    "no-conflicts": lambda path: sql(path, "DROP TABLE conflicts"),
    "no-segments": lambda path: sql(path, "DROP TABLE segments"),
    "no-events": lambda path: sql(path, "DROP TABLE events"),
    "entities-page": lambda path: damage_page(path, "entities"),
    "events-page": lambda path: damage_page(path, "events"),
    "meta-page": lambda path: damage_page(path, "meta"),
    "schema-page": lambda path: damage_page(path, "sqlite_schema"),
    "index-page": lambda path: damage_page(path, "events_entity"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["board", "journal"])
def test_a_damaged_store_heals_with_the_next_command(place: Place, name: str, damage: str) -> None:
    """The next command may be one that reads, or one that writes: both do their work, and the store says what it said."""
    expected = place.folded_anew()
    for write_first in (False, True):
        store = stores.OPENERS[name](place.home)
        path = store.path
        DAMAGES[damage](path)
        if write_first:
            with place.journal().writing(store) as writer:
                kind, data = ("card.created", {"title": "t"}) if name == "board" else ("inbox.captured", {"body": "b"})
                writer.append(kind, **data)
            expected = place.folded_anew()
        store.catch_up(wait=False)
        before = rows_of(store)
        assert digest(store) == expected[store.name]
        assert not store.in_memory
        store.conflicted()
        store.gone()
        store.close()
        with stores_of(place) as fresh:
            rebuild(place.home, [fresh[name]])
            assert rows_of(fresh[name]) == before
        assert place.folded() == expected, "and the command after that finds a sound store"
        path_is_sound(path)


class stores_of:  # noqa: N801
    """The four stores by name, closed afterwards."""

    def __init__(self, place: Place) -> None:
        self._stores = dict(zip(stores.NAMES, place.stores(), strict=True))

    def __enter__(self) -> dict[str, Store]:
        return self._stores

    def __exit__(self, *_exception: object) -> None:
        for store in self._stores.values():
            store.close()


def path_is_sound(path: str) -> None:
    db = apsw.Connection(path)
    assert db.pragma("quick_check") == "ok"
    db.close()


@pytest.mark.parametrize("table", ["cards", "card_tags", "conflicts", "gone", "entities"])
def test_damage_that_only_a_question_finds(place: Place, table: str) -> None:
    """Nothing is new, so catching up touches no damaged page: the question that does makes the store again."""
    board = stores.board(place.home)
    with place.journal().writing(board) as writer:
        for number in range(3):
            card = writer.append("card.created", title=f"more {number}")
            writer.append("card.moved", card.entity, sees={}, column="done")
            writer.append("card.moved", card.entity, sees={}, column="refined")
    line = read(os.path.join(place.home.journal, next(iter(place.segments())))).splitlines()[0]
    folder = os.path.join(place.home.journal, "0ther0ne")
    os.makedirs(folder)
    write(os.path.join(folder, "000001.jsonl"), another(line, title="soon gone") + b"\n")
    board.catch_up()
    shutil.rmtree(folder)
    board.catch_up()
    questions: dict[str, Callable[[Store], object]] = {
        "cards": lambda store: store.query("SELECT * FROM cards ORDER BY id"),
        "card_tags": lambda store: store.query("SELECT * FROM card_tags ORDER BY card_id"),
        "conflicts": lambda store: store.conflicted(),
        "gone": lambda store: store.gone(),
        "entities": lambda store: list(store.states()),
    }
    expected, gone = questions[table](board), board.gone()
    board.close()
    damage_page(board.path, table)
    again = stores.board(place.home)
    again.catch_up()
    if table == "gone":
        assert questions[table](again) == [], "they were in that page and nowhere else"
    else:
        assert questions[table](again) == expected
        assert again.gone() == gone, "what is in no file is saved from the damaged one"
    again.close()
    path_is_sound(board.path)
    assert os.path.exists(board.path + ".damaged"), "put aside, never deleted unseen"


def test_a_state_damaged_inside_is_folded_from_its_lines(place: Place) -> None:
    """SQLite has no checksums, so a flipped bit in a text passes it. What does not fit is folded again."""
    board = stores.board(place.home)
    board.catch_up()
    entities = [row[0] for row in board.query("SELECT entity FROM entities ORDER BY entity LIMIT 4")]
    board.close()
    wrecks = ["{", "{}", "[]", '{"k":null,"c":"","u":"","r":{},"x":{}}']
    for entity, wreck in zip(entities, wrecks, strict=True):
        sql(board.path, f"UPDATE entities SET state = CAST('{wreck}' AS BLOB) WHERE entity = '{entity}'")
    board = stores.board(place.home)
    with place.journal().writing(board) as writer:
        for entity in entities[1:]:
            writer.append("card.moved", entity, sees={}, column="backlog")
    board.catch_up()
    board.close()
    inbox = stores.board(place.home)
    inbox.state(entities[0])  # cannot be read: the whole store is made again
    inbox.close()
    assert place.folded() == place.folded_anew()


def test_a_line_damaged_in_the_index_does_not_vanish_from_a_state(place: Place) -> None:
    board = stores.board(place.home)
    board.catch_up()
    entity = board.query("SELECT entity FROM entities LIMIT 1")[0][0]
    board.close()
    sql(
        board.path,
        f"UPDATE events SET line = CAST(replace(CAST(line AS TEXT), 'xxx', 'xyx') AS BLOB) WHERE entity = '{entity}'",
    )
    board = stores.board(place.home)
    early = {"at": "1999-01-01T00:00:00.000000Z"}
    event = place.events()[0]
    event.kind, event.entity, event.data, event.sees = "card.moved", entity, {"column": "refined"}, {}
    event.id = event.tx = "0" * 20
    event.at, event.replica = early["at"], "0ther0ne"
    os.makedirs(os.path.join(place.home.journal, "0ther0ne"))
    write(os.path.join(place.home.journal, "0ther0ne", "000001.jsonl"), event.line() + b"\n")
    board.catch_up()
    board.close()
    assert place.folded() == place.folded_anew()


def test_flipped_bits_anywhere_in_a_file(place: Place) -> None:
    """Bits flipped anywhere in a store's file. SQLite notices most; what it lets through may make one command stumble over
    a value that cannot be, and the next one is right again."""
    board = stores.board(place.home)
    board.close()
    checkpoint(board.path)
    whole = read(board.path)
    seed = 20261130
    generator = random.Random(seed)
    expected, shown = place.folded_anew()["board.db"], 0
    for round_ in range(80):
        content = bytearray(whole)
        for _ in range(generator.choice([1, 3, 30])):
            content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        each_file(board.path, os.unlink)
        write(board.path, bytes(content))
        failed = False
        try:
            use(place)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            failed = True  # one command may stumble; it tells the next one
            shown += 1
        try:
            use(place)
            store = stores.board(place.home)
            store.catch_up()
            assert not failed or digest(store) == expected
            store.rebuild()
            assert digest(store) == expected
            store.close()
        except Exception as error:
            raise AssertionError(f"seed {seed}, round {round_}") from error
    assert shown < 20


def use(place: Place) -> None:
    """Ask a store everything that commands ask, and decide on it as one that writes does."""
    with Workspace(place.home) as ws:
        board = ws.board
        rows_of(board)
        digest(board)
        board.conflicted()
        cards = board_queries.cards(board)
        counts = board_queries.counts(board)
        assert sum(counts.values()) >= 0
        for card in cards[:3]:
            if not board.heads(f"card/{card.id}"):
                raise LookupError(f"{card.id} is shown and not known")
            board.events_of(f"card/{card.id}")
        ids.next_number(board)


@pytest.mark.parametrize("damage", ["garbage", "header", "directory", "no-entities"])
def test_eight_processes_find_the_damage_at_once(place: Place, damage: str) -> None:
    """One puts the file away, the others find its successor; all answer the same."""
    expected = place.folded_anew()
    path = stores.board(place.home).path
    DAMAGES[damage](path)
    children = [
        subprocess.Popen(
            place.command("workers.reading_store", "board"), env=place.environment(), stdout=subprocess.PIPE, text=True
        )
        for _ in range(8)
    ]
    answers = [child.communicate(timeout=60)[0].strip() for child in children]
    assert [child.returncode for child in children] == [0] * 8
    assert set(answers) == {expected["board.db"]}
    assert place.folded() == expected
    path_is_sound(path)


def test_who_finds_the_damage_second_leaves_the_new_file_alone(place: Place) -> None:
    second = stores.board(place.home)
    second.catch_up()
    damage_page(second.path, "entities")
    first = stores.board(place.home)
    assert list(first.states())
    assert os.path.exists(first.path + ".damaged")
    made_again = os.stat(first.path).st_ino
    expected = digest(first)
    damage = apsw.CorruptError("as the second one would meet it, had it not read the page before")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second, "_catch_up", raising_once(damage, second._catch_up))
        second.catch_up()
    assert digest(second) == expected
    assert os.stat(first.path).st_ino == made_again
    first.close()
    second.close()


def raising_once(error: Exception, real: Callable[..., object]) -> Callable[..., object]:
    left = [error]

    def raising(*arguments: object) -> object:
        if left:
            raise left.pop()
        return real(*arguments)

    return raising


def test_nobody_opens_a_store_while_another_puts_its_file_away(place: Place) -> None:
    """The main file of one store and the write-ahead log of the next would be a store that never was."""
    order: list[str] = []
    with open(place.home.in_state("stores.lock"), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        opening = threading.Thread(target=lambda: (stores.board(place.home).catch_up(), order.append("opened")))
        opening.start()
        opening.join(0.2)
        order.append("put away")
    opening.join(60)
    assert order == ["put away", "opened"]


def test_a_mark_is_not_written_into_a_store_that_was_emptied_meanwhile(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process finds that nothing is new; before it writes that down, another makes the store anew."""
    monkeypatch.setattr(store_module.reading, "RACY_NANOSECONDS", -1)
    for entry in (place.home.journal, *(one.path for one in os.scandir(place.home.journal) if one.is_dir())):
        os.utime(entry)
    slow = stores.board(place.home)
    real = store_module.reading.plan

    def interrupted(*arguments: object, **more: object) -> object:
        found = real(*arguments, **more)  # type: ignore[arg-type]
        monkeypatch.setattr(store_module.reading, "plan", real)
        sql(slow.path, "UPDATE meta SET value = 'an older program' WHERE key = 'stamp'")
        other = stores.board(place.home)
        other.db  # makes the tables anew, folds nothing yet  # noqa: B018
        other.close()
        return found

    monkeypatch.setattr(store_module.reading, "plan", interrupted)
    slow.catch_up()
    slow.close()
    assert place.folded() == place.folded_anew()


def test_another_set_of_kinds_folds_anew(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    os.unlink(os.path.join(place.home.journal, next(iter(place.segments()))))
    expected = place.folded()
    board = stores.board(place.home)
    gone = board.gone()
    assert len(gone) == 120
    board.close()
    monkeypatch.setattr(kinds, "fingerprint", lambda: "a newer program")
    assert place.folded() == expected == place.folded_anew()
    assert board.gone() == gone, "nowhere but in the store"
    board.close()


def test_a_store_of_another_name_is_not_taken_for_ours(place: Place) -> None:
    expected = place.folded_anew()
    board, inbox = stores.board(place.home), stores.inbox(place.home)
    checkpoint(inbox.path)
    each_file(board.path, os.unlink)
    shutil.copy(inbox.path, board.path)
    assert place.folded() == expected


def test_rebuilding_keeps_the_events_that_are_gone(place: Place) -> None:
    """They are in no file: the store is the last that has them."""
    board = stores.board(place.home)
    board.catch_up()
    name = next(iter(place.segments()))
    os.unlink(os.path.join(place.home.journal, name))
    board.catch_up()
    gone = board.gone()
    assert len(gone) == 120
    board.rebuild()
    assert board.gone() == gone
    board.close()


def test_a_store_that_is_written_elsewhere_is_busy_for_a_writer_and_open_for_a_reader(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "WRITER_WAIT_MS", 50)
    board = stores.board(place.home)
    board.catch_up()
    cards = rows_of(board)
    other = apsw.Connection(board.path)
    other.execute("BEGIN IMMEDIATE")
    fill(place_without_stores(place), 2)
    caught = board.catch_up(wait=False)
    assert (caught.folded, caught.behind, board.behind) == (0, 6, 6)
    assert rows_of(board) == cards
    with pytest.raises(Busy, match=r"board\.db"):
        board.catch_up()
    with pytest.raises(Busy):
        rebuild(place.home, [board])
    other.execute("ROLLBACK")
    other.close()
    caught = board.catch_up(wait=False)
    assert (caught.folded, board.behind) == (6, 0)
    board.close()
    assert place.folded() == place.folded_anew()


def place_without_stores(place: Place) -> Place:
    """The same journal with a state directory of its own: another machine that shares the files."""
    other = Place(place.folder)
    other.home.state += "-other"
    return other


def removed(place: Place) -> str:
    """The path of the board's store, which is gone with all that stands beside it."""
    path = stores.board(place.home).path
    for ending in ("", "-wal", "-shm", "-journal"):
        if os.path.exists(path + ending):
            os.unlink(path + ending)
    return path


def test_a_store_is_filled_without_its_log_and_has_one_afterwards(place: Place) -> None:
    expected = place.folded_anew()
    path = removed(place)
    board = stores.board(place.home)
    modes: list[str] = []
    begin_anew = board.begin_anew

    def asked() -> object:
        index = begin_anew()
        modes.append(board.db.pragma("journal_mode"))
        return index

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(board, "begin_anew", asked)
        rebuild(place.home, [board])
        assert modes == ["delete"]
        assert board.db.pragma("journal_mode") == "wal"
        rebuild(place.home, [board])
        assert modes == ["delete", "wal"], "others may be reading what it holds"
    board.close()
    assert not os.path.exists(path + "-journal")
    assert place.folded() == expected


def test_a_store_that_another_has_open_is_filled_through_its_log(place: Place) -> None:
    expected = place.folded_anew()
    removed(place)
    other = stores.board(place.home)
    assert other.is_empty()
    board = stores.board(place.home)
    rebuild(place.home, [board])
    assert board.db.pragma("journal_mode") == "wal"
    assert digest(other) == digest(board) == expected["board.db"]
    other.close()
    board.close()


def test_who_opens_a_store_that_is_being_filled_reads_and_waits_its_turn(place: Place) -> None:
    expected = place.folded_anew()
    removed(place)
    board = stores.board(place.home)
    board.begin_anew()
    other = stores.board(place.home)
    assert other.is_empty()
    assert not other.catch_up(wait=False).folded
    assert other.behind
    board.roll_back()
    board.close()
    other.catch_up()
    assert digest(other) == expected["board.db"]
    other.close()
    again = stores.board(place.home)
    assert again.db.pragma("journal_mode") == "wal"
    again.close()


@pytest.mark.parametrize("damaged", [False, True])
def test_killed_while_a_store_is_filled(place: Place, damaged: bool) -> None:
    """What it leaves beside the file undoes the half of a fill; it must never be laid on the successor of a damaged file."""
    expected = place.folded_anew()
    path = removed(place)
    if (child := os.fork()) == 0:
        try:
            board = stores.board(place.home)
            board.begin_anew()
            board.db.pragma("cache_size", 4)  # pages go to the file at once
            board.db.executemany("INSERT INTO meta VALUES (?, randomblob(9000))", [(str(one),) for one in range(200)])
        finally:
            os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
    assert os.path.getsize(path + "-journal")
    if damaged:
        with open(path, "r+b") as file:
            file.write(b"\xff" * 4096)
    assert place.folded() == expected
    assert not os.path.exists(path + "-journal")
    path_is_sound(path)


def test_rows_that_lost_their_state_are_made_again(place: Place) -> None:
    """An entity nothing is known of is written without a look at what rows it has."""
    board = stores.board(place.home)
    board.catch_up()
    entity = board.query("SELECT entity FROM entities WHERE entity LIKE 'card/%' LIMIT 1")[0][0]
    with place.journal().writing(board) as writer:
        writer.append("card.moved", entity, column="backlog")
    board.close()
    sql(board.path, f"DELETE FROM entities WHERE entity = '{entity}'")
    assert place.folded() == place.folded_anew()
    path_is_sound(board.path)
