"""Names, types and relations of the graph in one spelling, and the names that are not worth a place in it."""

from __future__ import annotations

import re

from mait_code.journal.ids import derived_entity
from mait_code.projections.graph import RELATIONS, TYPES, UNKNOWN

__all__ = ["entity_of", "ephemeral", "lasting", "one_spelling", "relation_named", "type_named"]

_LONGEST = 200
_RELATED = "related_to"

#: What types and relations were called elsewhere, or are called by models.
_TYPES = {
    **dict.fromkeys(
        ("component", "module", "feature", "pattern", "process", "artifact", "reference", "resource", "idea", "topic"),
        "concept",
    ),
    **dict.fromkeys(("system", "infrastructure", "database", "api"), "service"),
    **dict.fromkeys(("library", "framework", "language", "package", "program", "command"), "tool"),
    **dict.fromkeys(("repository", "repo", "product"), "project"),
    **dict.fromkeys(("organization", "organisation", "company", "team"), "org"),
    **dict.fromkeys(("user", "people", "human", "developer"), "person"),
}
_RELATIONS = {
    "runs_on": "depends_on",
    "requires": "depends_on",
    "needs": "depends_on",
    "implements": "contributes_to",
    "works_on": "contributes_to",
    "maintains": "manages",
    "leads": "manages",
    "integrates_with": "uses",
    "calls": "uses",
    "has": "owns",
}


def one_spelling(name: str) -> str:
    """A name in NFC, blanks as single spaces, without the quotes or backticks around it."""
    from unicodedata import normalize

    return " ".join(normalize("NFC", name).split()).strip("`\"'“”").strip()


def entity_of(name: str) -> str:
    """The thing of that name, in whatever case: the same on every machine."""
    from unicodedata import normalize

    return derived_entity("entity", normalize("NFC", one_spelling(name).casefold()))


def lasting(name: str) -> str:
    """The name in its one spelling; empty where it is none, is too long, or is `ephemeral`."""
    called = one_spelling(name)
    storable = called.isprintable() and len(called) <= _LONGEST
    return called if called and storable and not ephemeral(called) else ""


def type_named(text: str | None) -> str:
    """A type of the graph: itself, what it was called elsewhere, or unknown."""
    word = _word(text)
    return word if word in TYPES else _TYPES.get(word, UNKNOWN)


def relation_named(text: str | None) -> str:
    """A relation of the graph: itself, what it was called elsewhere, or related_to."""
    word = _word(text)
    return word if word in RELATIONS else _RELATIONS.get(word, _RELATED)


def _word(text: str | None) -> str:
    return "_".join((text or "").lower().replace("-", " ").replace("_", " ").split())


# -- names that pass --------------------------------------------------------------------------------------------------

_VERSION = re.compile(
    r"(?:(?:version|release|v|ver\.?|rel\.?) ?)?\d+(?:\.\d+|\.[x*])+(?:[-+.]?[a-z]+[-.]?\d*)*|(?:version |release |v(?!8$))\d+",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[#\d][\d.,:/ -]*", re.ASCII)
_HASH = re.compile(r"(?=.*\d)(?=.*[a-f])[0-9a-f]{7,64}|[0-9a-f]{40}", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_COMMIT = re.compile(r"(?:commit|sha|rev(?:ision)?|hash|digest) [0-9a-f]{6,64}", re.IGNORECASE)
_TICKET = re.compile(
    r"(?:pr|mr|pull request|merge request|issue|ticket|card|bug|gh|task|story|epic|case)[ #-]*(?:no\.? ?)?#?\d+[a-z]{0,2}"
    r"|[\w./-]*#\d+",
    re.IGNORECASE,
)
#: PROJ-123, as trackers number them; but not what standards and models are called.
_KEY = re.compile(
    r"(?!(?:UTF|SHA|RFC|ISO|IEC|IEEE|GPT|PEP|ES|MD|AES|RSA|HTTP|TLS|CP|EC|BS|DIN|EN|USB|X)-)[A-Z][A-Z0-9]{1,9}-\d+"
)
_BRANCH = re.compile(
    r"(?:origin/|refs/heads/|refs/tags/|refs/remotes/).+"
    r"|(?:feature|feat|fix|bugfix|hotfix|chore|refactor|wip|dependabot|renovate|releases?|revert|spike|experiment)/.+"
    r"|(?:branch|the branch) .+|.+ branch|main|master|trunk|HEAD",
    re.IGNORECASE,
)  # fmt: skip
_PASSING = (
    (_UUID, "an identifier"),
    (_VERSION, "a version"),
    (_NUMBER, "a number"),
    (_HASH, "a hash"),
    (_COMMIT, "a commit"),
    (_TICKET, "a ticket"),
    (_KEY, "a ticket"),
    (_BRANCH, "a branch"),
)


def ephemeral(name: str) -> str:
    """What sort of passing thing a name stands for ("a version", "a branch" ...), or an empty string."""
    called = one_spelling(name)
    return next((what for pattern, what in _PASSING if pattern.fullmatch(called)), "")
