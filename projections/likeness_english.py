"""What each piece of an English sentence counts as, where its neighbours decide.

An article is nothing, but not in "a few". "is" is nothing before "in", but not before "called": who is called and who
calls are two. Each rule drops or folds a word only where no other reading is left.
"""

from __future__ import annotations

from mait_code.projections.likeness_pieces import (
    ARTICLE,
    BANG,
    BEING,
    CLAUSE,
    COLON,
    CONDITION,
    FOR,
    GERUND,
    HAVE,
    LITERAL,
    MARK,
    MODAL,
    NAMER,
    NAMES,
    NEGATION,
    NO_END,
    OF,
    QUESTION,
    SAYS,
    SENTENCE,
    THAT,
    TO,
    WORD,
    Piece,
)
from mait_code.projections.likeness_stems import is_third_person
from mait_code.projections.likeness_words import (
    ALSO_NAMES,
    ARTICLE_COUNTS_BEFORE,
    ASIDES,
    DURATION_AFTER,
    FAMILIAR_NAMES,
    GENERIC,
    GERUND_SUBJECTS,
    NUMBER_WORDS,
    OF_IS_EMPTY_AFTER,
    PREPOSITIONS,
    PRODUCT_PARTS,
    SETTLED,
    STATES,
    THAT_IS_EMPTY_AFTER,
    TIME_UNITS,
    TO_IS_EMPTY_AFTER,
    VERBS,
)

__all__ = ["english_tokens"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_AUXILIARIES = frozenset(("was", "were", "has", "have", "had", "must", "should", "can", "will", "may", "does", "do"))
_GIVING = frozenset(("set", "rename", "change", "switch"))
_MAY_HAVE = frozenset(
    ("shall", "could", "would", "might", "ought", "not", "never", "only", "who", "which", "that", "if")
)
_NOTHING = Piece(MARK, "", "", "", False, NO_END)


def english_tokens(found: list[Piece], *, surely: bool = True) -> list[str]:
    """The words of an English text that count, in order, each in the form that stands for all its forms.

    Not `surely`: another language is thinkable, with an "a" of its own.
    """
    return _Reading(found, surely).tokens()


class _Reading:
    __slots__ = ("_found", "_infinitive_at", "_last_pause", "_letters", "_name_at", "_out", "_starts", "_surely")

    def __init__(self, found: list[Piece], surely: bool) -> None:
        self._found = found
        self._surely = surely
        self._out: list[str] = []
        self._starts = True
        #: Single capitals are names here, so that a first "A" is one too.
        self._letters = any(
            len(piece.exact) == 1 and piece.exact.isupper() and piece.exact not in "AI" for piece in found
        )
        last = len(found) - 1
        self._last_pause = max((at for at, piece in enumerate(found) if piece.end and at < last), default=-1)
        self._name_at = -1
        self._infinitive_at = -1

    def tokens(self) -> list[str]:
        out = self._out
        for at, piece in enumerate(self._found):
            kind, exact, _lower, token, capital, end = piece
            if capital and self._is_name(at, piece):
                token, kind = exact, WORD
            if at == self._name_at:
                self._name(at, piece, kind)
            elif at == self._infinitive_at:
                out.append(piece.lower + "~")
            elif kind <= LITERAL:
                out.append(token)
                self._starts = False
                if len(out) == 1 and (end == COLON or (not at and (end or self._after(at).kind == MARK))):
                    self._label(at, piece)
            else:
                counts = _RULES[kind](self, at, piece)
                if counts:
                    out.append(counts)
                    self._starts = False
            if end >= SENTENCE:
                self._sentence_ends(at, end)
        return out

    def _is_name(self, at: int, piece: Piece) -> bool:
        """Whether a capital is one of a name: not at the start, unless an article shows that the start was before."""
        before = self._before(at)
        if self._starts:
            return before.kind == ARTICLE and piece.lower in ALSO_NAMES
        return piece.lower not in PRODUCT_PARTS.get(before.lower, ()) or bool(before.end)

    def _label(self, at: int, first: Piece) -> None:
        """One word and a pause at the very start: "Stop: use tabs", "Wrong. Use tabs"; but "currently, use tabs"."""
        if at + 1 < len(self._found) and not (
            first.end == CLAUSE and (first.lower.endswith("ly") or first.lower in ASIDES)
        ):
            self._out[-1] += "|"

    def _sentence_ends(self, at: int, end: int) -> None:
        self._starts = True
        if end == QUESTION:
            self._out.append("?")
        elif end == BANG and self._out and self._after(at).exact[:1].islower():
            self._out.append("!")  # `save!` is another method than `save`

    def _before(self, at: int) -> Piece:
        return self._found[at - 1] if at else _NOTHING

    def _after(self, at: int) -> Piece:
        return self._found[at + 1] if at + 1 < len(self._found) else _NOTHING

    def _name(self, at: int, piece: Piece, kind: int) -> None:
        """A name as it stands, but for an article before it."""
        if kind in {ARTICLE, MARK}:
            self._name_at = at + 1
            return
        self._out.append(piece.exact or piece.token)
        self._starts = False

    def article(self, at: int, piece: Piece) -> str:
        after, before = self._after(at), self._before(at)
        if after is _NOTHING or piece.end or after.lower in ARTICLE_COUNTS_BEFORE:
            return piece.lower
        if piece.exact == "A" and (is_third_person(after.lower) or self._letters):
            return "A"
        if after.kind == BEING:
            return piece.exact if piece.exact == "A" else piece.lower  # "A is done"
        if not self._surely and piece.lower != "the" and not self._is_english_a(at):
            return piece.lower
        if piece.lower == "a" and before.kind == LITERAL and before.exact[:1].isdigit():
            return "a"  # three a day
        return ""

    def _is_english_a(self, at: int) -> bool:
        """ "A Ana llama Bob" is not "Ana llama Bob"."""
        before, after = self._before(at), self._after(at)
        return (before is _NOTHING or before.lower in PREPOSITIONS) and after.exact[:1].islower()

    def have(self, at: int, piece: Piece) -> str:
        """ "have decided" is "decided", but "will have decided" is not yet."""
        if self._after(at).lower not in SETTLED or piece.end or self._starts or not self._goes_before_have(at):
            return "have"
        what = self._after(at + 1)
        open_end = what is _NOTHING or bool(self._found[at + 1].end) or what.kind in {TO, THAT, FOR}
        return "" if open_end or what.lower in PREPOSITIONS else "have"  # "has agreed rates" are rates

    def _goes_before_have(self, at: int) -> bool:
        before = self._before(at)
        return before.kind not in {TO, MODAL, NEGATION} and before.lower not in _AUXILIARIES | _MAY_HAVE

    def for_(self, at: int, piece: Piece) -> str:
        empty = self._before(at).lower in DURATION_AFTER and not self._before(at).end and self._is_duration(at + 1)
        return "" if empty and not piece.end else "for"

    def _is_duration(self, at: int) -> bool:
        number = self._before(at + 1)
        counted = number.exact.isdigit() or number.lower in NUMBER_WORDS
        return counted and not number.end and self._after(at).lower in TIME_UNITS

    def being(self, at: int, piece: Piece) -> str:
        after, before = self._after(at), self._before(at)
        if piece.lower == "am" and before.exact != "I":
            return "am"  # of the clock
        if self._starts or piece.end or not after.exact:
            return "is"
        if after.kind == LITERAL or after.lower in PREPOSITIONS:
            return ""
        if after.lower in STATES and self._ends_or_goes_on(at + 1):
            return ""
        return "" if self._progressive(at + 1) or self._built_with_a_tool(at + 1) else "is"

    def _built_with_a_tool(self, at: int) -> bool:
        """ "is built with Docker" is "built with Docker"; "built with Ann" tells who did it."""
        if self._found[at].lower != "built" or self._found[at].end or self._after(at).lower not in {"with", "by", "in"}:
            return False
        return not self._after(at).end and self._after(at + 1).lower in FAMILIAR_NAMES

    def _ends_or_goes_on(self, at: int) -> bool:
        """Whether nothing or a preposition follows: "is replaced: Bob" is not "replaced Bob"."""
        after = self._after(at)
        if after is _NOTHING or self._found[at].end:
            return after is _NOTHING
        return after.lower in PREPOSITIONS or (self._found[at].lower in DURATION_AFTER and self._is_duration(at + 1))

    def _progressive(self, at: int) -> bool:
        """Whether the word here, after a form of "be", tells what is going on: "is using" is "uses"."""
        return self._found[at].kind == GERUND and self._before(at - 1).token not in GERUND_SUBJECTS

    def gerund(self, at: int, piece: Piece) -> str:
        if at and self._before(at).kind == BEING and self._progressive(at):
            return piece.token
        if self._before(at).lower in TO_IS_EMPTY_AFTER and self._has_object(at):
            return piece.token + "~"
        return piece.lower

    def _has_object(self, at: int) -> bool:
        after = self._after(at)
        plain = after.exact and after.kind not in {MARK, TO} and after.lower not in PREPOSITIONS
        return bool(plain) and not self._found[at].end and not self._before(at).end

    def that(self, at: int, piece: Piece) -> str:
        empty = self._before(at).lower in THAT_IS_EMPTY_AFTER and not self._before(at).end and not piece.end
        return "" if empty and self._after(at).exact else "that"

    def to(self, at: int, piece: Piece) -> str:
        """An infinitive after "prefers" is as good as a gerund, if the verb has its object: "prefers to test" is open."""
        if piece.end or self._before(at).lower not in TO_IS_EMPTY_AFTER or self._after(at).lower not in VERBS:
            return "to"
        if self._before(at).end or not self._has_object(at + 1):
            return "to"
        self._infinitive_at = at + 1
        return ""

    def of(self, at: int, piece: Piece) -> str:
        return "" if self._before(at).lower in OF_IS_EMPTY_AFTER and not piece.end else "of"

    def negation(self, at: int, piece: Piece) -> str:
        """ "No, tests run" is not "no tests run": a pause after such a word counts."""
        after = self._after(at)
        pause = after.exact and (piece.end or after.kind == MARK)
        return piece.token + "|" if pause else piece.token

    def condition(self, at: int, piece: Piece) -> str:
        """ "Deploy if tests pass, tell Ann" is not "deploy; if tests pass, tell Ann": with a pause after it, one before
        such a word counts."""
        before = self._before(at)
        if at > self._last_pause or not at:
            return piece.lower
        return "|" + piece.lower if before.end or before.kind == MARK else piece.lower + "|"

    def modal(self, at: int, piece: Piece) -> str:
        """ "Will reviews" is a person, "will review" the future."""
        named = piece.capital and self._starts and is_third_person(self._after(at).lower)
        return piece.exact if named else piece.token

    def says(self, at: int, piece: Piece) -> str:
        return piece.lower + "|" if self._before(at).end == CLAUSE else piece.token

    def mark(self, at: int, piece: Piece) -> str:
        """A comma, semicolon or colon between blanks is what is talked about: "split on ;"."""
        after, before = self._after(at), self._before(at)
        if piece.exact in {",", ";", ":"}:
            spoken_of = after.exact or before.kind == BEING or before.lower in PREPOSITIONS
            return piece.exact if spoken_of else ""
        return "-" if piece.exact == "-" and (after is _NOTHING or after.exact[:1].isdigit()) else ""

    def names(self, at: int, piece: Piece) -> str:
        if not piece.end:
            self._name_at = at + 1
        return piece.token

    def namer(self, at: int, piece: Piece) -> str:
        """A noun that goes with a name: "the tests folder", "branch tests", "the branch is tests"."""
        self._name_before(at)
        following = at + 1
        linked = piece.end == COLON
        while following < len(self._found):
            next_one = self._found[following]
            if next_one.kind in {BEING, NAMES} or next_one.exact in {"=", "=="}:
                linked = True
            elif next_one.kind == TO and self._is_given(at):
                linked = True  # "set the branch to tests"
            elif next_one.kind not in {ARTICLE, NEGATION, MARK}:
                break
            following += 1
        if following == len(self._found) or (piece.end and piece.end != COLON):
            return piece.token
        named = self._found[following]
        rest = self._after(following)
        closes = named.end or rest is _NOTHING or rest.kind == BEING or rest.lower in _AUXILIARIES
        if linked or (named.token not in GENERIC and (closes or named.token not in VERBS)):
            self._name_at = following
        return piece.token

    def _is_given(self, at: int) -> bool:
        """Whether a verb before the noun says that it gets another value or name."""
        before = self._before(at)
        return (self._before(at - 1) if before.kind == ARTICLE else before).token in _GIVING

    def _name_before(self, at: int) -> None:
        before = self._before(at)
        if before.kind != WORD or before.end or before.token == before.lower or not self._out:
            return
        leads = self._before(at - 1)
        if before.token not in VERBS or leads.kind in {ARTICLE, MARK} or leads.lower in PREPOSITIONS:
            self._out[-1] = before.lower if self._out[-1] == before.token else self._out[-1]


_RULES: dict[int, Callable[[_Reading, int, Piece], str]] = {
    ARTICLE: _Reading.article,
    BEING: _Reading.being,
    THAT: _Reading.that,
    TO: _Reading.to,
    OF: _Reading.of,
    NEGATION: _Reading.negation,
    CONDITION: _Reading.condition,
    MODAL: _Reading.modal,
    GERUND: _Reading.gerund,
    SAYS: _Reading.says,
    MARK: _Reading.mark,
    HAVE: _Reading.have,
    FOR: _Reading.for_,
    NAMES: _Reading.names,
    NAMER: _Reading.namer,
}
