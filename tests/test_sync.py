"""Sync between machines over real git: nothing that was written is ever taken away."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import orjson
import pytest
from git_machines import Machine, bare, git, settle

from mait_code.journal import documents, reconcile, spool
from mait_code.journal import sync as syncing
from mait_code.journal.errors import Busy, GitFailed, Refused
from mait_code.journal.git import Git
from mait_code.journal.lock import Lock

pytestmark = pytest.mark.git


@pytest.fixture
def far(tmp_path: Path) -> Path:
    return bare(tmp_path / "far.git")


@pytest.fixture
def a(tmp_path: Path, far: Path) -> Machine:
    return Machine(tmp_path / "a").make(far)


@pytest.fixture
def b(tmp_path: Path, far: Path) -> Machine:
    return Machine(tmp_path / "b").make(far)


def another(machine: Machine, far: Path) -> Path:
    """A person's own clone of the remote, to do things to it by hand."""
    clone = machine.folder.parent / "by-hand"
    git(machine.folder.parent, "clone", "-q", str(far), str(clone))
    return clone


def by_hand(clone: Path, message: str = "by hand") -> None:
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", message)
    git(clone, "push", "-q", "origin", "HEAD")


# -- the ordinary way


def test_two_machines_meet(a: Machine, b: Machine) -> None:
    ids = a.capture("one", "two") + b.capture("three")
    first = a.sync()
    assert (first.committed, first.sent, first.received, first.tries, first.offline) == (True, 2, 0, 1, "")
    second = b.sync()
    assert (second.sent, second.received) == (1, 2)
    third = a.sync()
    assert (third.committed, third.sent, third.received, third.tries) == (False, 0, 1, 0)
    settle(a, b)
    assert set(a.lines()) == set(ids)
    assert a.clean()
    assert b.clean()


def test_three_machines_many_rounds(a: Machine, b: Machine, tmp_path: Path, far: Path) -> None:
    c = Machine(tmp_path / "c").make(far)
    ids = []
    for round_ in range(4):
        for machine in (a, b, c):
            ids += machine.capture(f"{machine.folder.name} {round_}")
        for machine in (a, b, c)[round_ % 3 :]:
            machine.sync()
    settle(a, b, c)
    assert set(a.lines()) == set(ids)


def test_nothing_to_do_costs_six_processes(a: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    a.capture("one")
    a.sync()
    count = 0
    start = Git._start

    def counting(self: Git, *arguments: object) -> object:
        nonlocal count
        count += 1
        return start(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "_start", counting)
    a.sync()
    assert count <= 6


def test_sync_makes_the_repository_and_needs_no_remote(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "a")
    machine.capture("one")
    report = machine.sync()
    assert (report.committed, report.remote, report.commits_waiting, report.sent) == (True, "", 0, 0)
    assert machine.clean()
    assert not machine.sync().committed


def test_the_spool_is_drained_first(a: Machine) -> None:
    with a.here():
        held = Lock(a.home.in_state("lock"))
        assert held.acquire(0)
        with a.journal.writing_from_hook() as writer:
            event = writer.append("inbox.captured", body="from a hook")
        held.release()
        assert spool.waiting(a.home)
    assert a.sync().sent == 1
    assert event.id in a.lines()


def test_only_what_is_ours_is_committed(a: Machine) -> None:
    a.capture("one")
    (a.data / "notes.txt").write_text("mine\n")
    (a.data / "staged.txt").write_text("half done\n")
    (a.data / "memory").mkdir()
    (a.data / "memory" / "MEMORY.md").write_text("a projection\n")
    (a.data / "soul_document.md").write_text("who I am\n")
    (a.data / "journal" / "copy.jsonl").write_text("{}\n")
    a.git("add", "staged.txt")
    a.sync()
    held = set(a.files())
    assert "soul_document.md" in held
    assert not held & {"notes.txt", "staged.txt", "memory/MEMORY.md", "journal/copy.jsonl"}
    assert "A  staged.txt" in a.git("status", "--porcelain")


def test_ignore_rules_do_not_hide_the_journal(a: Machine, home: Path) -> None:
    (home / "ignore").write_text("*.jsonl\njournal/\n*.md\n")
    (home / ".gitconfig").write_text(f"[core]\n\texcludesFile = {home}/ignore\n")
    (a.data / ".git" / "info").mkdir(exist_ok=True)
    (a.data / ".git" / "info" / "exclude").write_text("*.jsonl\n")
    (a.data / "user_context.md").write_text("me\n")
    a.capture("one")
    assert a.sync().sent == 1
    assert "user_context.md" in a.files()


def test_another_sync_is_waited_for(a: Machine) -> None:
    with a.here():
        running = Lock(a.home.in_state("sync.lock"))
        assert running.acquire(0)
        running.name_holder()
        with pytest.raises(Busy, match=f"process {os.getpid()}"):
            a.sync(wait=0.1)
        threading.Timer(0.3, running.release).start()
        a.sync(wait=10)


def test_a_password_in_the_address_is_never_told(a: Machine) -> None:
    a.git("config", "remote.origin.url", "http://me:hunter2@127.0.0.1:9/x.git")
    a.capture("one")
    report = a.sync()
    assert report.remote == "http://***@127.0.0.1:9/x.git"
    assert report.offline
    assert "hunter2" not in repr(vars(report))


# -- other processes write all the while


def test_a_process_that_keeps_writing_loses_nothing(a: Machine, b: Machine, tmp_path: Path) -> None:
    script = tmp_path / "writer.py"
    script.write_text(
        "import sys, time\n"
        "from mait_code.journal.home import Home\n"
        "from mait_code.journal.journal import Journal\n"
        "journal = Journal(Home(sys.argv[1]))\n"
        "print('ready', flush=True)\n"
        "for number in range(10**9):\n"
        "    with journal.writing() as writer:\n"
        "        event = writer.append('inbox.captured', body='x' * 200)\n"
        "    print(event.id, flush=True)\n"
        "    time.sleep(0.001)\n"
    )
    with a.here():
        writer = subprocess.Popen(
            [sys.executable, str(script), str(a.data)], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        told: list[str] = []
        reading = threading.Thread(target=lambda: told.extend(line.strip() for line in writer.stdout or ()))
        reading.start()
        try:
            ids = []
            for number in range(6):
                ids += b.capture(f"b {number}")
                b.sync()
                a.sync()
        finally:
            writer.send_signal(signal.SIGKILL)
            writer.wait()
            reading.join()
            writer.stdout.close()
    whole = [line for line in told if len(line) == 20]
    assert len(whole) > 20
    settle(a, b)
    assert set(b.lines()) >= {*whole, *ids}
    held = a.lines()
    assert {a.replica} == {orjson.loads(held[one])["replica"] for one in whole}


def test_two_syncs_and_a_git_gc_at_once(a: Machine, b: Machine) -> None:
    ids = a.capture("one") + b.capture("two")

    def tidy() -> None:
        for _ in range(5):
            git(a.data, "gc", "-q", check=False)

    gc = threading.Thread(target=tidy)
    gc.start()
    for number in range(6):
        ids += a.capture(f"a {number}")
        a.sync()
        b.sync()
    gc.join()
    settle(a, b)
    assert set(a.lines()) == set(ids)
    a.git("fsck", "--strict")


# -- the remote


def test_offline_is_no_error(a: Machine, far: Path) -> None:
    a.capture("one")
    a.sync()
    os.rename(far, far.parent / "away.git")
    for number in (1, 2):
        a.capture(f"offline {number}")
        report = a.sync()
        assert report.committed
        assert "far.git" in report.offline
        assert report.commits_waiting == number
    assert a.sync().commits_waiting == 2
    os.rename(far.parent / "away.git", far)
    report = a.sync()
    assert (report.offline, report.commits_waiting, report.sent) == ("", 0, 2)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/x.git", "git://127.0.0.1:9/x.git", "https://no-such-host.invalid/x.git"]
)
def test_a_remote_that_is_not_reached(a: Machine, url: str) -> None:
    a.git("config", "remote.origin.url", url)
    a.capture("one")
    report = a.sync()
    assert report.offline.startswith("fatal: ")
    assert report.commits_waiting == 2  # the first commit of all has not been sent either


def test_a_remote_that_says_nothing_is_left(a: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text("#!/bin/sh\nexec sleep 600\n")
    (tmp_path / "ssh").chmod(0o755)
    a.git("config", "core.sshCommand", str(tmp_path / "ssh"))
    a.git("config", "remote.origin.url", "ssh://example.invalid/x.git")
    started = time.monotonic()
    report = a.sync(fetch_timeout=1)
    assert time.monotonic() - started < 10
    assert "no answer within 1 second" in report.offline
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path / "ssh") not in listed


def test_a_remote_that_refuses_us(a: Machine, tmp_path: Path) -> None:
    (tmp_path / "ssh").write_text(
        "#!/bin/sh\necho 'me@example.invalid: Permission denied (publickey).' >&2\nexit 255\n"
    )
    (tmp_path / "ssh").chmod(0o755)
    a.git("config", "core.sshCommand", str(tmp_path / "ssh"))
    a.git("config", "remote.origin.url", "ssh://example.invalid/x.git")
    (event,) = a.capture("one")
    with pytest.raises(GitFailed, match=r"Permission denied \(publickey\)"):
        a.sync()
    assert any(event.encode() in content for content in a.files().values())  # committed before we were refused


@pytest.mark.parametrize(("status", "refused"), [(401, True), (403, True), (404, True), (503, False)])
def test_what_a_web_server_says(a: Machine, status: int, refused: bool) -> None:
    class Server(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.end_headers()

        def log_message(self, *arguments: object) -> None:
            """Nothing on stderr."""

    with http.server.HTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            a.git("config", "remote.origin.url", f"http://127.0.0.1:{server.server_port}/x.git")
            if refused:
                with pytest.raises(GitFailed, match="refused"):
                    a.sync()
            else:
                assert "503" in a.sync().offline
        finally:
            server.shutdown()
            thread.join()


def test_a_path_that_is_no_repository(a: Machine, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    a.git("config", "remote.origin.url", str(tmp_path / "folder"))
    with pytest.raises(GitFailed, match="does not appear to be a git repository"):
        a.sync()


def test_a_rejected_push_is_tried_again(a: Machine, b: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """b pushes between a's fetch and a's push, twice."""
    a.capture("one")
    push = syncing._Sync._push
    times = 0

    def late(self: syncing._Sync, name: str, theirs: str) -> str:
        nonlocal times
        if self.home is a.home and times < 2:
            times += 1
            b.capture(f"first {times}")
            b.sync()
        with a.here():
            return push(self, name, theirs)

    monkeypatch.setattr(syncing._Sync, "_push", late)
    report = a.sync()
    monkeypatch.undo()
    assert (report.tries, report.sent, report.received) == (3, 1, 2)
    settle(a, b)


def test_a_push_that_always_comes_second_gives_up(a: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    a.capture("one")
    monkeypatch.setattr(syncing._Sync, "_push", lambda *_: "[rejected] (fetch first)")
    monkeypatch.setattr(syncing.time, "sleep", lambda _: None)
    with pytest.raises(GitFailed, match=r"5 times: .*fetch first"):
        a.sync()
    monkeypatch.undo()
    assert a.sync().sent == 1


def test_a_push_that_the_remote_forbids(a: Machine, far: Path) -> None:
    hook = far / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'no pushing on Fridays' >&2\nexit 1\n")
    hook.chmod(0o755)
    a.capture("one")
    with pytest.raises(GitFailed, match="pre-receive hook declined"):
        a.sync()


def test_an_emptied_remote_is_filled_again(a: Machine, b: Machine, far: Path) -> None:
    """Somebody deletes every file on the remote, by an ordinary commit."""
    ids = a.capture("one", "two") + b.capture("three")
    (a.data / "soul_document.md").write_text("who I am\n")
    settle(a, b)
    clone = another(a, far)
    git(clone, "rm", "-rq", ".")
    by_hand(clone)
    before = a.files()
    report = a.sync()
    assert {path for path in before if path.endswith("1.jsonl")} <= set(report.shrank)
    assert a.files() == before
    assert report.tries == 1
    settle(a, b)
    assert set(b.lines()) == set(ids)
    assert b.files()["soul_document.md"] == b"who I am\n"


def test_an_emptied_remote_with_own_events_waiting(a: Machine, b: Machine, far: Path) -> None:
    a.capture("one")
    settle(a, b)
    clone = another(a, far)
    git(clone, "rm", "-rq", "journal")
    by_hand(clone)
    (event,) = b.capture("two")
    assert b.sync().shrank
    settle(a, b)
    assert event in a.lines()
    assert len(a.lines()) == 2


def test_a_remote_whose_branch_was_deleted(a: Machine, b: Machine, far: Path) -> None:
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    git(far, "update-ref", "-d", "refs/heads/main")
    report = a.sync()
    assert (report.shrank, report.sent) == ([], 2)
    settle(a, b)
    assert set(a.lines()) == set(ids)


def test_a_remote_made_anew(a: Machine, b: Machine, far: Path) -> None:
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    os.rename(far, far.parent / "old.git")
    bare(far)
    ids += b.capture("three")
    settle(b, a)
    assert set(a.lines()) == set(ids)


def test_a_remote_made_anew_with_a_readme(a: Machine, b: Machine, far: Path, tmp_path: Path) -> None:
    """What hosting sites offer to put into a new repository, on a branch of their choice."""
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    os.rename(far, far.parent / "old.git")
    bare(far, "trunk")
    git(tmp_path, "init", "-q", "-b", "trunk", "site")
    (tmp_path / "site" / "README.md").write_text("# data\n")
    git(tmp_path / "site", "add", ".")
    git(tmp_path / "site", "commit", "-q", "-m", "Initial commit")
    git(tmp_path / "site", "push", "-q", str(far), "trunk")
    settle(a, b)
    assert set(b.lines()) == set(ids)
    assert b.files()["README.md"] == b"# data\n"
    assert b.git("branch", "--show-current").strip() == "trunk"
    assert b.git("branch", "-r").split() == ["origin/trunk"]


def test_a_remote_that_is_somebodys_project_is_refused(a: Machine, far: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "project")
    (tmp_path / "project" / "setup.py").write_text("print()\n")
    git(tmp_path / "project", "add", ".")
    git(tmp_path / "project", "commit", "-q", "-m", "code")
    git(tmp_path / "project", "push", "-q", str(far), "main")
    (event,) = a.capture("one")
    with pytest.raises(GitFailed, match=r"no mait-code journal: setup\.py"):
        a.sync()
    assert not (a.data / "setup.py").exists()
    assert event in a.lines()


def test_a_journal_for_newer_programs_is_left_alone(a: Machine, b: Machine, far: Path) -> None:
    a.capture("one")
    settle(a, b)
    clone = another(a, far)
    (clone / "journal" / "format.json").write_text('{"format": 2, "min_reader": 2, "generation": 2}\n')
    by_hand(clone)
    a.capture("two")
    before = a.lines()
    with pytest.raises(Refused, match="newer mait-code"):
        a.sync()
    assert a.lines() == before


def test_the_format_of_the_highest_generation_stands(a: Machine, b: Machine) -> None:
    settle(a, b)
    for machine, generation in ((a, 3), (b, 2)):
        text = f'{{"format": 1, "min_reader": 1, "generation": {generation}}}\n'
        (machine.data / "journal" / "format.json").write_text(text)
    a.sync()
    b.sync()
    settle(a, b)
    assert orjson.loads((b.data / "journal" / "format.json").read_bytes())["generation"] == 3


def test_litter_of_another_sync_tool_is_no_reason_to_stop(a: Machine, b: Machine, far: Path) -> None:
    """A person's `git add -A` took such a copy on one machine; the other has one of the same name, which no commit holds."""
    a.capture("one")
    a.sync()
    b.sync()
    litter = f"journal/{a.replica}/000001 2.jsonl"
    a.sync()
    (a.data / litter).write_bytes(b"of a\n")
    by_hand(a.data)
    (b.data / litter).write_bytes(b"of b\n")
    b.capture("two")
    report = b.sync()
    assert (b.data / litter).read_bytes() == b"of a\n"
    (aside,) = report.aside
    assert aside.startswith(f"journal/{a.replica}/000001 2.conflict-")
    assert (b.data / aside).read_bytes() == b"of b\n"
    assert b.sync().aside == []
    settle(a, b)


def test_what_somebody_dropped_in_a_merge_comes_back(a: Machine, b: Machine) -> None:
    """Neither side's bytes continue the other's, and a person ends the merge with what lies in the work tree. The lines
    of the other side are then in the history alone: the machine that wrote them was put back to an earlier day."""
    a.capture("one")
    settle(a, b)
    saved = a.folder.parent / "saved"
    subprocess.run(["cp", "-a", str(a.folder), str(saved)], check=True)
    lost = a.capture("lost")
    a.sync()
    subprocess.run(["rm", "-rf", str(a.folder)], check=True)
    subprocess.run(["cp", "-a", str(saved), str(a.folder)], check=True)
    since = a.capture("since")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "mine")
    assert "CONFLICT" in a.git("pull", check=False)
    by_hand(a.data)
    a.sync()
    settle(a, b)
    assert {*lost, *since} < set(b.lines())


def test_what_was_committed_and_removed_before_any_sync_comes_back(a: Machine, b: Machine) -> None:
    settle(a, b)
    (one,) = a.capture("one")
    a.git("add", "-A")
    a.git("commit", "-q", "-m", "by hand")
    path = f"journal/{a.replica}/000001.jsonl"
    a.git("rm", "-q", path)
    a.git("commit", "-q", "-m", "tidied")
    assert a.sync().restored == [path]
    settle(a, b)
    assert one in b.lines()


def test_both_changed_the_ignore_file(a: Machine, b: Machine) -> None:
    settle(a, b)
    for machine, line in ((a, "*.swp\n"), (b, "*.bak\n")):
        with (machine.data / ".gitignore").open("a") as file:
            file.write(line)
    settle(a, b)
    assert set((a.data / ".gitignore").read_text().split()) == {"memory/MEMORY.md", "*.tmp", "*.swp", "*.bak"}


# -- damage


@pytest.mark.parametrize("how", ["deleted", "cut", "changed", "emptied", "link", "directory gone"])
def test_a_damaged_segment_is_put_back(a: Machine, b: Machine, how: str) -> None:
    a.capture("one", "two", "three")
    settle(a, b)
    path = b.data / "journal" / a.replica / "000001.jsonl"
    whole = path.read_bytes()
    if how == "deleted":
        path.unlink()
    elif how == "cut":
        path.write_bytes(whole[:-40])
    elif how == "changed":
        path.write_bytes(whole.replace(b"two", b"TWO"))
    elif how == "emptied":
        path.write_bytes(b"")
    elif how == "link":
        path.unlink()
        path.symlink_to("/dev/null")
    else:
        (path.parent / "replica.json").unlink()
        path.unlink()
        path.parent.rmdir()
    b.capture("four")
    report = b.sync()
    assert path.relative_to(b.data).as_posix() in report.restored
    assert path.read_bytes() == whole
    assert not report.adopted
    settle(a, b)
    assert len(a.lines()) == 4
    assert b.clean()


def test_our_own_damaged_segment_is_put_back(a: Machine, b: Machine) -> None:
    first = a.capture("one", "two")
    settle(a, b)
    second = a.capture("three", "four")  # not committed yet
    old = a.replica
    a.own.write_bytes(a.own.read_bytes().replace(b'"one"', b'"ONE"'))
    report = a.sync()
    assert report.restored == [f"journal/{old}/000001.jsonl"]
    assert report.adopted == 2
    settle(a, b)
    more = a.capture("five")
    settle(a, b)
    assert set(b.lines()) == {*first, *second, *more}
    assert a.replica != old


def test_lines_that_only_the_damaged_file_had_are_adopted(a: Machine, b: Machine, tmp_path: Path) -> None:
    a.capture("one", "two")
    settle(a, b)
    stranger = Machine(tmp_path / "c")
    (event,) = stranger.capture("mine")
    path = b.data / "journal" / a.replica / "000001.jsonl"
    path.write_bytes(stranger.lines()[event] + b"\nnot a line at all\n")
    report = b.sync()
    assert (report.adopted, report.restored) == (1, [f"journal/{a.replica}/000001.jsonl"])
    settle(a, b)
    assert a.lines()[event] == stranger.lines()[event]
    assert len(a.lines()) == 3


def test_the_whole_journal_deleted_and_even_committed(a: Machine, b: Machine) -> None:
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    a.git("rm", "-rq", "journal")
    a.git("commit", "-q", "-m", "tidy")
    report = a.sync()
    assert len(report.restored) >= 2
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_a_deletion_that_was_only_staged(a: Machine, b: Machine) -> None:
    ids = a.capture("one") + b.capture("two")
    settle(a, b)
    a.git("rm", "-rq", "--cached", "journal")
    a.sync()
    settle(a, b)
    assert set(b.lines()) == set(ids)
    assert a.clean()


def test_a_hard_reset_brings_nothing_back_to_an_earlier_day(a: Machine, b: Machine) -> None:
    ids = []
    for number in range(3):
        ids += a.capture(f"{number}")
        a.sync()
    a.git("reset", "-q", "--hard", "HEAD~2")
    ids += a.capture("later")
    a.sync()
    settle(a, b)
    assert set(b.lines()) == set(ids)


def test_a_hard_reset_without_a_remote(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "a")
    ids = []
    for number in range(3):
        ids += machine.capture(f"{number}")
        machine.sync()
    machine.git("reset", "-q", "--hard", "HEAD~2")
    report = machine.sync()
    assert report.restored
    assert set(machine.lines()) == set(ids)


def test_a_remote_that_cut_a_segment(a: Machine, b: Machine, far: Path) -> None:
    a.capture("one", "two", "three")
    settle(a, b)
    clone = another(a, far)
    path = clone / "journal" / a.replica / "000001.jsonl"
    path.write_bytes(path.read_bytes().split(b"\n")[0] + b"\n")
    by_hand(clone)
    name = path.relative_to(clone).as_posix()
    (event,) = a.capture("four")
    report = a.sync()
    assert (report.shrank, report.new_identity) == ([name], "")
    assert b.sync().shrank == []
    settle(a, b)
    assert len(b.lines()) == 4
    assert event in b.lines()


def test_a_remote_that_damaged_a_segment_and_added_to_it(a: Machine, b: Machine, far: Path, tmp_path: Path) -> None:
    ids = a.capture("one", "two")
    settle(a, b)
    stranger = Machine(tmp_path / "c")
    (event,) = stranger.capture("mine")
    clone = another(a, far)
    path = clone / "journal" / a.replica / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"one"', b'"ONE"') + stranger.lines()[event] + b"\n")
    by_hand(clone)
    report = b.sync()
    assert (report.shrank, report.adopted) == ([path.relative_to(clone).as_posix()], 1)
    settle(a, b)
    assert set(a.lines()) == {*ids, event}


def test_a_remote_converted_to_crlf(a: Machine, b: Machine, far: Path) -> None:
    """Somebody's editor or autocrlf rewrote every line end. Our bytes stand; a line only it has is taken as it was."""
    ids = a.capture("one", "two")
    settle(a, b)
    clone = another(a, far)
    path = clone / "journal" / a.replica / "000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    by_hand(clone)
    assert b.sync().shrank == [path.relative_to(clone).as_posix()]
    settle(a, b)
    assert set(a.lines()) == set(ids)
    assert b"\r" not in a.own.read_bytes()


# -- identity


def test_a_copy_that_writes_under_our_id(a: Machine, b: Machine, tmp_path: Path) -> None:
    """Data and state copied to a machine that looks the same: both grow one file."""
    first = a.capture("one")
    settle(a, b)
    old = a.replica
    twin = clone_of(a, tmp_path / "twin")
    ours, theirs = a.capture("ours", "ours too"), twin.capture("theirs")
    assert twin.replica == old
    twin.sync()
    report = a.sync()
    assert report.new_identity == a.replica != old
    assert report.adopted == 2
    assert report.shrank == []
    settle(a, b, twin)
    assert set(b.lines()) == {*first, *ours, *theirs}
    assert {orjson.loads(b.lines()[one])["replica"] for one in ours} == {old}
    more = a.capture("on we go") + twin.capture("so do we")
    settle(a, b, twin)
    assert set(b.lines()) == {*first, *ours, *theirs, *more}
    assert a.replica != twin.replica == old


def clone_of(machine: Machine, folder: Path) -> Machine:
    """The machine copied so well that it does not notice: same machine id, same path as far as it knows."""
    subprocess.run(["cp", "-a", str(machine.folder), str(folder)], check=True)
    twin = Machine(folder)
    twin.home.real = machine.home.real
    state = Path(twin.home.state)
    found = next((folder / "state" / "mait-code").iterdir())
    if found != state:
        found.rename(state)
    here = twin.here

    def same_machine() -> object:
        context = here()
        real_enter = context.__enter__

        class Entered:
            def __enter__(self) -> None:
                self.before = os.environ.get("MAIT_CODE_MACHINE_ID")
                real_enter()
                os.environ["MAIT_CODE_MACHINE_ID"] = machine.folder.name

            def __exit__(self, *error: object) -> None:
                context.__exit__(None, None, None)

        return Entered()

    twin.here = same_machine  # type: ignore[assignment, method-assign]
    return twin


def test_a_remote_that_holds_more_of_our_file(a: Machine, b: Machine, tmp_path: Path) -> None:
    """A twin wrote, we did not: its file is taken, and we take a new id."""
    first = a.capture("one")
    settle(a, b)
    old = a.replica
    twin = clone_of(a, tmp_path / "twin")
    theirs = twin.capture("theirs")
    twin.sync()
    report = a.sync()
    assert (report.adopted, report.received) == (0, 1)
    assert report.new_identity == a.replica != old
    with a.here():
        assert orjson.loads(Path(a.home.in_state("identity.json")).read_bytes())["forked_from"] == old
    more = a.capture("on we go")
    settle(a, b, twin)
    assert set(b.lines()) == {*first, *theirs, *more}
    assert a.own.parent.name == a.replica


def test_our_own_push_by_hand_is_not_a_twin(a: Machine, b: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user commits and pushes what we write while a sync is between its commit and its merge."""
    a.capture("one")
    settle(a, b)
    old = a.replica
    find = syncing._Sync._find
    done = []

    def meanwhile(self: syncing._Sync, name: str) -> str:
        if not done:
            done.append(True)
            before = self.head
            a.capture("two")
            a.git("add", "-A")
            a.git("commit", "-q", "-m", "by hand")
            a.git("push", "-q")
            theirs = find(self, name)
            self.head = before
            return theirs
        return find(self, name)

    monkeypatch.setattr(syncing._Sync, "_find", meanwhile)
    report = a.sync()
    assert report.new_identity == ""
    assert a.replica == old
    monkeypatch.undo()
    settle(a, b)
    assert len(b.lines()) == 2


# -- documents


def test_documents_merge_as_text(a: Machine, b: Machine) -> None:
    text = "".join(f"line {number}\n" for number in range(9))
    (a.data / "soul_document.md").write_text(text)
    settle(a, b)
    (a.data / "soul_document.md").write_text(text.replace("line 1", "line one"))
    (b.data / "soul_document.md").write_text(text.replace("line 7", "line seven"))
    settle(a, b)
    assert (b.data / "soul_document.md").read_text() == text.replace("line 1", "line one").replace(
        "line 7", "line seven"
    )


def test_documents_that_contradict_stand_side_by_side(a: Machine, b: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (a.data / "dashboard.toml").write_text("title = 'one'\n")
    settle(a, b)
    (b.data / "dashboard.toml").write_text("title = 'newer'\n")
    (a.data / "dashboard.toml").write_text("title = 'older'\n")
    a.sync()
    time.sleep(1.1)  # commits count seconds
    b.data.joinpath("user_context.md").write_text("x\n")
    report = b.sync()
    (name,) = report.documents
    assert name.startswith("dashboard.conflict-")
    assert name.endswith(".toml")
    settle(a, b)
    for machine in (a, b):
        assert (machine.data / "dashboard.toml").read_text() == "title = 'newer'\n"
        assert (machine.data / name).read_text() == "title = 'older'\n"
    (a.data / name).unlink()  # settled by hand
    settle(a, b)
    assert not (b.data / name).exists()


def test_an_untouched_template_yields(a: Machine, b: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    template = b"# Who I am\n\n(write here)\n"
    monkeypatch.setattr(documents, "TEMPLATES", {"a93a" + "0" * 60, documents.sha256(template).hexdigest()})
    (a.data / "soul_document.md").write_text("# Who I am\n\nA person.\n")
    (b.data / "soul_document.md").write_bytes(template)
    a.sync()
    assert b.sync().documents == []
    settle(a, b)
    assert (b.data / "soul_document.md").read_text() == "# Who I am\n\nA person.\n"


def test_a_deleted_document_stays_deleted_unless_it_was_edited(a: Machine, b: Machine) -> None:
    for name in ("soul_document.md", "user_context.md"):
        (a.data / name).write_text("text\n")
    settle(a, b)
    for name in ("soul_document.md", "user_context.md"):
        (a.data / name).unlink()
    (b.data / "user_context.md").write_text("edited\n")
    settle(a, b)
    for machine in (a, b):
        assert not (machine.data / "soul_document.md").exists()
        assert (machine.data / "user_context.md").read_text() == "edited\n"


def test_a_document_edited_during_the_sync(a: Machine, b: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    (a.data / "soul_document.md").write_text("".join(f"{number}\n" for number in range(9)))
    settle(a, b)
    (b.data / "soul_document.md").write_text("zero\n" + "".join(f"{number}\n" for number in range(1, 9)))
    b.sync()
    bring_in = syncing._Sync._bring_in

    def edited(self: syncing._Sync, result: str) -> bool:
        if "8\n" in (a.data / "soul_document.md").read_text():
            (a.data / "soul_document.md").write_text("".join(f"{number}\n" for number in range(8)) + "eight\n")
        return bring_in(self, result)

    monkeypatch.setattr(syncing._Sync, "_bring_in", edited)
    a.sync()
    monkeypatch.undo()
    settle(a, b)
    text = (b.data / "soul_document.md").read_text()
    assert text == "zero\n" + "".join(f"{number}\n" for number in range(1, 8)) + "eight\n"


# -- killed between steps


STEPS = ("_commit", "_fetch", "merge", "_bring_in", "_push", "remember", "_give_up_identity", "_mended")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("after", [False, True])
def test_killed_between_steps(a: Machine, b: Machine, tmp_path: Path, step: str, after: bool) -> None:
    ids = a.capture("one")
    (a.data / "soul_document.md").write_text("one\ntwo\nthree\n")
    settle(a, b)
    twin = clone_of(a, tmp_path / "twin")
    ids += twin.capture("theirs") + a.capture("ours") + b.capture("others")
    (a.data / "soul_document.md").write_text("ONE\ntwo\nthree\n")
    (b.data / "soul_document.md").write_text("one\ntwo\nTHREE\n")
    twin.sync()
    b.sync()
    script = (
        "import os, sys\n"
        "from mait_code.journal import sync\n"
        "from mait_code.journal.home import Home\n"
        "from mait_code.journal.journal import Journal\n"
        "real = getattr(sync._Sync, sys.argv[2])\n"
        "def killed(self, *arguments):\n"
        "    if sys.argv[3] == 'True':\n"
        "        real(self, *arguments)\n"
        "    os.kill(os.getpid(), 9)\n"
        "setattr(sync._Sync, sys.argv[2], killed)\n"
        "sync.sync(Journal(Home(sys.argv[1])))\n"
    )
    with a.here():
        done = subprocess.run([sys.executable, "-c", script, str(a.data), step, str(after)], timeout=60)
    assert done.returncode == -signal.SIGKILL
    ids += a.capture("later")
    settle(a, b, twin)
    assert set(a.lines()) == set(ids)
    assert (a.data / "soul_document.md").read_text() == "ONE\ntwo\nTHREE\n"
    assert a.git("status", "--porcelain") == ""


def test_a_git_that_outlives_its_sync_holds_the_next_one_up(
    a: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sync is killed, the `git commit` it started goes on."""
    real = shutil.which("git")
    (tmp_path / "bin").mkdir()
    wrapper = tmp_path / "bin" / "git"
    wrapper.write_text(
        f'#!/bin/sh\ncase " $* " in *" commit "*) touch {tmp_path}/started; sleep 2;; esac\nexec {real} "$@"\n'
    )
    wrapper.chmod(0o755)
    (event,) = a.capture("one")
    with a.here():
        path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
        process = subprocess.Popen([sys.executable, "-c", SYNC, str(a.data)], env={**os.environ, "PATH": path})
        while not (tmp_path / "started").exists():
            time.sleep(0.02)
        process.kill()
        process.wait()
    with pytest.raises(Busy, match="another sync"):
        a.sync(wait=0.1)
    report = a.sync(wait=20)
    assert (report.committed, report.sent) == (False, 1)
    assert event in a.lines()


SYNC = (
    "import sys\n"
    "from mait_code.journal import sync\n"
    "from mait_code.journal.home import Home\n"
    "from mait_code.journal.journal import Journal\n"
    "sync.sync(Journal(Home(sys.argv[1])))\n"
)


def test_killed_at_any_moment(a: Machine, b: Machine) -> None:
    """Whole process groups killed at random moments, git included; every next sync goes on."""
    ids = []
    for number in range(12):
        ids += a.capture(f"a {number}") + b.capture(f"b {number}")
        b.sync()
        with a.here():
            process = subprocess.Popen([sys.executable, "-c", SYNC, str(a.data)], stderr=subprocess.PIPE)
            time.sleep(0.06 + 0.02 * number)
            for child in children(process.pid):
                kill(child)
            process.kill()
            process.communicate()
    settle(a, b)
    assert set(b.lines()) == set(ids)
    a.git("fsck", "--strict")


def children(pid: int) -> list[int]:
    """The processes below one, but for the remote's own side of a push: that is another machine's."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    found = [pid]
    for one in found:
        found += [int(row[0]) for row in rows if int(row[1]) == one and "receive-pack" not in row[-1]]
    return found[1:]


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def test_a_lock_that_a_killed_sync_left_is_removed(a: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    a.capture("one")
    with a.here():
        Path(a.home.in_state("sync.running")).write_text(f"12.5\n{time.time() - 1:.3f}\n")
    (a.data / ".git" / "index.lock").touch()
    monkeypatch.setattr(Git, "lock_wait", 0.3, raising=False)
    assert a.sync().sent == 1
    assert not (a.data / ".git" / "index.lock").exists()


def test_a_lock_from_before_the_machine_started_is_removed(a: Machine) -> None:
    a.capture("one")
    lock = a.data / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    assert a.sync().sent == 1


# -- the rule itself


def test_the_rule_on_bytes(a: Machine) -> None:
    ids = a.capture("w", "x", "y", "z")
    w, x, y, z = (a.lines()[one] + b"\n" for one in ids)
    rule = reconcile.segment

    def outcome(base: bytes | None, ours: bytes | None, theirs: bytes | None) -> tuple[bytes, list[bytes], bool]:
        found = rule(base, ours, theirs)
        return found.content, [line + b"\n" for line in found.extra], found.shrank

    assert outcome(w, w + x, w) == (w + x, [], False)
    assert outcome(w, w, w + x) == (w + x, [], False)
    assert outcome(w, w + x, w + x + y) == (w + x + y, [], False)
    assert outcome(w, w + x, w + y) == (w + y, [x], False)
    assert outcome(None, w, x) == (x, [w], False)
    assert outcome(w + x, w + x, w) == (w + x, [], True)
    assert outcome(w + x, w + x, None) == (w + x, [], True)
    assert outcome(w + x, None, w + x) == (w + x, [], False)
    assert outcome(w + x, w + x + y, w + z) == (w + z, [x, y], True)
    assert outcome(w + x, y, z) == (z, [y, w, x], True)
    bad = w.replace(b'"w"', b'"W"')
    assert outcome(w + x, w + x, bad + x) == (w + x, [], True)
    assert outcome(bad + x, bad + x, w + x) == (w + x, [], False)  # the same pair, seen from the other machine
    assert outcome(w + x, w + x + y, bad + z) == (w + x + y, [z], True)
    assert outcome(bad + z, bad + z, w + x + y) == (w + x + y, [z], True)
    assert outcome(w + x, w + x, b"") == (w + x, [], True)
    crlf = (w + x).replace(b"\n", b"\r\n")
    assert outcome(w + x, w + x, crlf) == (w + x, [], True)
    assert outcome(crlf, crlf, w + x) == (w + x, [], False)
    assert outcome(w + x, w + x, x + w)[0] == outcome(x + w, x + w, w + x)[0]
    assert outcome(w, b"garbage\n", w + x) == (w + x, [], False)
    torn = w + x[:30]
    assert outcome(torn, torn + b"\n" + y, torn) == (torn + b"\n" + y, [], False)
