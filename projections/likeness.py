"""Are two texts the same memory, said again?

Two texts are the same when their keys are equal, so that finding a duplicate is one look into an index. A key is the
words of a text in their order: without the few that carry no meaning where they stand ("the"), without the endings that
carry none ("uses", "use"), without punctuation, and with the capital of a sentence's first word made small. All else
stays: negations, numbers, prepositions, tenses, names, and every character of a path, a flag or an identifier.

Two memories taken for one lose one of them; two that are kept apart cost a line. So whatever is not known to be without
meaning counts, and a text of another language, or of one not known, keeps its words as they are but for known names.
"""

from __future__ import annotations

import re

from mait_code.journal.sha import sha256
from mait_code.projections.likeness_english import english_tokens
from mait_code.projections.likeness_pieces import IS_ENGLISH, IS_WEAKLY_ENGLISH, MARK, QUESTION, Piece, pieces
from mait_code.projections.likeness_words import (
    DENIALS,
    FAMILIAR_NAMES,
    FUNCTION_WORDS,
    NUMBER_WORDS,
    OPPOSITES,
    POLARITY,
)

__all__ = [
    "CLOSE", "KEY_VERSION", "affirmed", "close_candidates_terms", "in_common", "key", "similarity", "turned", "words",
]  # fmt: skip

#: Part of every key: one more whenever a change here gives any text another key.
KEY_VERSION = 1
#: From this similarity on two texts that are not the same may contradict each other, where no setting says otherwise.
CLOSE = 0.85

_LONGEST_KEY = 240
_LONGEST_BY_CHARACTER = 2000
_MOST_TERMS = 12
_MOST_WORDS = 4000
_SLICE = 1024

# Patterns that few texts need; `re` compiles each when it is first used, and keeps it.
_RANGE_DASH = r"(?<=\d)[\u2012-\u2015](?=\d)"
_HALF_WIDTH = "[\uff61-\uff9f]{1,512}"
_QUOTED = r"(?<!\w)'((?:[^']|(?<=\w)'(?=\w))*)'(?!\w)"
_UNTICKED = r"\[\s+\]"
_SHOUTED = r"[A-Z]+[,.;:!?]?(?:\s+[A-Z]+[,.;:!?]?){2,}\Z"
_AROUND = " \t\r\n-\"'(),.;:!?"
#: Alone between blanks they are what a text is about.
_SEPARATORS = frozenset((",", ";", ":"))
_CODE = "\x01"
#: What turns a sentence into another; the verbs that come with a denial do not by themselves.
_TELLING = (POLARITY - {"do", "did", "can", "will", "longer"}) | DENIALS | NUMBER_WORDS

_SAME_MARKS: dict[int, str | None] = {
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(
        (0x00AD, 0x200B, 0x2060, 0xFEFF, 0xFE0E, 0xFE0F, 0x00BF, 0x00A1, 0x00AB, 0x00BB, 0x2039, 0x203A), None
    ),
    **dict.fromkeys((0x2018, 0x2019, 0x02BC), "'"),
    **dict.fromkeys(map(ord, "“”„‟‚「」『』【】《》〈〉〔〕"), '"'),
    **dict.fromkeys((0x2010, 0x2011, 0x2212), "-"),
    **dict.fromkeys((0x2012, 0x2013, 0x2014, 0x2015), " - "),
    **dict.fromkeys(map(ord, "、，،"), ", "),
    **dict.fromkeys(map(ord, "。।"), ". "),
    **dict.fromkeys(map(ord, "？؟"), "? "),
    **dict.fromkeys(map(ord, "；؛"), "; "),
    ord("！"): "! ",
    ord("…"): "... ",
    ord("（"): " (",
    ord("）"): ") ",
}


def key(text: str) -> str:
    """The canonical form of a text: two texts are the same memory exactly when their keys are equal.

    Short keys can be read, long ones are a hash. It never fails, whatever the text holds, takes time in proportion to
    its length, and holds nothing that SQLite could not store.
    """
    body = " ".join(_tokens(text)) or "! " + " ".join(text.split())
    if len(body) <= _LONGEST_KEY:
        try:
            body.encode()
        except UnicodeEncodeError:
            pass
        else:
            if "\0" not in body:
                return f"{KEY_VERSION} {body}"
    return f"{KEY_VERSION} # {len(body)} {sha256(body.encode('utf-8', 'surrogatepass')).hexdigest()}"


def similarity(first: str, second: str, least: float = CLOSE) -> float:
    """How much two texts have in common, 0 to 1, to be held against `least`. It is symmetric.

    The largest of three shares (twice what is common, by the sum of both): characters in common order, the same where
    denials are left out and opposites are one word, and words in any order: a denial, an opposite and a swap of roles are
    what makes a close text a conflict. So 1.0 does not mean that two texts are the same: only `key` tells. Texts whose
    lengths alone keep them below `least` get the bound that these set, without being compared.
    """
    return in_common(words(first), words(second), least)


def words(text: str) -> list[str]:
    """The words of a text as `similarity` compares them: those of its key, in small letters."""
    return [token.lower() for token in _tokens(text)]


def in_common(one: list[str], two: list[str], least: float = CLOSE) -> float:
    """The similarity of two texts whose `words` are known."""
    if one == two:
        return 1.0
    bare_one, bare_two = affirmed(one), affirmed(two)
    highest = max(_common_words(bare_one, bare_two), _in_order(bare_one, bare_two, least))
    if bare_one == one and bare_two == two:
        return highest
    return max(highest, _in_order(one, two, least))


def turned(one: list[str], two: list[str]) -> bool:
    """Whether two texts, given by their `words`, differ in a number or a denial, or only in the order of their words, or one
    says the opposite of a word of the other: a vector hardly shows any of it."""
    from collections import Counter

    first, second = Counter(one), Counter(two)
    if first == second:
        return one != two
    left, right = first - second, second - first
    if any(token in _TELLING or any(map(str.isdigit, token)) for token in (*left, *right)):
        return True
    sides = ({OPPOSITES[token] for token in side if token in OPPOSITES} for side in (left, right))
    return not next(sides).isdisjoint(next(sides))


def close_candidates_terms(text: str) -> list[str]:
    """Up to twelve words to look up, any of them, for memories that may be close: the longest first, in small letters and
    not stemmed. A run of a script without blanks is given in threes of characters. None holds a blank or a control
    character; a double quotation mark can stand in one, so that a query has to double it.
    """
    found: dict[str, None] = {}
    for piece in pieces(_prepared(text))[0]:
        word = piece.lower.lower().strip("'")
        if piece.kind == MARK or word in FUNCTION_WORDS or not any(map(str.isalnum, word)):
            continue
        try:
            word.encode()
        except UnicodeEncodeError:
            continue
        for term in _terms(word):
            found[term] = None
    longest = sorted(found, key=lambda term: (term.isdigit(), -len(term), term))
    return longest[:_MOST_TERMS]


def _terms(word: str) -> list[str]:
    if word.isascii() or max(word) < "\u0e00" or len(word) < 4 or "\uac00" <= max(word) <= "\ud7a3":
        return [word[:64]]
    return [word[at : at + 3] for at in range(min(len(word) - 2, 24))]


def _tokens(text: str) -> list[str]:
    found, language = pieces(_prepared(text))
    if language in {IS_ENGLISH, IS_WEAKLY_ENGLISH}:
        return english_tokens(found, surely=language == IS_ENGLISH)
    return _plain(found)


def _prepared(text: str) -> str:
    """One spelling for marks that have several. Compatibility forms stay: 10² is not 102."""
    if _CODE in text:
        text = text.replace(_CODE, " ")
    if not text.isascii():
        text = _one_spelling(text)
    if "'" in text:
        text = re.sub(_QUOTED, r'"\1"', text)
    if "`" in text:
        text = _with_code_marked(text)
    if "[" in text:
        text = re.sub(_UNTICKED, "[_]", text)
    if "**" in text:
        text = _without_bold(text)
    if text.isupper() and re.match(_SHOUTED, text.strip(_AROUND)):
        text = text.lower()
    return text


def _one_spelling(text: str) -> str:
    from unicodedata import normalize

    largest = max(text)  # which says cheaply that a pattern need not be compiled
    if largest >= "\uff61":
        text = re.sub(_HALF_WIDTH, lambda found: normalize("NFKC", found[0]), text)
    # In slices: normalising a long run of combining marks takes the square of its length.
    text = "".join(normalize("NFC", text[at : at + _SLICE]) for at in range(0, len(text), _SLICE))
    if "¿" in text and "?" not in text:
        text = text.replace("¿", "? ")
    return (re.sub(_RANGE_DASH, "-", text) if largest >= "\u2012" else text).translate(_SAME_MARKS)


def _with_code_marked(text: str) -> str:
    """What stands between backticks is literal, each word of it."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return text
    for at in range(1, len(parts), 2):
        parts[at] = " ".join(_CODE + word + _CODE for word in parts[at].split())
    return "".join(parts)


def _without_bold(text: str) -> str:
    parts = text.split("**")
    inner = parts[1::2]
    if len(parts) % 2 == 0 or not all(
        part[:1].isalnum() and (part[-1].isalnum() or part[-1] in ".,:;!?") for part in inner
    ):
        return text
    return "".join(parts)


def _plain(found: list[Piece]) -> list[str]:
    """Every word as it stands, for texts that are not clearly English; with the pauses that make "no, it works" another
    thing than "no it works"."""
    out: list[str] = []
    last = len(found) - 1
    for at, piece in enumerate(found):
        if piece.exact and (piece.kind != MARK or piece.exact in _SEPARATORS or _is_minus(found, at)):
            token = piece.exact if out and piece.lower not in FAMILIAR_NAMES else piece.lower
            pause = at < last and (piece.end or found[at + 1].kind == MARK)
            out.append(token + "|" if pause and (not out or piece.lower in DENIALS) else token)
        if piece.end == QUESTION:
            out.append("?")
    return out


def _is_minus(found: list[Piece], at: int) -> bool:
    return found[at].exact == "-" and at + 1 < len(found) and found[at + 1].exact[:1].isdigit()


def affirmed(tokens: list[str]) -> list[str]:
    """The `words` of a text without denials, and one word for either of two opposites."""
    return [OPPOSITES.get(token, token) for token in tokens if token not in POLARITY] or tokens


def _common_words(one: list[str], two: list[str]) -> float:
    """Twice the words in common, whatever their order, by all words."""
    left: dict[str, int] = {}
    for token in one:
        left[token] = left.get(token, 0) + 1
    common = 0
    for token in two:
        if left.get(token, 0):
            left[token] -= 1
            common += 1
    return 2 * common / ((len(one) + len(two)) or 1)


def _in_order(one: list[str], two: list[str], least: float) -> float:
    """Twice the longest common subsequence by both lengths: of characters, or of words where the texts are long.

    Bit-parallel (Hyyrö 2004): a row of the table is one whole number, so that a row costs a few additions.
    """
    first: list[str] | str = " ".join(one)
    second: list[str] | str = " ".join(two)
    if len(first) + len(second) > _LONGEST_BY_CHARACTER:
        first, second = one[:_MOST_WORDS], two[:_MOST_WORDS]
    total = len(first) + len(second)
    bound = 2 * min(len(first), len(second)) / (total or 1)
    if bound < least:
        return bound
    where: dict[str, int] = {}
    for at, item in enumerate(first):
        where[item] = where.get(item, 0) | 1 << at
    full = (1 << len(first)) - 1
    row = full
    for item in second:
        matched = row & where.get(item, 0)
        row = ((row + matched) | (row - matched)) & full
    return 2 * (len(first) - row.bit_count()) / (total or 1)
