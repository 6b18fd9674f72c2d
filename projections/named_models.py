"""Any model that fastembed knows, by its name, from files that are on this machine already."""

from __future__ import annotations

import os

import orjson

from mait_code.projections.embedding import (
    CHARACTERS_A_TOKEN,
    MOST_WINDOWS,
    OVERLAP,
    Model,
    NoModel,
    normalised,
    quiet_numpy,
    spans,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mait_code.projections.embedding import Piece

#: No window is longer, in tokens, even where the model can take more: one vector of eight pages finds none of them.
LONGEST = 512

_SEARCH = "Represent this sentence for searching relevant passages: "
#: What a model was trained to see before a question and before a text, by how its name begins. The rest want nothing.
PREFIXES = (
    ("nomic-ai/nomic-embed-text-", "search_query: ", "search_document: "),
    ("intfloat/multilingual-e5-", "query: ", "passage: "),
    ("baai/bge-small-en", _SEARCH, ""),
    ("baai/bge-base-en", _SEARCH, ""),
    ("baai/bge-large-en", _SEARCH, ""),
    ("snowflake/snowflake-arctic-embed-", _SEARCH, ""),
    ("mixedbread-ai/mxbai-embed-large-", _SEARCH, ""),
)


class Named(Model):
    """A model run by fastembed. It is told where the files are, so it looks nowhere else for them."""

    batch = 4

    def _load(self) -> None:
        quiet_numpy()
        self._query, self._document = prefixes(self.name)
        folder = self.found.path
        try:
            from fastembed import TextEmbedding
            from tokenizers import Tokenizer

            self._engine = TextEmbedding(
                self.name,
                cache_dir=folder,
                threads=1,
                providers=["CPUExecutionProvider"],
                local_files_only=True,
                specific_model_path=folder,
            )
            self._tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        except Exception as error:  # fastembed and what it calls raise a dozen unrelated classes
            message = f"the embedding model {self.name} cannot be loaded from {folder}: {error}"
            raise NoModel(message, "fetch the model again, or unset the setting embedding-model") from error
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.window = max(OVERLAP * 2, _longest_text(folder) - self._tokenizer.num_special_tokens_to_add(False))

    def _cut(self, text: str, is_query: bool, /) -> list[Piece]:
        prefix = self._query if is_query else self._document
        encoded = self._tokenizer.encode(
            text[: MOST_WINDOWS * self.window * CHARACTERS_A_TOKEN], add_special_tokens=False
        )
        taken = len(self._tokenizer.encode(prefix, add_special_tokens=False).ids) if prefix else 0
        parts = spans(len(encoded.ids), max(OVERLAP * 2, self.window - taken), OVERLAP)
        if len(parts) == 1:
            return [prefix + text]
        return [prefix + text[encoded.offsets[start][0] : encoded.offsets[end - 1][1]] for start, end in parts]

    def _embed(self, pieces: list[Piece], is_query: bool, /) -> list[bytes]:
        import numpy as np

        ask = self._engine.query_embed if is_query else self._engine.passage_embed
        try:
            rows = np.array(list(ask(pieces, batch_size=len(pieces))), dtype=np.float32)
        except Exception as error:  # see _load
            raise NoModel(f"the embedding model {self.name} failed: {error}", "fetch the model again") from error
        if rows.shape != (len(pieces), self.dimension):
            has = f"vectors of {rows.shape[-1]} numbers, not {self.dimension}"
            raise NoModel(f"what is in {self.found.path} is not {self.name}: it has {has}", "fetch the model again")
        return normalised(rows)


def prefixes(name: str) -> tuple[str, str]:
    """What goes before a question, and before a text, for a model of this name."""
    for beginning, query, document in PREFIXES:
        if name.lower().startswith(beginning):
            return query, document
    return "", ""


def _longest_text(folder: str) -> int:
    """How many tokens the model takes, as its files say, within reason."""
    try:
        with open(os.path.join(folder, "tokenizer_config.json"), "rb") as file:
            said = orjson.loads(file.read())
    except (OSError, orjson.JSONDecodeError):
        return LONGEST
    limits = [said.get(key) for key in ("model_max_length", "max_length")] if isinstance(said, dict) else []
    return min([LONGEST, *(limit for limit in limits if isinstance(limit, int) and limit > 0)])
