"""Fetching an embedding model from the hub: only where the setting allows it, and only in commands that say they do."""

from __future__ import annotations

import os

from mait_code.journal.errors import MaitError
from mait_code.journal.home import make_directory
from mait_code.projections import model_files
from mait_code.projections.model_files import STAND_IN, Resolution, Wanted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.journal.home import Home


class NotFetched(MaitError):  # noqa: N818
    """The model could not be fetched. What was found before is still there."""


def obtain(home: Home, wanted: Wanted) -> Resolution:
    """What `model_files.resolve` finds, after fetching what is missing where the setting `embedding-download` allows it.

    One attempt, into the user's cache. May take minutes. Raises NotFetched.
    """
    resolution = model_files.resolve(home, wanted)
    name = wanted.model or STAND_IN
    satisfied = resolution.found is not None and (not wanted.model or resolution.found.name == wanted.model)
    if satisfied or not wanted.download or wanted.provider != "local":
        return resolution
    description = model_files.describe(home, name)
    if isinstance(description, str):
        raise NotFetched(description, "mait-code settings get embedding-model")
    _fetch(name, description)
    return model_files.resolve(home, wanted)


def _fetch(name: str, description: model_files.Description) -> None:
    cache = model_files.own_cache()
    if not os.path.isdir(cache):
        make_directory(cache)
    # Its progress bars write to stderr, which is not ours to write to.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        from fastembed import TextEmbedding

        # fastembed's usual way sleeps and tries again, up to a minute; this is one attempt of the same.
        TextEmbedding.download_files_from_huggingface(
            description.repository, cache, [description.file, *description.more]
        )
    except Exception as error:  # whatever the network, the hub and its client raise
        said = str(error).strip().splitlines() or [type(error).__name__]
        hint = "check the network, or copy the model's files from another machine's cache"
        raise NotFetched(f"the model {name} could not be fetched: {said[0]}", hint) from error
