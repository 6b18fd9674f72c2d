"""The embedding models: which one is found, what its vectors are, and that none of it ever waits for a network."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import zipfile
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mait_code.journal.home import Home
from mait_code.projections import model_files
from mait_code.projections.embedding import MOST_WINDOWS, OVERLAP, Model, NoModel, open_model, spans
from mait_code.projections.fetching import NotFetched, obtain
from mait_code.projections.lean_graph import lean
from mait_code.projections.model_files import DIMENSION, NAME, SHA256, STAND_IN, Found, Wanted, resolve
from mait_code.projections.named_models import prefixes
from mait_code.projections.packaged_model import TOKENIZER, Packaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NOMIC = "nomic-ai/nomic-embed-text-v1.5"
BGE = "BAAI/bge-small-en-v1.5"
REVISION = "5f1b8cd78bc4fb444dd171e59b18f3a3af89a079"
ODD = ["", " ", "🎉🎉", "私は日本語を話します", "\ud800 half", "a\0b", "NEAR/3 AND \"x* - '?", "x" * 5000, "é e\u0301"]


@pytest.fixture
def place(home: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home in which fastembed's caches are empty, and none of the machine's is looked at."""
    monkeypatch.setenv("TMPDIR", str(home / "tmp"))
    monkeypatch.delenv("FASTEMBED_CACHE_PATH", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    return Home(str(home / "data"))


@lru_cache
def weights() -> str:
    """The published file."""
    path, reason = model_files.package_file(model_files.PACKAGE, "model.onnx")
    assert path, reason
    return path


def packaged(one_shot: bool, path: str = "") -> Model:
    return open_model(Found("packaged", NAME, SHA256[:12], DIMENSION, path or weights()), one_shot)


@pytest.fixture(scope="module")
def quick() -> Model:
    """As a search opens it."""
    return packaged(one_shot=True)


@pytest.fixture(scope="module")
def bulk() -> Model:
    """As the indexing of many texts opens it."""
    return packaged(one_shot=False)


def cosine(one: bytes, other: bytes) -> float:
    return float(np.frombuffer(one, "<f4") @ np.frombuffer(other, "<f4"))


# -- vectors


def test_a_vector_is_bytes_of_length_one(quick: Model) -> None:
    (vector,) = quick.embed_documents(["The build server keeps its cache on the second disk"])[0]
    assert (quick.name, quick.dimension, len(vector)) == (NAME, 384, 4 * 384)
    assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)
    assert quick.embed_documents([]) == []


def test_like_texts_are_near(quick: Model) -> None:
    about = {
        "port": "The database listens on port 5432",
        "food": "We had noodles and a soup for dinner",
        "trip": "The train to the coast leaves at half past seven",
        "test": "Run the unit tests before pushing",
    }
    rows = dict(zip(about, (one[0] for one in quick.embed_documents(list(about.values()))), strict=True))
    for question, answer in (
        ("which port does postgres use?", "port"),
        ("what did they eat in the evening", "food"),
        ("when do we depart by rail", "trip"),
        ("what to do prior to a git push", "test"),
    ):
        vector = quick.embed_query(question)
        scores = {name: cosine(vector, row) for name, row in rows.items()}
        assert max(scores, key=lambda name: scores[name]) == answer, question
        assert scores[answer] > 0.3 > sorted(scores.values())[-2], question


def test_known_vectors() -> None:
    """The weights, the tokenizer and the pooling together are those of all-MiniLM-L6-v2: its known first numbers, as near
    as weights of 8 bits come to them."""
    model = packaged(one_shot=True)
    numbers = np.frombuffer(model.embed_query("This is an example sentence"), "<f4")
    known = [0.0676569, 0.0634959, 0.0487131, 0.0793049, 0.0374480]
    assert np.abs(numbers[:5] - known).max() < 0.006


def test_loaded_either_way_it_says_the_same(quick: Model, bulk: Model) -> None:
    texts = ["one", "a longer one, with a few more words in it", "word " * 700, *ODD]
    for here, there in zip(quick.embed_documents(texts), bulk.embed_documents(texts), strict=True):
        assert len(here) == len(there)
        assert all(cosine(one, other) > 0.99999 for one, other in zip(here, there, strict=True))


def test_company_does_not_change_a_vector(bulk: Model) -> None:
    text = "The same text, alone and among others of all lengths"
    ((alone,),) = bulk.embed_documents([text])
    others = ["x", "word " * 150, "a b c d e f g", "short one"]
    among = bulk.embed_documents([*others, text, *others])[4][0]
    assert cosine(alone, among) > 0.99999
    assert cosine(alone, bulk.embed_query(text)) > 0.99999


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_any_text_has_a_vector(quick: Model, text: str) -> None:
    (vector,) = quick.embed_documents([text])[0]
    assert np.isfinite(np.frombuffer(vector, "<f4")).all()
    assert cosine(vector, quick.embed_query(text)) > 0.99999


def test_cjk_and_emoji_are_told_apart(quick: Model) -> None:
    texts = ["東京", "大阪", "🎉", "🚂"]
    rows = [one[0] for one in quick.embed_documents(texts)]
    assert len(set(rows[:2])) == 2


# -- windows


def test_a_long_text_is_found_by_its_end(bulk: Model) -> None:
    filling = "The weather was fair and nothing of note happened on this day. "
    needle = "The password for the staging router is taped under the printer."
    found = bulk.embed_documents([filling * 60 + needle + filling * 5])[0]
    assert len(found) == 4
    question = bulk.embed_query("where is the staging router's password?")
    scores = [cosine(question, vector) for vector in found]
    assert max(scores) == scores[-1]
    assert max(scores) > scores[0] + 0.15


def test_a_text_as_long_as_the_window_has_one(quick: Model) -> None:
    assert [len(one) for one in quick.embed_documents(["word " * 254, "word " * 255])] == [1, 2]


def test_the_longest_text_is_bounded(quick: Model) -> None:
    quick.load()
    pieces = quick._cut_all(["word " * 200_000])[0]
    assert len(pieces) == MOST_WINDOWS
    assert {len(piece) for piece in pieces} <= set(range(100, 257))


def test_a_question_of_ten_thousand_characters(quick: Model) -> None:
    question = ("Where do we keep the certificate of the mail server? " * 200)[:10_000]
    vector = quick.embed_query(question)
    near, far = quick.embed_documents(["The certificate of the mail server is in the vault", "Cats like fish"])
    assert cosine(vector, vector) == pytest.approx(1, abs=1e-5)
    assert cosine(vector, near[0]) > cosine(vector, far[0]) + 0.2


@given(st.integers(0, 40_000), st.integers(2 * OVERLAP, 600))
def test_windows_cover_a_text_evenly(tokens: int, window: int) -> None:
    parts = spans(tokens, window, OVERLAP)
    assert 1 <= len(parts) <= MOST_WINDOWS
    assert parts[0][0] == 0
    assert all(0 <= end - start <= window for start, end in parts)
    assert all(end - start == OVERLAP for (_, end), (start, _) in pairwise(parts))
    sizes = [end - start for start, end in parts]
    assert max(sizes) - min(sizes) <= 1
    if len(parts) < MOST_WINDOWS:
        assert parts[-1][1] == tokens
        assert len(parts) == 1 or tokens > (len(parts) - 1) * (window - OVERLAP) + OVERLAP, "no more than it takes"


def test_many_questions_at_once(bulk: Model) -> None:
    questions = ["one?", "word " * 300, "", *(f"which of the {number} is it?" for number in range(9))]
    together = bulk.embed_queries(questions)
    assert bulk.embed_queries([]) == []
    assert all(cosine(bulk.embed_query(one), vector) > 0.99999 for one, vector in zip(questions, together, strict=True))


def test_progress_is_told(bulk: Model) -> None:
    told: list[tuple[int, int]] = []
    bulk.embed_documents(["word " * 300, *(f"text {number}" for number in range(9))], lambda *at: told.append(at))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (11, 11)
    assert threading.current_thread() is threading.main_thread()


def test_an_interrupt_is_heeded(bulk: Model) -> None:
    def interrupt(done: int, all_: int) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        bulk.embed_documents(["word " * 200] * 400, interrupt)
    assert time.monotonic() - began < 5, "the other 99 batches are not worked through"


# -- the lean graph


def test_weights_behind_a_link_are_read(tmp_path: Path, quick: Model) -> None:
    """Some installers link to a store of packages."""
    link = tmp_path / "model.onnx"
    link.symlink_to(weights())
    model = packaged(one_shot=True, path=str(link))
    assert model.embed_query("a text") == quick.embed_query("a text")


def test_the_lean_graph_is_small_and_of_this_file_alone() -> None:
    content = Path(weights()).read_bytes()
    assert len(lean(memoryview(content), "model.onnx")) < 300_000
    for other in (
        content[:200_000],
        b"",
        b"\x08\x0a",
        b"\xff" * 100,
        content.replace(b"word_embeddings", b"warp_embeddings"),
    ):
        with pytest.raises((ValueError, IndexError)):
            lean(memoryview(other), "model.onnx")


def test_a_broken_model_says_so(tmp_path: Path) -> None:
    broken = tmp_path / "model.onnx"
    broken.write_bytes(Path(weights()).read_bytes()[:5_000_000])
    for one_shot in (True, False):
        with pytest.raises(NoModel, match="cannot be loaded") as caught:
            packaged(one_shot, str(broken)).embed_query("a text")
        assert caught.value.hint


# -- which model


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place for packages that is looked at before the real one."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def install(site: Path, content: bytes) -> Path:
    folder = site / model_files.PACKAGE
    folder.mkdir()
    (folder / "__init__.py").write_text("raise AssertionError('imported')")
    (folder / "model.onnx").write_bytes(content)
    return folder / "model.onnx"


def found(resolution: model_files.Resolution) -> Found:
    assert resolution.found is not None, resolution.reason
    return resolution.found


def test_the_packaged_model_is_the_default(place: Home) -> None:
    resolution = resolve(place, Wanted())
    model = found(resolution)
    assert (model.kind, model.name, model.dimension, resolution.reason) == ("packaged", NAME, 384, "")
    assert model.revision.startswith("8199be6f699a")
    assert model_files.PACKAGE not in sys.modules
    assert found(resolve(place, Wanted(model=NAME))).kind == "packaged"


def test_weights_that_were_changed_are_refused(place: Home, site: Path) -> None:
    content = bytearray(Path(weights()).read_bytes())
    content[20_000_000] ^= 1
    path = install(site, bytes(content))
    resolution = resolve(place, Wanted())
    assert resolution.found is None
    assert f"the packaged weights {path} are not the file that was published" in resolution.reason
    path.write_bytes(b"short")
    assert "are not the file that was published" in resolve(place, Wanted()).reason


def test_weights_are_read_once(place: Home, site: Path) -> None:
    path = install(site, Path(weights()).read_bytes())
    assert found(resolve(place, Wanted())).path == str(path)
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(1000)
        file.write(b"other")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert found(resolve(place, Wanted())).path == str(path), "size, time and inode are as they were"
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    assert resolve(place, Wanted()).found is None


@pytest.mark.parametrize(
    "memory", [b"", b"[]", b"{", b'{"weights": 7, "fastembed": []}', b'{"fastembed": {"stamp": 1, "models": 3}}']
)
def test_a_strange_memory_costs_only_time(place: Home, memory: bytes) -> None:
    os.makedirs(place.state)
    Path(place.in_state("models.json")).write_bytes(memory)
    assert found(resolve(place, Wanted())).kind == "packaged"
    assert found(resolve(place, Wanted(model="nobody/knows-this"))).kind == "packaged"


def test_without_a_state_directory(place: Home) -> None:
    Path(place.state).parent.mkdir(parents=True)
    Path(place.state).touch()
    assert found(resolve(place, Wanted())).kind == "packaged"


def test_a_package_inside_an_archive(place: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = tmp_path / "packages.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"{model_files.PACKAGE}/__init__.py", "")
        file.writestr(f"{model_files.PACKAGE}/model.onnx", "weights")
    monkeypatch.syspath_prepend(str(archive))
    resolution = resolve(place, Wanted())
    assert resolution.found is None
    assert "has no file model.onnx on the disk" in resolution.reason
    assert str(archive) in resolution.reason


def test_nothing_at_all(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "PACKAGE", "no_such_package")
    resolve(place, Wanted())
    began = time.monotonic()
    resolution = resolve(place, Wanted())
    assert time.monotonic() - began < 0.5
    assert resolution.found is None
    assert resolution.reason.startswith(
        "the package no_such_package is not installed; the model sentence-transformers/"
    )
    assert str(Path(os.environ["XDG_CACHE_HOME"]) / "mait-code/models") in resolution.reason


# -- fastembed's cache


def cache_entry(cache: Path, repository: str, *files: str, revision: str = REVISION) -> Path:
    """An entry as the hub's client makes them: blobs, and links to them by name."""
    entry = cache / f"models--{repository.replace('/', '--')}"
    snapshot = entry / "snapshots" / revision
    for number, name in enumerate(files):
        (snapshot / name).parent.mkdir(parents=True, exist_ok=True)
        (entry / "blobs").mkdir(exist_ok=True)
        blob = entry / "blobs" / f"{revision[:4]}{number}"
        blob.write_bytes(b"content")
        (snapshot / name).symlink_to(os.path.relpath(blob, (snapshot / name).parent))
    (entry / "refs").mkdir(exist_ok=True)
    (entry / "refs" / "main").write_text(revision)
    return snapshot


def run_entry(cache: Path, repository: str, file: str) -> Path:
    """An entry that can be run: the packaged weights under another name."""
    snapshot = cache_entry(cache, repository, file)
    (snapshot / file).unlink()
    shutil.copy(weights(), snapshot / file)
    shutil.copy(TOKENIZER, snapshot / "tokenizer.json")
    (snapshot / "tokenizer_config.json").write_text('{"model_max_length": 128}')
    (snapshot / "config.json").write_text('{"pad_token_id": 0}')
    (snapshot / "special_tokens_map.json").write_text('{"pad_token": "[PAD]"}')
    return snapshot


@pytest.fixture
def cache(place: Home) -> Path:
    folder = Path(model_files.own_cache())
    folder.mkdir(parents=True)
    return folder


def test_a_named_model_is_taken_from_the_cache(place: Home, cache: Path) -> None:
    cache_entry(cache, "nomic-ai/nomic-embed-text-v1.5", "onnx/model.onnx", revision="0" * 40)
    newest = cache_entry(cache, "nomic-ai/nomic-embed-text-v1.5", "onnx/model.onnx")
    resolution = resolve(place, Wanted(model=NOMIC))
    model = found(resolution)
    assert (model.kind, model.name, model.dimension, model.path) == ("fastembed", NOMIC, 768, str(newest))
    assert model.revision.startswith(REVISION[:12])
    assert resolution.reason == ""
    assert found(resolve(place, Wanted(model=NOMIC.upper()))).path == str(newest)
    assert found(resolve(place, Wanted())).kind == "packaged", "nobody asked for it"


def test_a_named_model_that_is_not_here(place: Home, cache: Path) -> None:
    broken = cache_entry(cache, "nomic-ai/nomic-embed-text-v1.5", "onnx/model.onnx") / "onnx/model.onnx"
    os.unlink(broken.resolve())
    resolution = resolve(place, Wanted(model=NOMIC))
    assert found(resolution).kind == "packaged"
    assert resolution.reason.startswith(f"the model {NOMIC} is not on this machine")
    assert resolution.reason.endswith(f"{NAME} is used instead")
    assert "knows no model a/b" in resolve(place, Wanted(model="a/b")).reason


def test_a_model_of_several_files_needs_all(place: Home, cache: Path) -> None:
    name = "intfloat/multilingual-e5-large"
    cache_entry(cache, "Qdrant/multilingual-e5-large-onnx", "model.onnx")
    assert found(resolve(place, Wanted(model=name))).kind == "packaged"
    cache_entry(cache, "Qdrant/multilingual-e5-large-onnx", "model.onnx_data", revision="1" * 40)
    assert found(resolve(place, Wanted(model=name))).kind == "packaged"
    cache_entry(cache, "Qdrant/multilingual-e5-large-onnx", "model.onnx", "model.onnx_data", revision="2" * 40)
    assert found(resolve(place, Wanted(model=name))).name == name


def test_the_cache_stands_in_for_the_packaged_weights(
    place: Home, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "PACKAGE", "no_such_package")
    cache_entry(cache, "qdrant/all-minilm-l6-v2-onnx", "model.onnx")
    resolution = resolve(place, Wanted())
    assert (found(resolution).kind, found(resolution).name) == ("fastembed", STAND_IN)
    assert "no_such_package is not installed" in resolution.reason


def test_where_caches_are(place: Home, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fastembeds = home / "tmp/fastembed_cache"
    fastembeds.mkdir(parents=True)
    assert model_files.caches() == [str(fastembeds)]
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(home))
    assert model_files.caches() == [str(home), str(fastembeds)]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_a_cache_of_somebody_else_is_left_alone(place: Home, home: Path) -> None:
    planted = home / "tmp/fastembed_cache"
    planted.mkdir(parents=True)
    os.chown(planted, 12345, 12345)
    assert model_files.caches() == []


def test_fastembed_is_asked_once(place: Home, cache: Path) -> None:
    cache_entry(cache, "nomic-ai/nomic-embed-text-v1.5", "onnx/model.onnx")
    script = """
import json, os, sys
from mait_code.journal.home import Home
from mait_code.projections.model_files import Wanted, resolve
found = resolve(Home(os.environ["MAIT_CODE_DATA_DIR"]), Wanted(model="nomic-ai/nomic-embed-text-v1.5")).found
print(json.dumps([found.name, "fastembed" in sys.modules]))
"""
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, check=True) for _ in range(2)]
    assert [json.loads(run.stdout) for run in runs] == [[NOMIC, True], [NOMIC, False]]


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("something reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_a_model_runs_from_the_cache_without_a_network(
    place: Home, cache: Path, no_network: None, quick: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_entry(cache, "Qdrant/all-MiniLM-L6-v2-onnx", "model.onnx")
    monkeypatch.setattr(model_files, "PACKAGE", "no_such_package")
    model = open_model(found(resolve(place, Wanted())), one_shot=False)
    assert cosine(model.embed_query("which port?"), quick.embed_query("which port?")) > 0.9999
    ((short,), long) = model.embed_documents(["a text", "The cat sat on the mat. " * 60])
    assert cosine(short, quick.embed_documents(["a text"])[0][0]) > 0.9999
    assert len(long) == 5, "420 tokens, in windows of 126 that share 32"
    assert all(cosine(one, one) == pytest.approx(1, abs=1e-5) for one in long)
    for text in ODD:
        assert len(model.embed_documents([text])) == 1


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_questions_and_texts_get_their_prefixes(place: Home, cache: Path, no_network: None) -> None:
    run_entry(cache, "Qdrant/bge-small-en-v1.5-onnx-Q", "model_optimized.onnx")
    model = open_model(found(resolve(place, Wanted(model=BGE))), one_shot=True)
    before, nothing = prefixes(BGE)
    assert before
    assert nothing == ""
    question = model.embed_query("which port?")
    assert cosine(question, model.embed_documents([before + "which port?"])[0][0]) > 0.99999
    assert cosine(question, model.embed_documents(["which port?"])[0][0]) < 0.99


def test_prefixes_of_models() -> None:
    assert prefixes(NOMIC) == ("search_query: ", "search_document: ")
    assert prefixes("nomic-ai/nomic-embed-text-v1.5-Q") == ("search_query: ", "search_document: ")
    assert prefixes("intfloat/multilingual-e5-large") == ("query: ", "passage: ")
    assert prefixes(STAND_IN) == ("", "")


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_the_wrong_files_under_a_name(place: Home, cache: Path) -> None:
    run_entry(cache, "nomic-ai/nomic-embed-text-v1.5", "onnx/model.onnx")
    model = open_model(found(resolve(place, Wanted(model=NOMIC))), one_shot=True)
    with pytest.raises(NoModel, match="it has vectors of 384 numbers, not 768"):
        model.embed_query("which port?")
    shutil.rmtree(model.found.path)
    again = open_model(model.found, one_shot=True)
    with pytest.raises(NoModel, match="cannot be loaded from"):
        again.embed_query("which port?")


# -- fetching


class Hub(BaseHTTPRequestHandler):
    """As much of the hub as its client asks for."""

    files: dict[str, bytes]
    asked: list[str]

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        self.asked.append(self.path)
        path = self.path.split("?")[0]
        if "/resolve/" in path:
            content = self.files[path.split(f"/resolve/{REVISION}/")[1]]
            headers = {"ETag": f'"{len(content):040d}"', "X-Repo-Commit": REVISION}
        else:
            listed = [{"type": "file", "path": name, "size": len(content), "oid": f"{len(content):040d}"} for name, content in self.files.items()]  # fmt: skip
            told = {"id": "r", "sha": REVISION, "siblings": [{"rfilename": name} for name in self.files]}
            content = json.dumps(listed if "/tree/" in path else told).encode()
            headers = {"Content-Type": "application/json"}
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """The tests' output is no log."""


def serve(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def hub() -> Iterator[str]:
    Hub.asked = []
    Hub.files = {"model_optimized.onnx": b"weights", "tokenizer.json": b"{}", "README.md": b"not wanted"}
    Hub.files |= {"config.json": b"{ }", "tokenizer_config.json": b"{  }", "special_tokens_map.json": b"{   }"}
    yield from serve(Hub)


OBTAIN = """
import json, os, sys, time
from mait_code.journal.errors import MaitError
from mait_code.journal.home import Home
from mait_code.projections.fetching import obtain
from mait_code.projections.model_files import Wanted
began = time.monotonic()
try:
    got = obtain(Home(os.environ["MAIT_CODE_DATA_DIR"]), Wanted(model=sys.argv[1], download=sys.argv[2] == "on"))
    print(json.dumps([got.found.name, got.found.revision, got.found.path, got.reason]))
except MaitError as error:
    print(json.dumps([type(error).__name__, error.message, error.hint, time.monotonic() - began]))
"""


def obtained(endpoint: str, name: str, download: str) -> Any:
    """What a process of its own obtains: the hub's client reads its environment when it is imported."""
    environment = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_TELEMETRY": "1"}
    command = [sys.executable, "-c", OBTAIN, name, download]
    done = subprocess.run(command, capture_output=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_a_model_is_fetched_only_where_the_setting_says_so(place: Home, hub: str) -> None:
    name, _, _, reason = obtained(hub, BGE, "off")
    assert (name, Hub.asked) == (NAME, [])
    assert f"the model {BGE} is not on this machine" in reason
    name, revision, folder, reason = obtained(hub, BGE, "on")
    assert (name, revision, reason) == (BGE, f"{REVISION[:12]}.{model_files.RECIPE}", "")
    assert Path(folder, "model_optimized.onnx").read_bytes() == b"weights"
    assert not Path(folder, "README.md").exists()
    assert folder.startswith(os.environ["XDG_CACHE_HOME"])
    Hub.asked.clear()
    assert obtained(hub, BGE, "on")[0] == BGE
    assert Hub.asked == [], "it is here now"


def test_a_hub_that_cannot_be_reached(place: Home) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    error, message, hint, seconds = obtained(nowhere, BGE, "on")
    assert error == NotFetched.__name__
    assert message.startswith(f"the model {BGE} could not be fetched: ")
    assert "\n" not in message
    assert "network" in hint
    assert seconds < 20, "one attempt"


def test_what_is_here_is_not_fetched(place: Home, no_network: None) -> None:
    assert found(obtain(place, Wanted(download=True))).kind == "packaged"
    with pytest.raises(NotFetched, match="knows no model a/b"):
        obtain(place, Wanted(model="a/b", download=True))


# -- Bedrock


class Titan(BaseHTTPRequestHandler):
    """Bedrock's runtime, answering with vectors that tell what was asked."""

    asked: list[tuple[str, dict[str, Any], str]]
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body, self.headers.get("Authorization", "")))
        numbers = [0.0] * (1536 if "v1" in self.path else 1024)
        text = body.get("inputText") or body["texts"][0]
        numbers[len(text) % 100] = 3.0
        content = json.dumps({"embeddings": [numbers]} if "texts" in body else {"embedding": numbers}).encode()
        if self.status != 200:
            content = b'{"message": "You have no access to this model"}'
        self.send_response(self.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.status != 200:
            self.send_header("x-amzn-ErrorType", "AccessDeniedException")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """The tests' output is no log."""


@pytest.fixture
def titan(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("boto3", reason="boto3 comes with the extra `bedrock`, which is not installed")
    Titan.asked = []
    Titan.status = 200
    for name, value in (("ACCESS_KEY_ID", "id"), ("SECRET_ACCESS_KEY", "key"), ("EC2_METADATA_DISABLED", "true")):
        monkeypatch.setenv(f"AWS_{name}", value)
    for address in serve(Titan):
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", address)
        yield address


def bedrock(place: Home, id_: str) -> Model:
    return open_model(
        found(resolve(place, Wanted(provider="bedrock", bedrock_model=id_, bedrock_region="eu-west-2"))), one_shot=False
    )


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
@pytest.mark.parametrize(
    ("id_", "dimension"),
    [
        ("amazon.titan-embed-text-v2:0", 1024),
        ("amazon.titan-embed-text-v1", 1536),
        ("cohere.embed-multilingual-v3", 1024),
    ],
)
def test_bedrock_is_asked(place: Home, titan: str, id_: str, dimension: int) -> None:
    model = bedrock(place, id_)
    assert (model.name, model.dimension) == (id_, dimension)
    vector = np.frombuffer(model.embed_query("which port?"), "<f4")
    assert (len(vector), vector[11], np.abs(vector).sum()) == (dimension, 1, 1)
    path, body, authorization = Titan.asked[0]
    assert path.replace("%3A", ":") == f"/model/{id_}/invoke"
    assert "eu-west-2/bedrock" in authorization
    assert body.get("inputText") == "which port?" or body["texts"] == ["which port?"]
    rows = model.embed_documents(["", "a text", "word " * 3000])
    assert [len(one) for one in rows] == ([1, 1, 3] if "titan" in id_ else [1, 1, 11])
    assert all(asked[1].get("inputText", "x") for asked in Titan.asked), "an empty text is refused over there"


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
def test_bedrock_that_refuses_or_is_not_there(place: Home, titan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = bedrock(place, "amazon.titan-embed-text-v2:0")
    for status in (403, 500):
        Titan.status = status
        Titan.asked.clear()
        with pytest.raises(NoModel, match="Bedrock cannot be used"):
            model.embed_query("which port?")
        assert len(Titan.asked) == 1, "no second try"
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://127.0.0.1:9")
    began = time.monotonic()
    with pytest.raises(NoModel, match="Bedrock cannot be used"):
        bedrock(place, "amazon.titan-embed-text-v2:0").embed_query("which port?")
    assert time.monotonic() - began < 10


def test_bedrock_without_what_it_needs(place: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., tuple[str, str]] = model_files.package_file
    monkeypatch.setattr(
        model_files, "package_file", lambda name, *files: ("", "gone") if name == "boto3" else real(name, *files)
    )
    resolution = resolve(place, Wanted(provider="bedrock"))
    assert found(resolution).kind == "packaged"
    assert resolution.reason.startswith("Bedrock needs the package boto3")
    monkeypatch.setattr(
        model_files, "package_file", lambda name, *files: ("/x", "") if name == "boto3" else real(name, *files)
    )
    assert "no embedding model on Bedrock" in resolve(place, Wanted(provider="bedrock", bedrock_model="a.llm")).reason


# -- starting


def test_nothing_heavy_until_the_first_text(place: Home) -> None:
    script = """
import sys
from mait_code.projections import model_files
from mait_code.projections.embedding import open_model
model = open_model(model_files.Found("packaged", "n", "1", 384, "/nowhere"), True)
heavy = {"numpy", "onnxruntime", "tokenizers", "fastembed", "huggingface_hub", "boto3", "tempfile", "subprocess"}
print(*(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\n", b"")


def test_one_question_imports_no_more_than_it_needs(place: Home) -> None:
    script = f"""
import os, sys
from mait_code.projections import model_files
from mait_code.projections.embedding import open_model
open_model(model_files.Found("packaged", "n", "1", 384, {weights()!r}), True).embed_query("which port?")
assert "OPENBLAS_NUM_THREADS" not in os.environ, "what git and others are started with is not ours to change"
heavy = {{"fastembed", "huggingface_hub", "requests", "httpx", "concurrent.futures.thread", "asyncio", "boto3", "PIL"}}
print(*(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\n", b"")


def test_the_package_carries_its_tokenizer() -> None:
    folder = Path(TOKENIZER).parent
    assert {"tokenizer.json", "NOTICE", "LICENSE"} <= {path.name for path in folder.iterdir()}
    assert "Apache License" in (folder / "NOTICE").read_text(encoding="utf-8")
    assert issubclass(Packaged, Model)
