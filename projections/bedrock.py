"""Embedding models on Amazon Bedrock: Titan, and Cohere's. The texts leave this machine, which is what the setting says.

Where they go and who asks is AWS's own configuration (profiles, `AWS_*` variables). One request, no second try: a search
would rather have its keywords alone than wait.
"""

from __future__ import annotations

from math import sqrt
from struct import pack

import orjson

from mait_code.projections.embedding import MOST_WINDOWS, Model, NoModel, spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mait_code.projections.embedding import Piece

CONNECT_SECONDS = 3
ANSWER_SECONDS = 20
#: Requests at a time when many texts are embedded.
AT_ONCE = 4


class Bedrock(Model):
    """A model that is asked over the network. Its window is told in characters, as tokens are counted over there."""

    def _load(self) -> None:
        self._cohere = "cohere." in self.name
        self.window, self._overlap = (1500, 150) if self._cohere else (6000, 400)
        self.workers = 1 if self.one_shot else AT_ONCE
        try:
            import boto3  # type: ignore[import-not-found,import-untyped,unused-ignore]
            from botocore.config import Config  # type: ignore[import-not-found,import-untyped,unused-ignore]
            from botocore.exceptions import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
                BotoCoreError,
                ClientError,
            )
        except ImportError as error:
            raise NoModel(f"Bedrock needs the package boto3: {error}", "install mait-code[bedrock]") from error
        self._errors = (BotoCoreError, ClientError)
        limits = Config(connect_timeout=CONNECT_SECONDS, read_timeout=ANSWER_SECONDS, retries={"total_max_attempts": 1})
        try:
            self._client: Any = boto3.client("bedrock-runtime", region_name=self.found.path or None, config=limits)
        except self._errors as error:
            raise _unusable(error) from error

    def _cut(self, text: str, _is_query: bool, /) -> list[Piece]:
        longest = MOST_WINDOWS * self.window
        parts = spans(len(text[:longest]), self.window, self._overlap)
        return [text[start:end] for start, end in parts]

    def _embed(self, pieces: list[Piece], is_query: bool, /) -> list[bytes]:
        return [self._one(piece.strip() or " ", is_query) for piece in pieces]  # it refuses an empty text

    def _one(self, text: str, is_query: bool) -> bytes:
        if self._cohere:
            purpose = "search_query" if is_query else "search_document"
            asked: dict[str, object] = {"texts": [text], "input_type": purpose, "truncate": "END"}
        elif "v2" in self.name:
            asked = {"inputText": text, "dimensions": self.dimension, "normalize": True}
        else:
            asked = {"inputText": text}
        try:
            answer = self._client.invoke_model(
                modelId=self.name, body=orjson.dumps(asked), contentType="application/json", accept="application/json"
            )
            said = orjson.loads(answer["body"].read())
        except (*self._errors, orjson.JSONDecodeError) as error:
            raise _unusable(error) from error
        numbers = said["embeddings"][0] if self._cohere and said.get("embeddings") else said.get("embedding")
        if not isinstance(numbers, list) or len(numbers) != self.dimension:
            raise NoModel(
                f"{self.name} on Bedrock gave no vector of {self.dimension} numbers", "check bedrock-model-id"
            )
        length = sqrt(sum(number * number for number in numbers)) or 1.0
        return pack(f"<{len(numbers)}f", *(number / length for number in numbers))


def _unusable(error: Exception) -> NoModel:
    return NoModel(f"Bedrock cannot be used: {error}", "check AWS's credentials, region and model access")
