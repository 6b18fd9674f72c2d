"""Model access against real servers: who is asked, what an answer has to be, how failures are told apart, what is counted."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import ssl
import stat
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import messages_server as server
import pytest
from messages_server import Server, function, spoken, tool
from model_place import alone, serving

from mait_code.commands import model as models
from mait_code.commands.model import Tool, ask, provider, spending
from mait_code.journal.home import Home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from model_place import Model

ANY = Tool("answer", "Answer.", {"type": "object", "properties": {"word": {"type": "string"}}})


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    alone(monkeypatch)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Model]:
    yield from serving(monkeypatch)


@pytest.fixture
def state(home: Path) -> Home:
    found = Home(str(home / "data"))
    found.make()
    return found


def settings_file(home: Path, text: str) -> None:
    place = home / "config" / "mait-code"
    place.mkdir(parents=True)
    (place / "settings.toml").write_text(text)


# -- who is asked ---------------------------------------------------------------------------------------------------------


def test_auto_takes_the_api_then_the_client_then_nobody(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert provider() == "none"
    place = home / ".local" / "bin"
    place.mkdir(parents=True)
    (place / "claude").write_text("#!/bin/sh\n")
    (place / "claude").chmod(0o755)
    assert provider() == "claude"
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"):
        monkeypatch.setenv(name, "x")
        assert provider() == "anthropic"
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    monkeypatch.setenv("MAIT_CODE_LLM_PROVIDER", "none")
    assert provider() == "none"


def test_the_env_table_holds_for_whoever_asks(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "")  # so that it is taken back after the test
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    monkeypatch.setenv("PATH", "/nonexistent")
    with Server(tool({"word": "yes"})) as api:
        settings_file(home, f'[env]\nANTHROPIC_BASE_URL = "{api.url}"\n')
        assert provider() == "anthropic"
        assert ask("x", ANY, model="haiku", limit=10).value == {"word": "yes"}
    monkeypatch.delenv("ANTHROPIC_BASE_URL")


def test_nobody_is_asked_inside_a_session_of_the_model(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAIT_CODE_IN_MODEL", "1")
    with model(tool({})) as api, pytest.raises(models.NoModel, match="own session"):
        ask("x", ANY, model="haiku", limit=5)
    assert api.requests == []


def test_the_client_is_told_that_it_is_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Home) -> None:
    log = tmp_path / "environment"
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    answer = {"structured_output": {"word": "yes"}, "usage": {"input_tokens": 30, "output_tokens": 4}}
    program.write_text(f"#!/bin/sh\nenv > {log}\ncat > /dev/null\necho '{json.dumps(answer)}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CLAUDECODE", "1")
    assert ask("x", ANY, model="haiku", limit=20, home=state).value == {"word": "yes"}
    told = dict(line.partition("=")[::2] for line in log.read_text().splitlines())
    assert (told["MAIT_CODE_QUIET"], told["MAIT_CODE_IN_MODEL"]) == ("1", "1")
    assert "CLAUDECODE" not in told
    assert spending.spent_today(state) == 34


def test_a_client_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {tmp_path}/child\nwait\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with pytest.raises(models.TimedOut):
        ask("x", ANY, model="haiku", limit=1)
    child = int((tmp_path / "child").read_text())
    for _ in range(50):
        if not _runs(child):
            return
        time.sleep(0.1)
    pytest.fail("what the client started runs on")


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# -- failures, told apart -------------------------------------------------------------------------------------------------

FAILURES: dict[str, tuple[server.Reply, type[models.ModelFailed], int]] = {
    "refusal": (server.words("I cannot.", "refusal"), models.Refused, 1000),
    "prose": (server.words("Sure, here it is: {}"), models.Refused, 1000),
    "cut off": (server.words("so", "max_tokens"), models.Malformed, 1000),
    "no object": (tool([1]), models.Malformed, 1000),
    "not JSON": (server.raw(b"<html>"), models.Malformed, 0),
    "half a JSON": (server.raw(b'{"content": [{"type": "tool_use", "inp'), models.Malformed, 0),
    "429": (server.status(429, "slow down", retry_after="3600"), models.Limited, 0),
    "500": (server.status(500), models.Failed, 0),
    "401": (server.status(401), models.Failed, 0),
    "hang": (server.hang(10), models.TimedOut, 0),
}


@pytest.mark.parametrize("name", FAILURES)
def test_each_failure_has_its_type_and_what_it_took_is_counted(model: Model, state: Home, name: str) -> None:
    reply, type_, tokens = FAILURES[name]
    with model(reply), pytest.raises(type_) as raised:
        ask("x", ANY, model="haiku", limit=1, home=state)
    assert type(raised.value) is type_
    assert raised.value.wait == (3600 if name == "429" else 0)
    assert sum(raised.value.tokens) == tokens
    assert spending.spent_today(state) == tokens


@pytest.mark.parametrize("after", ["-5", "nan", "Wed, 21 Oct 2026 07:28:00 GMT", "inf", "1e300", ""])
def test_what_a_server_asks_to_wait_is_taken_with_care(model: Model, after: str) -> None:
    with model(server.status(429, retry_after=after)), pytest.raises(models.Limited) as raised:
        ask("x", ANY, model="haiku", limit=1)
    assert 0 <= raised.value.wait <= 86_400


def test_nobody_there_is_another_thing_than_a_failure(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    with pytest.raises(models.Unreachable):
        ask("x", ANY, model="haiku", limit=1)
    with model(server.hang_up()), pytest.raises(models.Failed) as raised:
        ask("x", ANY, model="haiku", limit=1)
    assert type(raised.value) is models.Failed


def test_half_a_surrogate_pair_does_not_cost_the_answer(model: Model) -> None:
    text = '{"content": [{"type": "tool_use", "name": "answer", "input": {"word": "a\\ud83d"}}], "stop_reason": "tool_use"}'
    with model(server.raw(text.encode())):
        assert ask("x", ANY, model="haiku", limit=5).value == {"word": "a\ud83d"}


def test_secrets_are_masked_on_the_way(model: Model) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    with model(tool({"word": "yes"})) as api:
        ask(f"the token {secret}", ANY, model="haiku", limit=5)
    assert secret not in json.dumps(api.requests[0][2])


# -- servers that speak OpenAI's API --------------------------------------------------------------------------------------


@pytest.fixture
def compatible(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    running: list[Server] = []

    def start(*replies: server.Reply) -> Server:
        running.append(Server(*replies).__enter__())
        monkeypatch.setenv("MAIT_CODE_LLM_PROVIDER", "openai-compatible")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{running[-1].url}/v1/")
        return running[-1]

    yield start
    for one in running:
        one.__exit__()


def test_a_function_is_called(compatible: Callable[..., Server], state: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    api = compatible(function({"word": "yes"}))
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    answer = ask("say yes", ANY, model="some-model", limit=10, system="Be brief.", home=state)
    assert (answer.value, answer.model, answer.tokens) == ({"word": "yes"}, "some-model", (700, 50))
    path, headers, body = api.requests[0]
    assert (path, headers["authorization"]) == ("/v1/chat/completions", "Bearer a-key")
    assert [one["role"] for one in body["messages"]] == ["system", "user"]
    assert body["tools"][0]["function"]["parameters"] == ANY.schema
    assert body["tool_choice"] == {"type": "function", "function": {"name": "answer"}}
    assert spending.spent_today(state) == 750


def test_without_a_key_none_is_sent(compatible: Callable[..., Server]) -> None:
    api = compatible(function({"word": "yes"}))
    ask("x", ANY, model="m", limit=10)
    assert "authorization" not in api.requests[0][1]


@pytest.mark.parametrize(
    ("reply", "type_"),
    [
        (function("{not json"), models.Malformed),
        (function("[1]"), models.Malformed),
        (spoken("Here you are"), models.Refused),
        (spoken("", refusal="I will not"), models.Refused),
        (spoken("", "content_filter"), models.Refused),
        (spoken("{", "length"), models.Malformed),
        (server.raw(b'{"choices": []}'), models.Malformed),
        (server.raw(b'{"choices": [7]}'), models.Malformed),
        (server.raw(b'{"choices": [{"message": null}]}'), models.Malformed),
        (server.raw(b'{"choices": [{"message": {"tool_calls": [null, {"function": 3}]}}]}'), models.Refused),
        (server.raw(b"[]"), models.Malformed),
        (server.status(429), models.Limited),
        (server.status(503), models.Failed),
        (server.hang(10), models.TimedOut),
    ],
)
def test_its_failures_have_the_same_types(
    compatible: Callable[..., Server], reply: server.Reply, type_: type[Exception]
) -> None:
    compatible(reply)
    with pytest.raises(type_):
        ask("x", ANY, model="m", limit=1)


# -- TLS ------------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl program to make a certificate")
def test_https_with_a_certificate_of_the_companys_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate,
         "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    api = Server(tool({"word": "yes"}))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    api.socket = context.wrap_socket(api.socket, server_side=True)
    api.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client that does not trust it hangs up
    threading.Thread(target=api.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url.replace("http:", "https:"))
    try:
        with pytest.raises(models.Unreachable, match=r"(?i)certificate"):
            ask("x", ANY, model="haiku", limit=10)
        assert api.requests == []
        monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(certificate))
        assert ask("x", ANY, model="haiku", limit=10).value == {"word": "yes"}
    finally:
        api.__exit__()


# -- what it took ---------------------------------------------------------------------------------------------------------


def _spend(data: str, times: int) -> None:
    home = Home(data)
    for _ in range(times):
        spending.note(home, (2, 1), "m")


def test_many_processes_at_once_lose_nothing(state: Home) -> None:
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_spend, args=(state.data, 200)) for _ in range(4)]
    for one in workers:
        one.start()
    for one in workers:
        one.join(60)
        assert one.exitcode == 0
    assert spending.spent_today(state) == 4 * 200 * 3


def test_each_day_counts_for_itself_and_old_ones_go(state: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    spending.note(state, (100, 10), "m")
    folder = state.in_state("spending")
    (name,) = os.listdir(folder)
    assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600
    os.rename(os.path.join(folder, name), os.path.join(folder, "2020-01-05.jsonl"))
    assert (spending.spent_today(state), spending.spent_on(state, "2020-01-05")) == (0, 110)
    for day in range(100):
        with open(os.path.join(folder, f"2019-{day // 28 + 1:02d}-{day % 28 + 1:02d}.jsonl"), "w") as file:
            file.write("{}\n")
    spending.note(state, (1, 1), "m")
    assert len(os.listdir(folder)) == 62
    assert spending.spent_today(state) == 2


def test_what_is_damaged_in_it_costs_itself(state: Home) -> None:
    spending.note(state, (100, 10), "m")
    folder = state.in_state("spending")
    with open(os.path.join(folder, os.listdir(folder)[0]), "ab") as file:
        file.write(b'{"in": 5}\n\xff\nnull\n{"in": 1, "out"')
    assert spending.spent_today(state) == 110


def test_reflection_is_counted(
    cli: Callable[..., Any], model: Model, tmp_path: Path, state: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAIT_CODE_LLM_DAILY_TOKENS", "0")
    (tmp_path / "rocket").mkdir()
    monkeypatch.chdir(tmp_path / "rocket")
    for text in ("one", "two", "three"):
        assert cli("memory", "store", text).code == 0
    with model(tool({"insights": [], "operations": []})):
        # What a person starts runs also when nothing is left, and counts.
        assert cli("memory", "reflect", "--yes").code == 0
    assert spending.spent_today(state) == 1000


def test_asking_loads_nothing_before_it_is_needed() -> None:
    code = "import sys; from mait_code.commands import model; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    assert not loaded & {"urllib.request", "http.client", "ssl", "truststore", "subprocess", "tempfile", "threading"}
