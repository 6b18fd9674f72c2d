"""The real client, with a scripted model on 127.0.0.1: what a person sees who installs this and goes to work.

The client is had as tests/real_client/client.py says; where it cannot be, all of this is skipped. Each machine has a home of
its own, and nothing leaves the computer.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from messages_server import tool
from real_client import client
from real_client.machine import PROGRAMS, Ended, Machine, until
from real_client.scripted_model import TOKENS, Model, Step, say, told, use
from real_client.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from messages_server import Reply

ROOT = Path(__file__).resolve().parent.parent
#: How every context begins that we tell.
HEADING = "# mait-code: what is known here"
#: Seconds after a session's end within which its evidence is recorded, and after the last one that nothing of ours runs.
RECORDED, GONE = 8, 60
#: Seconds that the client gives all hooks of a session's end together.
LIMIT = 1.5

# Those that share a machine stay in one process, where the run is told to keep groups together.
pytestmark = [pytest.mark.xdist_group("real_client"), pytest.mark.git, pytest.mark.slow]
on_linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="other processes are looked at in /proc")

#: The user's own hooks, in a file that no program has laid out.
EVENTS = ("SessionStart", "Stop", "PreCompact", "SessionEnd")
OWN_HOOK = '{ "hooks": [{"type":"command","command":"cat >/dev/null; echo %s >> ~/own.log"} ] }'
OWN_SETTINGS = (
    '{\n   "hooks" : {'
    + ",\n\t".join(f'"{event}": [{OWN_HOOK % event}]' for event in EVENTS)
    + '},\n  "env": {"A":"1"} }'
)

#: What the model makes of the one session that is worth it, and of others.
UNDERSTOOD: dict[str, Any] = {
    "summary": {"request": "Get the login going.", "completed": "It goes.", "next_steps": "Deploy the login."},
    "observations": [
        {"type": "bugfix", "title": "The table was missing", "narrative": "Nobody had made it.", "turns": [1]}
    ],
    "memories": [], "entities": [], "relations": [],
}  # fmt: skip
NOTHING: dict[str, Any] = {
    "summary": {"notes": "Nothing came of it."}, "observations": [], "memories": [], "entities": [], "relations": []
}  # fmt: skip


def understanding(prompt: str) -> Reply:
    """Understands the session in which this was asked first, and makes nothing of others."""
    first = f"=== user, turn 1 ===\n{prompt}"
    return tool(lambda body: UNDERSTOOD if first in body["messages"][0]["content"] else NOTHING)


@pytest.fixture(scope="session")
def claude() -> str:
    """The client's path."""
    return client.required()


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with Model() as serving:
        yield serving


@pytest.fixture(scope="module")
def machines(claude: str, model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machines]:
    made = Machines(tmp_path_factory.mktemp("machines"), claude, model)
    yield made
    for machine in made.made:
        machine.clean_up()


class Machines:
    """Makes machines, and knows which there are."""

    def __init__(self, folder: Path, claude: str, model: Model) -> None:
        self.folder, self._claude, self._model = folder, claude, model
        self.made: list[Machine] = []

    def make(self, name: str, *, understands: bool = False) -> Machine:
        """A machine on which nothing is installed. Sessions are understood by the scripted model, or by none."""
        machine = Machine(self.folder / name, self._claude, self._model.url)
        self.made.append(machine)
        if not understands:
            machine.environment["MAIT_CODE_LLM_PROVIDER"] = "none"
        return machine


def install(machine: Machine) -> Machine:
    """The one command that sets it up."""
    machine.mait("install")
    return machine


def outcomes(machine: Machine) -> Counter[str]:
    """How each run of ours ended on a machine."""
    return Counter(f"{one['command']} {one['outcome']}" for one in machine.log())


def one_of_each(machine: Machine) -> None:
    """Nothing is recorded twice: no event, and no turn or prompt under another name."""
    events = machine.events()
    assert [id_ for id_, count in Counter(one["id"] for one in events).items() if count > 1] == []
    shown = [machine.json("sessions", "show", session) for session in machine.sessions()]
    turns = Counter(turn["created_at"] for one in shown for turn in one["turns"])
    assert [at for at, count in turns.items() if count > 1] == []


# -- a working day


@dataclass
class Day:
    """One machine, and the sessions of a day on it, in order. `seconds` is how long after the first its record was whole."""

    machine: Machine
    before: bytes
    first: Ended
    seconds: float
    evidence: dict[str, Any]
    second: Ended
    forked: Ended
    quiet: Ended


def script(machine: Machine, model: Model) -> None:
    """What the model does in the first session."""
    note = str(machine.project / "note.txt")
    model.on(
        "Make the login work",
        use("Bash", command="echo one > made.txt"),
        use("Write", file_path=note, content="first\n"),
        use("Edit", file_path=note, old_string="first", new_string="second"),
        use("Bash", command="echo no such table >&2; exit 3"),
        use(
            "Agent",
            description="Count",
            prompt="Count the files here",
            subagent_type="general-purpose",
            run_in_background=False,
        ),
        say("The login works."),
    )
    model.on("Count the files here", use("Bash", command="ls"), say("There are two."))


@pytest.fixture(scope="module")
def day(machines: Machines, model: Model) -> Day:
    machine = machines.make("day", understands=True)
    settings = machine.home / ".claude/settings.json"
    settings.write_text(OWN_SETTINGS)
    before = settings.read_bytes()
    install(machine)
    machine.mait("board", "add", "Fix the login")
    script(machine, model)
    model.understanding = understanding("Make the login work")
    first = machine.ask("Make the login work")
    evidence = machine.ended(first.session, RECORDED)
    seconds = time.monotonic() - first.at
    until("it is understood", lambda: machine.json("sessions", "show", first.session)["observations"], RECORDED)
    second = machine.ask("What is open?")
    machine.ended(second.session)
    machine.ask("Go on with the login", "--resume", first.session)
    machine.ask("/compact", "--resume", first.session)
    machine.ask("What was that about?", "--resume", first.session)
    forked = machine.ask("Try it another way", "--resume", first.session, "--fork-session")
    machine.ended(forked.session)
    quiet = machine.ask("Look away", MAIT_CODE_QUIET="1")
    return Day(machine, before, first, seconds, evidence, second, forked, quiet)


def request(model: Model, prompt: str) -> str:
    """All that the model was told when somebody asked this."""
    return told(model.asked(prompt)[0])


def test_the_context_reaches_the_model(day: Day, model: Model) -> None:
    assert HEADING in request(model, "Make the login work")
    assert "- 1 backlog" in request(model, "Make the login work").partition(HEADING)[2]


def test_evidence_is_recorded_soon(day: Day) -> None:
    print(f"recorded {day.seconds:.2f} s after the client ended")
    assert day.seconds < RECORDED
    own, agents = day.evidence["turns"]
    assert (day.evidence["ended"], day.evidence["project"], day.evidence["branch"]) == ("other", "acme/rocket", "main")
    assert [one["prompt_text"] for one in day.evidence["prompts"]] == ["Make the login work"]
    assert (own["request"], own["answer"], own["agent"]) == ("Make the login work", "The login works.", None)
    assert own["files_modified"] == ["note.txt"]
    assert own["commands"] == [
        {"command": "echo one > made.txt", "exit": 0},
        {"command": "echo no such table >&2; exit 3", "exit": 3},
    ]
    assert own["failures"] == ["echo no such table >&2; exit 3: exit 3, no such table"]
    assert own["tokens"] == {"input": 6 * TOKENS["input_tokens"], "output": 6 * TOKENS["output_tokens"]}
    assert (agents["request"], agents["agent"]) == ("Count the files here", "general-purpose")
    assert agents["commands"] == [{"command": "ls", "exit": 0}]
    assert (day.machine.project / "note.txt").read_text() == "second\n", "the client really did it"


def test_a_model_puts_it_in_words(day: Day, model: Model) -> None:
    shown = day.machine.json("sessions", "show", day.first.session)
    by = [(one["generated_by"], one["next_steps"]) for one in shown["summaries"]]
    assert [steps for by, steps in by if by != "evidence"] == ["Deploy the login."]
    (observation, *_more) = shown["observations"]
    assert (observation["title"], observation["files_modified"]) == ("The table was missing", ["note.txt"])
    asked = json.dumps(model.asked_by_us()[0])
    assert "Make the login work" in asked
    assert HEADING not in asked, "what we told is no news"


def test_the_next_session_is_told(day: Day, model: Model) -> None:
    context = request(model, "What is open?").partition(HEADING)[2]
    for said in ("Get the login going.", "note.txt", "no such table", "Deploy the login.", "The table was missing"):
        assert said in context


def test_who_goes_on_is_told_only_news(day: Day, model: Model) -> None:
    resumed = request(model, "Go on with the login")
    assert resumed.count("- 1 backlog") == 1, "what was told before is there, and is not told again"
    assert "What is open?" in resumed
    assert "Deploy the login." not in resumed, "it did that itself"


def test_compacting(day: Day, model: Model) -> None:
    assert '"isCompactSummary":true' in day.machine.transcript(day.first.session)
    assert outcomes(day.machine)["hook observe precompact ok"] == 1
    after = request(model, "What was that about?")
    assert "- 1 backlog" in after.partition(HEADING)[2], "what it was told is gone, and is told anew"


def test_nothing_is_recorded_twice(day: Day) -> None:
    assert day.forked.session != day.first.session
    one_of_each(day.machine)
    shown = day.machine.json("sessions", "show", day.first.session)
    asked = [one["request"] for one in shown["turns"] if not one["agent"]]
    assert asked == ["Make the login work", "Go on with the login", "What was that about?"]
    forked = day.machine.json("sessions", "show", day.forked.session)
    assert [one["request"] for one in forked["turns"]] == ["Try it another way"]


def test_quiet(day: Day, model: Model) -> None:
    assert day.machine.recorded(day.quiet.session) is None
    assert HEADING not in request(model, "Look away")


def test_the_users_own_hooks_run(day: Day) -> None:
    ran = Counter((day.machine.home / "own.log").read_text().split())
    # Seven runs of the client, of which one compacts: that starts the session anew, and no turn of it is over.
    assert ran == {"SessionStart": 8, "Stop": 6, "PreCompact": 1, "SessionEnd": 7}


def test_nothing_went_wrong(day: Day) -> None:
    assert [one for one in outcomes(day.machine) if not one.endswith(" ok")] == []


@on_linux
def test_nothing_of_ours_keeps_running(day: Day) -> None:
    until("no process is left", lambda: not day.machine.processes(), GONE)


def test_uninstall(day: Day) -> None:
    """Last of the day: what was there before is there again, to the byte."""
    settings = day.machine.home / ".claude/settings.json"
    assert settings.read_bytes() != day.before
    day.machine.mait("uninstall")
    assert settings.read_bytes() == day.before
    assert not (day.machine.home / ".claude/CLAUDE.md").exists()
    assert day.machine.recorded(day.first.session), "what was recorded stays"


# -- in a terminal


def test_clear_and_compact_in_a_terminal(machines: Machines, model: Model) -> None:
    machine = install(machines.make("terminal"))
    model.on("Plant the tree", use("Bash", command="echo tree > tree.txt"), say("The tree stands."))
    model.on("Water it", say("It has water."))
    with Terminal(machine, "--allowedTools", "Bash") as terminal:
        terminal.shows("rocket")
        terminal.type("Plant the tree")
        terminal.shows("The tree stands.")
        terminal.type("/clear")
        terminal.until("a session begins", lambda: outcomes(machine)["hook session-start ok"] == 2)
        terminal.type("Water it")
        terminal.shows("It has water.")
        terminal.type("/compact")
        terminal.shows("Compacted")
        terminal.until("it goes on", lambda: outcomes(machine)["hook session-start ok"] == 3)
        terminal.type("/exit")
        assert terminal.ended() == 0
    until("both are recorded", lambda: len(machine.sessions()) == 2, RECORDED)
    planted, watered = sorted(
        (machine.ended(one) for one in machine.sessions()), key=lambda one: str(one["started_at"])
    )
    assert (planted["ended"], [one["commands"] for one in planted["turns"]]) == (
        "clear",
        [[{"command": "echo tree > tree.txt", "exit": 0}]],
    )
    assert (watered["ended"], [one["request"] for one in watered["turns"]]) == ("prompt_input_exit", ["Water it"])
    assert "Plant the tree" in request(model, "Water it").rpartition(HEADING)[2]
    assert outcomes(machine)["hook observe precompact ok"] == 1
    one_of_each(machine)


# -- two machines


def test_the_other_machine_is_told(machines: Machines, model: Model) -> None:
    shared = machines.folder / "shared.git"
    subprocess.run(["git", "init", "-q", "--bare", str(shared)], check=True, timeout=60)
    one, two = install(machines.make("one")), install(machines.make("two"))
    for machine in (one, two):
        machine.mait("init", "--remote", str(shared))
        machine.mait("settings", "set", "auto-sync", "on")
    model.on("Dig the well", use("Bash", command="echo deep > well.txt"), say("There is water."))
    dug = one.ask("Dig the well")
    one.ended(dug.session)
    until("it is sent", lambda: _sent(shared, dug.session), 30)
    greeted = two.ask("What did I do there?")
    context = request(model, "What did I do there?").partition(HEADING)[2]
    assert "Dig the well" in context, "the first session there is told already"
    assert "There is water." in context
    two.ended(greeted.session)
    assert two.json("sessions", "show", dug.session)["turns"] == one.json("sessions", "show", dug.session)["turns"]
    until("its answer is sent", lambda: _sent(shared, greeted.session), 30)
    one.ask("And then?", "--resume", dug.session)
    assert "What did I do there?" in request(model, "And then?").partition("# mait-code: new since")[2]
    for machine in (one, two):
        one_of_each(machine)
        assert [line for line in outcomes(machine) if not line.endswith(" ok")] == []


def _sent(shared: Path, session: str) -> bool:
    found = subprocess.run(
        ["git", "-C", str(shared), "grep", "-q", f'"session":"{session}"', "main"], capture_output=True, timeout=60
    )
    return found.returncode == 0


# -- the plug-in

#: Runs one of our programs in its place, and notes how long the client waited for it.
STOPWATCH = """#!{python} -IS
import os, subprocess, sys, time
began = time.monotonic()
name = os.path.basename(sys.argv[0])
done = subprocess.run([os.path.join({programs!r}, name), *sys.argv[1:]])
with open(os.path.expanduser("~/waited"), "a") as file:
    file.write(f"{{' '.join([name, *sys.argv[2:]])}}\\t{{time.monotonic() - began}}\\n")
sys.exit(done.returncode)
"""


def put_stopwatches(machine: Machine) -> None:
    """Put our programs where uv puts them, each with a stopwatch."""
    folder = machine.home / ".local/bin"
    folder.mkdir(parents=True)
    for name in ("mc-hook-session-start", "mc-hook-observe"):
        script = folder / name
        script.write_text(STOPWATCH.format(python=sys.executable, programs=str(PROGRAMS)))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)


def waited(machine: Machine, what: str) -> list[float]:
    """Seconds that the client waited for a program."""
    rows = [line.split("\t") for line in (machine.home / "waited").read_text().splitlines()]
    return [float(seconds) for name, seconds in rows if name == what]


@pytest.fixture(scope="module")
def marketplace(machines: Machines) -> Path:
    """The repository as others get it: a checkout holds much that is not in it, and the client copies all."""
    place = machines.folder / "marketplace"
    for name in (".claude-plugin", "hooks", "skills", "agents"):
        shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    shutil.copy(ROOT / "README.md", place)
    return place


def test_as_a_plugin(machines: Machines, model: Model, marketplace: Path) -> None:
    machine = machines.make("plugin")
    put_stopwatches(machine)
    machine.run([machine.claude, "plugin", "marketplace", "add", str(marketplace)])
    machine.run([machine.claude, "plugin", "install", "mait-code@mait-code"])
    model.on("Build the bridge", use("Bash", command="echo bridge > bridge.txt; exit 4"), say("It holds."))
    built = machine.ask("Build the bridge")
    (turn,) = machine.ended(built.session, RECORDED)["turns"]
    assert turn["commands"] == [{"command": "echo bridge > bridge.txt; exit 4", "exit": 4}]
    soul = machine.home / ".claude/mait-code-data/soul_document.md"
    soul.write_text("Call me Ishmael.\n")
    crossed = machine.ask("Who crosses it?")
    machine.ended(crossed.session)
    told_then = request(model, "Who crosses it?")
    assert "Call me Ishmael." in told_then, "no CLAUDE.md imports it"
    assert "Build the bridge" in told_then.partition(HEADING)[2]
    assert "mait-code:recall" in told_then, "its skills are there"
    ends = waited(machine, "mc-hook-observe session-end")
    print(f"the client waited for a session's end: {', '.join(f'{one:.2f} s' for one in ends)}")
    assert len(ends) == 2
    assert max(ends) < LIMIT
    command = [PROGRAMS / "mait-code", "install"]
    done = subprocess.run(command, capture_output=True, text=True, env=machine.environment, timeout=60)
    assert done.returncode == 1
    assert "plug-in" in done.stderr


def test_both_at_once_run_once(machines: Machines, model: Model) -> None:
    """The plug-in given for one session, where `mait-code install` has set up hooks: these run, and the other's do not."""
    machine = install(machines.make("both"))
    put_stopwatches(machine)
    ended = machine.ask("Is anybody there?", "--plugin-dir", str(ROOT))
    machine.ended(ended.session)
    assert not (machine.home / "waited").exists()
    ran = outcomes(machine)
    assert [ran[f"hook {name} ok"] for name in ("session-start", "observe stop", "observe session-end")] == [1, 1, 1]
    alone = machines.make("plugin-dir")
    put_stopwatches(alone)
    ended = alone.ask("Is anybody here?", "--plugin-dir", str(ROOT))
    assert [one["request"] for one in alone.ended(ended.session)["turns"]] == ["Is anybody here?"]


# -- killed


def test_the_client_is_killed(machines: Machines, model: Model) -> None:
    machine = install(machines.make("killed"))
    model.on(
        "Paint the wall",
        use("Bash", command="echo red > wall.txt"),
        use("Write", file_path=str(machine.project / "colours.txt"), content="red\n"),
        Step("It is red.", held=True),
    )
    session = str(uuid.uuid4())
    process = machine.start("Paint the wall", session)
    try:
        until("it is in the middle of it", lambda: len(model.asked("Paint the wall")) == 3, 30)
        # The client writes a moment later; what it never wrote nobody can know.
        until("it is written", lambda: machine.transcript(session).count('"type":"tool_result"') == 2, 30)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=10)
    assert machine.recorded(session) is None, "nobody has told of it"
    machine.ask("Good evening")
    found = machine.ended(session)
    assert found["ended"] == "lost"
    (turn,) = found["turns"]
    assert turn["commands"] == [{"command": "echo red > wall.txt", "exit": 0}]
    assert turn["files_modified"] == ["colours.txt"]
    machine.ask("Good night")
    context = request(model, "Good night").partition(HEADING)[2]
    assert "Good evening" in context
    assert machine.recorded(session) == found
    one_of_each(machine)


@on_linux
def test_the_worker_is_killed(machines: Machines, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = install(machines.make("worker", understands=True))
    before = len(model.asked_by_us())
    monkeypatch.setattr(model, "understanding", lambda _handler: model.let_go.wait(120))
    ended = machine.ask("Bake the bread")
    until("the model is asked", lambda: len(model.asked_by_us()) > before, RECORDED)
    workers = [number for number, command in machine.processes().items() if "mc-hook-observe" in command]
    assert workers
    for number in workers:
        os.kill(number, signal.SIGKILL)
    (turn,) = machine.ended(ended.session)["turns"]
    assert turn["request"] == "Bake the bread", "the evidence was there before anybody was asked"
    monkeypatch.setattr(model, "understanding", understanding("Bake the bread"))
    machine.ask("Eat it")
    until("it is understood", lambda: machine.json("sessions", "show", ended.session)["observations"], RECORDED)
    until("no process is left", lambda: not machine.processes(), GONE)
    assert len(machine.json("sessions", "show", ended.session)["observations"]) == 1
    one_of_each(machine)
