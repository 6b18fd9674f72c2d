"""Kinds of documents that are a projection and edited by hand all the same: the user's own text in them."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, TEXT, kind

#: The entity is derived from `name`, the document's path in the data directory.
WRITTEN = kind("document.text", name=NAME, text=TEXT)

KINDS = (WRITTEN,)
