"""Kinds about the journal itself. A replica's entity is derived from its id, so any machine can name any other."""

from __future__ import annotations

from mait_code.journal.kinds.declare import NAME, TEXT, kind

LABELLED = kind("journal.replica_labelled", entity="replica", label=TEXT, of=NAME)

KINDS = (LABELLED,)
