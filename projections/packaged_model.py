"""The packaged model: all-MiniLM-L6-v2 with 8-bit weights, on onnxruntime and tokenizers themselves.

Through fastembed the same would take three times as long to start.
"""

from __future__ import annotations

import os

from mait_code.projections.embedding import (
    CHARACTERS_A_TOKEN,
    MOST_WINDOWS,
    OVERLAP,
    QUESTION_WINDOWS,
    Model,
    NoModel,
    normalised,
    quiet_numpy,
    spans,
)
from mait_code.projections.lean_graph import lean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.projections.embedding import Piece

TOKENIZER = os.path.join(os.path.dirname(__file__), "minilm", "tokenizer.json")


class Packaged(Model):
    """Sentences are the mean of their words' vectors. Four at a time, of like length, are quickest on one processor."""

    batch = 4

    def _load(self) -> None:
        quiet_numpy()
        try:
            import onnxruntime  # type: ignore[import-untyped,unused-ignore]
            from tokenizers import Tokenizer
        except ImportError as error:
            raise NoModel(f"the embedding model cannot be loaded: {error}", "install mait-code again") from error
        try:
            # Fixed lengths are for training and exports; what a file says of them is not wanted.
            self._tokenizer = Tokenizer.from_file(TOKENIZER)
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self._session = self._lean_session(onnxruntime) if self.one_shot else self._session_of(onnxruntime)
        except Exception as error:  # both libraries raise classes of their own, and plain Exception
            message = f"the embedding model {self.found.path} cannot be loaded: {error}"
            raise NoModel(message, "install mait-code again") from error
        self._first, self._last = (self._tokenizer.token_to_id(one) for one in ("[CLS]", "[SEP]"))

    def _session_of(self, onnxruntime: Any) -> Any:
        """The model as it is quickest for many texts; working that out takes a fifth of a second."""
        return onnxruntime.InferenceSession(self.found.path, self._options(onnxruntime), ["CPUExecutionProvider"])

    def _lean_session(self, onnxruntime: Any) -> Any:
        """The model as it is there quickest."""
        from mmap import ACCESS_READ, mmap

        # onnxruntime refuses weights that a link leads to outside of the directory it is told.
        path = os.path.realpath(self.found.path)
        with open(path, "rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as mapped, memoryview(mapped) as view:
            graph = lean(view, os.path.basename(path))
        options = self._options(onnxruntime)
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", os.path.dirname(path))
        return onnxruntime.InferenceSession(graph, options, ["CPUExecutionProvider"])

    @staticmethod
    def _options(onnxruntime: Any) -> Any:
        options = onnxruntime.SessionOptions()
        # Several texts at once keep the processors busier than several threads on one text do.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3  # what goes wrong is raised; its warnings would land between a command's lines
        return options

    def _cut(self, text: str, is_query: bool, /) -> list[Piece]:
        most = QUESTION_WINDOWS if is_query else MOST_WINDOWS
        text = text[: most * self.window * CHARACTERS_A_TOKEN]
        return self._windows(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _cut_all(self, texts: list[str]) -> list[list[Piece]]:
        longest = MOST_WINDOWS * self.window * CHARACTERS_A_TOKEN
        encoded = self._tokenizer.encode_batch_fast([text[:longest] for text in texts], add_special_tokens=False)
        return [self._windows(one.ids) for one in encoded]

    def _windows(self, tokens: list[int]) -> list[Piece]:
        # Of the window two are the marks that begin and end every text.
        parts = spans(len(tokens), self.window - 2, OVERLAP)
        return [[self._first, *tokens[start:end], self._last] for start, end in parts]

    def _embed(self, pieces: list[Piece], _is_query: bool, /) -> list[bytes]:
        import numpy as np

        tokens = np.zeros((len(pieces), max(len(piece) for piece in pieces)), dtype=np.int64)
        mask = np.zeros_like(tokens)
        for row, piece in enumerate(pieces):
            tokens[row, : len(piece)] = piece
            mask[row, : len(piece)] = 1
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        words = self._session.run(["last_hidden_state"], given)[0]
        return normalised(np.einsum("ijk,ij->ik", words, mask.astype(np.float32)))
