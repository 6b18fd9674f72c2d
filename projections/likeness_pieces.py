"""From a text to its pieces: words, names, literals, and what punctuation says about them.

A literal is whatever people do not inflect or capitalise at will: numbers, versions, paths, flags, identifiers, URLs. It
keeps every character. All this depends on one stretch between two spaces only, so that it is remembered per stretch;
what depends on the neighbours is `likeness`.
"""

from __future__ import annotations

import re
from collections import namedtuple

from mait_code.projections.likeness_stems import stem
from mait_code.projections.likeness_words import (
    ARTICLES,
    BE,
    BOUND_PARTS,
    CONTRACTIONS,
    ENGLISH,
    FAMILIAR_NAMES,
    FOREIGN,
    LOUD,
    NAMED,
    NAMING,
    NUMBER_WORDS,
    PAUSES_COUNT_AFTER,
    PAUSES_COUNT_BEFORE,
    SAYING,
    SHARED_WITH_ENGLISH,
    TOOLS,
    VERBS,
    WEAKLY_ENGLISH,
)

__all__ = [
    "ARTICLE",
    "BANG",
    "BEING",
    "CLAUSE",
    "COLON",
    "CONDITION",
    "FOR",
    "GERUND",
    "HAVE",
    "IS_ENGLISH",
    "IS_FOREIGN",
    "IS_WEAKLY_ENGLISH",
    "LITERAL",
    "MARK",
    "MODAL",
    "NAMER",
    "NAMES",
    "NEGATION",
    "NO_END",
    "OF",
    "QUESTION",
    "SAYS",
    "SENTENCE",
    "THAT",
    "TO",
    "WORD",
    "Piece",
    "pieces",
]

TYPE_CHECKING = False

# What a piece is. Above LITERAL its neighbours decide what it counts.
WORD, LITERAL, ARTICLE, BEING, THAT, TO, OF, NEGATION, CONDITION, MODAL, GERUND, NAMER, NAMES, SAYS, MARK, HAVE, FOR = (
    range(17)
)
# What ends after a piece.
NO_END, CLAUSE, COLON, SENTENCE, BANG, QUESTION = range(6)
# What a stretch says about the language.
IS_ENGLISH, IS_FOREIGN, IS_WEAKLY_ENGLISH, _IS_SHARED = 1, 2, 4, 8


if TYPE_CHECKING:
    from typing import NamedTuple

    class Piece(NamedTuple):
        """One word, literal or lone punctuation mark.

        `exact` is as written, `lower` in small letters, `token` what an English word counts as. `capital` means that
        the word is a name unless it starts a sentence.
        """

        kind: int
        exact: str
        lower: str
        token: str
        capital: bool
        end: int

else:
    # `typing.NamedTuple` takes longer to make its class than all else here to load.
    Piece = namedtuple("Piece", "kind exact lower token capital end")  # noqa: PYI024


_KINDS = {
    **dict.fromkeys(NAMING, NAMER),
    **dict.fromkeys(NAMED, NAMES),
    **dict.fromkeys(SAYING, SAYS),
    **dict.fromkeys(PAUSES_COUNT_AFTER, NEGATION),
    **dict.fromkeys(PAUSES_COUNT_BEFORE, CONDITION),
    **dict.fromkeys(("will", "may", "can"), MODAL),
    **dict.fromkeys(ARTICLES, ARTICLE),
    **dict.fromkeys(BE, BEING),
    "that": THAT,
    "to": TO,
    "of": OF,
    "have": HAVE,
    "has": HAVE,
    "for": FOR,
}
_TRAILING = "\"')],;:.!?`"
_LEADING = "\"'([,;`"
#: One of these makes a stretch a literal.
_LITERAL_SIGNS = frozenset("0123456789/\\@=_#$%^&|~+<>*().:{}-")
#: Before the apostrophe these are French or Italian: "l'ami", "dell'arte".
_ELIDED = frozenset(("l", "d", "n", "j", "c", "s", "t", "qu", "dell", "nell", "un"))
# Patterns that few texts need; `re` compiles each when it is first used, and keeps it.
_BETWEEN = r"[,;!?\"\[\]`]+"
_CONTROL = r"[\x00\x02-\x1f\x7f-\x9f]+"
_SCRIPTS = "([\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)"
#: Secure variants are no plurals.
_NOT_PLURAL = frozenset(("HTTPs", "FTPs", "SMTPs", "IMAPs", "LDAPs", "MQTTs", "AMQPs", "IOs"))
#: What may stand before a text that is a list item or a heading.
_OPENERS = frozenset(("*", "#", "##", "###", "-"))
#: A lone mark at the end of a text may be a question, or what the text is about: "split on ;".
_SAY_SOMETHING = (CLAUSE, COLON, QUESTION)
_BULLETS = frozenset("•·◦▪‣")
#: With one of these a compound is another thing than its words: "no-cache", "twenty-four hour shifts", "docker-compose".
_BOUND = NUMBER_WORDS | TOOLS | BOUND_PARTS
#: Stands around each word of code; texts have it in no other place.
_CODE = "\x01"
#: Marks that say something: nothing as a value, and faces.
_MEANT = ('""', "''", "[]", "()", ":)", ":(", ":-)", ":-(", ";)", ";-)")

#: What was made of a stretch; when it is full it becomes the older of two, so that frequent words are never lost.
_remembered: dict[str, tuple[tuple[Piece, ...], int]] = {}
_older: dict[str, tuple[tuple[Piece, ...], int]] = {}
_MOST_REMEMBERED = 8192
_LONGEST_REMEMBERED = 48


def pieces(text: str) -> tuple[list[Piece], int]:
    """The pieces of a prepared text in order, and what they say about its language."""
    found: list[Piece] = []
    language = 0
    remembered = _remembered
    for stretch in text.split():
        known = remembered.get(stretch) or _learn(stretch)
        found.extend(known[0])
        language |= known[1]
    if found and found[0].exact in _OPENERS and not (len(found) > 1 and found[1].exact[:1].isdigit()):
        del found[0]
    while found and found[-1].kind == MARK and found[-1].end not in _SAY_SOMETHING:
        found.pop()
    if language & _IS_SHARED and not language & IS_ENGLISH:
        language |= IS_FOREIGN
    if language & IS_FOREIGN:
        return found, IS_FOREIGN
    return found, IS_ENGLISH if language & IS_ENGLISH else language & IS_WEAKLY_ENGLISH


def _learn(stretch: str) -> tuple[tuple[Piece, ...], int]:
    global _older, _remembered
    known = _older.get(stretch)
    if known is None:
        made = tuple(_pieces(stretch))
        language = 0
        for piece in made:
            language |= _language(piece)
        known = made, language
    if len(stretch) <= _LONGEST_REMEMBERED:
        if len(_remembered) >= _MOST_REMEMBERED:
            _older, _remembered = _remembered, {}
        _remembered[stretch] = known
    return known


def _language(piece: Piece) -> int:
    if piece.kind == LITERAL:
        return 0
    word = piece.lower
    if word in SHARED_WITH_ENGLISH:
        return _IS_SHARED
    if word in FOREIGN or ("'" in word and word.partition("'")[0] in _ELIDED):
        return IS_FOREIGN
    if word in ENGLISH or piece.token in ENGLISH or (word.endswith("s") and piece.token in VERBS):
        return IS_ENGLISH
    if len(word) > 5 and word.isascii() and word.endswith(("ing", "ly")):
        return IS_ENGLISH
    return IS_WEAKLY_ENGLISH if word in WEAKLY_ENGLISH or piece.token in WEAKLY_ENGLISH else 0


def _pieces(stretch: str) -> list[Piece]:
    if not stretch.isprintable():
        parts = re.split(_CONTROL, stretch)
        if len(parts) > 1:
            return [piece for part in parts if part for piece in _pieces(part)]
    if _CODE in stretch:
        core = stretch.rstrip(_TRAILING)
        code = core.lstrip(_LEADING).replace(_CODE, "")
        return [Piece(LITERAL, code, code, code, False, _end(stretch[len(core) :], code))] if code else []
    core = stretch.rstrip(_TRAILING)
    tail = stretch[len(core) :]
    end = _end(tail, core)
    if not core.strip("-" + _LEADING + _TRAILING):
        return _only_marks(stretch)
    if max(core) >= "\u3005" and len(parts := [part for part in re.split(_SCRIPTS, core) if part]) > 1:
        found = [piece for part in parts for piece in _pieces(part)]
        return [*found[:-1], found[-1]._replace(end=end)]
    return _core(core, tail, end)


def _core(core: str, tail: str, end: int) -> list[Piece]:
    inner = core.lstrip(_LEADING)
    if inner.isalpha() and inner.lower() not in CONTRACTIONS:
        if tail.startswith("'") and inner.endswith("s"):
            return [_possessive(inner, end)]
        return [_word(inner, end)]
    if inner.replace("'", "").isalpha():
        return _with_apostrophe(inner, end)
    if _is_compound(inner):
        return _compound(inner, end)
    name, hyphen, rest = inner.partition("-")
    if hyphen and name.lower() in FAMILIAR_NAMES and _is_compound(named := name.lower() + "-" + rest):
        return _compound(named, end)
    parts = [part for part in re.split(_BETWEEN, inner) if part]
    if not inner.isascii() or not _LITERAL_SIGNS.isdisjoint(inner) or inner[0] in "!?" or parts == [inner]:
        return [_literal(_with_brackets(core, inner, tail), end)]
    found = [piece for part in parts for piece in _pieces(part)]
    return [*found[:-1], found[-1]._replace(end=end)]


def _end(tail: str, core: str) -> int:
    if not tail:
        return NO_END
    if "?" in tail or (";" in tail and "\u0370" <= core[-1:] <= "\u03ff"):  # a Greek question ends with a semicolon
        return QUESTION
    if "!" in tail:
        return BANG
    if "." in tail:
        return SENTENCE
    if ":" in tail:
        return COLON
    return CLAUSE if "," in tail or ";" in tail else NO_END


def _only_marks(stretch: str) -> list[Piece]:
    """Punctuation on its own. What is quoted, empty or a place is content: ";", [], `git add .`"""
    if stretch in {".", "..", "'", '"', "--"}:
        return [_literal(stretch, NO_END)]
    bare = stretch.rstrip(".,;:!?")
    if any(marks in bare for marks in _MEANT) or (len(bare) > 2 and bare[0] == bare[-1] and bare[0] in "\"'"):
        return [_literal(bare, _end(stretch[len(bare) :], bare))]
    return [Piece(MARK, stretch, stretch, stretch, False, _end(stretch, "") or (CLAUSE if "-" in stretch else NO_END))]


def _literal(text: str, end: int) -> Piece:
    if text in _BULLETS:
        return Piece(MARK, text, text, text, False, CLAUSE)
    return Piece(LITERAL, text, text, text, False, end)


def _with_brackets(core: str, inner: str, tail: str) -> str:
    """What closes a bracket within is part of a literal: argv[1:] is not argv[1]. Square brackets at a number stay, as
    [1, 2) and (1, 2] are different ranges, and so does the mark of feet."""
    text = inner
    for opening, closing in ("()", "[]"):
        missing = inner.count(opening) - inner.count(closing)
        if missing > 0 and closing in tail:
            parts = tail.split(closing)
            text = inner + closing.join(parts[:missing]) + closing
    if text is not inner:
        return text
    if inner[0].isdigit() and core[: len(core) - len(inner)].endswith("["):
        text = "[" + text
    return text + tail[0] if inner[-1].isdigit() and tail[:1] in {"]", "'"} else text


def _word(word: str, end: int) -> Piece:
    lower = word.lower()
    if word == lower or lower in FAMILIAR_NAMES:
        capital = False
    elif len(word) == 1:
        if word != "A":
            return Piece(WORD, word, word, word, False, end)
        capital = True
    elif word[1:] == lower[1:]:
        capital = stem(lower) not in FAMILIAR_NAMES and _KINDS.get(lower, WORD) in {WORD, NAMER, NAMES, SAYS, MODAL}
    elif lower in LOUD:
        capital = False
    elif len(word) > 2 and word[-1] == "s" and word[:-1].isupper() and word.isascii() and word not in _NOT_PLURAL:
        return Piece(WORD, word, word, word[:-1], False, end)
    else:
        return Piece(LITERAL, word, word, word, False, end)
    kind = _KINDS.get(lower, WORD)
    token = stem(lower) if lower.isascii() and kind != SAYS else lower
    if kind == WORD and token != lower and lower.endswith("ing"):
        kind = GERUND
    return Piece(kind, word, lower, token, capital, end)


def _with_apostrophe(text: str, end: int) -> list[Piece]:
    """Contractions become the words they stand for, in English; a possessive stays one word."""
    lower = text.lower()
    words = CONTRACTIONS.get(lower)
    if words is None:
        capital = text != lower
        if capital and lower.removesuffix("'s") in FAMILIAR_NAMES:
            capital, text = False, lower
        if capital and text[1:] != lower[1:] and lower not in LOUD:
            return [_literal(text, end)]
        return [Piece(WORD, text, lower, lower, capital and lower not in LOUD, end)]
    first, second = words
    return [_expanded(first, text, lower, NO_END), _expanded(second, "", "", end)]


def _possessive(word: str, end: int) -> Piece:
    """ "the users' settings" are "the user's settings"."""
    lower = word.lower()
    return Piece(WORD, word + "'", lower + "'", stem(lower) + "'s", word != lower, end)


def _expanded(word: str, exact: str, lower: str, end: int) -> Piece:
    """One half of a contraction; `exact` and `lower` hold the whole for texts that are not English."""
    return Piece(_KINDS.get(word, WORD), exact, lower, word, False, end)


def _is_compound(text: str) -> bool:
    parts = text.split("-")
    letters = all(part.isalpha() and part.isascii() for part in parts)
    return letters and len(parts) > 1 and len(parts[0]) > 1 and text[1:].islower()


def _compound(text: str, end: int) -> list[Piece]:
    """Parts of a hyphenated word as they are, so that "dark-mode" is "dark mode" and "fix-tests" not "fix-test"."""
    parts = text.split("-")
    if any(part.lower() in _BOUND for part in parts):
        return [Piece(WORD, text, text.lower(), text.lower(), text[0].isupper(), end)]
    last = len(parts) - 1
    return [
        Piece(WORD, part, part.lower(), part.lower(), part[0].isupper(), end if i == last else NO_END)
        for i, part in enumerate(parts)
    ]
