"""What must not reach the log: private text is left out, secrets are masked. `Writer.append` cleans every event.

Nearly all text holds neither, and finding that out has to cost next to nothing: a few searches for plain strings, no
regular expression. Only what they find loads the modules that know more.
"""

from __future__ import annotations

from mait_code.journal.errors import BadInput
from mait_code.journal.event import DEEPEST
from mait_code.journal.secret_signs import has_name, suspicious

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from mait_code.journal.kinds import Kind

    Data = dict[str, Any]
    #: Start, end, and what goes in between instead.
    Cut = tuple[int, int, str]

__all__ = ["clean", "harmless", "mask", "mask_of", "public"]

#: The beginnings of a tag.
_TAGS = ("<", "&", "\\", "%", "＜", "﹤")
#: Characters that are not seen, and would hide a secret from whoever looks for it.
_UNSEEN = frozenset(
    "\0\ufffd\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufe0f\ufeff"
)
_NOTHING = "".join(sorted(_UNSEEN))

_CALLED = {
    "body": "text",
    "what": "text",
    "acceptance_criteria": "acceptance criteria",
    "completion_summary": "summary",
}


def clean(kind: Kind, data: Data, allow_secret: bool = False, verbatim: Collection[str] = ()) -> tuple[Data, list[str]]:
    """The data of an event as it may be stored, and what was changed about it, in words that hold no secret.

    Private text is left out always, secrets are masked unless `allow_secret`; fields in `verbatim` are not looked at.
    Raises BadInput where a required text was all private, or where nothing else was to be stored.
    """
    notes: list[str] = []
    ready: Data = {}
    emptied = ""
    for field, value in data.items():
        if field in verbatim:
            ready[field] = value
            continue
        name = _CALLED.get(field, field)
        found = _Found(allow_secret)
        cleaned = found.cleaned(value)
        if found.private and cleaned == "":
            emptied = name
            if field in kind.fields and kind.fields[field].required:
                break
            notes.append(f"the {name} was all private and is not stored")
            continue
        ready[field] = cleaned
        notes += found.notes(name)
    else:
        if ready or not emptied:
            return ready, notes
    raise BadInput(
        f"the {emptied} is all private: nothing is left to store", "write what may be kept outside <private>"
    )


def public(text: str) -> str:
    """The text without what is private in it, without the blanks that then stand at its ends; `text` itself where
    nothing is."""
    if "vate" not in (lowered := text.lower()) and not _hides(text):
        return text
    seen, positions = _seen(text)
    lowered = lowered if positions is None else seen.lower()
    if "vate" not in lowered or not any(one in seen for one in _TAGS):
        return text
    from mait_code.journal import private

    spans = private.spans(seen)
    if not spans:
        return text
    return _apart(text, [(*_whole(span, positions), "") for span in spans]).strip().strip(_NOTHING).strip()


def mask(text: str) -> tuple[str, list[str]]:
    """The text with `[masked: what it looked like]` in place of every secret, and what they looked like."""
    labels: list[str] = []
    for _round in range(_ROUNDS):
        seen, positions = _seen(text)
        if not suspicious(seen):
            break
        from mait_code.journal import secret_patterns

        spans = secret_patterns.spans(seen)
        if not spans:
            break
        cuts = [(*_whole((start, end), positions), mask_of(label)) for start, end, label in spans]
        labels += [label for _start, _end, label in spans]
        text = _cut(text, cuts)
    return text, labels


#: A mask makes room: what ran into a secret may be one itself. So the text is looked at again, which ends soon.
_ROUNDS = 5


def mask_of(label: str) -> str:
    """What stands in the log in place of a secret."""
    return f"[masked: {label.lower()}]"


def harmless(text: str) -> str:
    """The text without what is private in it, and with its secrets masked: as a record, or a model, may have it."""
    return mask(public(text))[0]


class _Found:
    """Cleans one field's value, and remembers what it found there."""

    def __init__(self, allow_secret: bool) -> None:
        self.private = False
        self.labels: list[str] = []
        self._allow = allow_secret

    def cleaned(self, value: Any, name: str = "", depth: int = 0) -> Any:
        """The value with all texts in it cleaned; `name` is what an object calls it."""
        if type(value) is str:
            return self._text(value, name)
        if depth > DEEPEST:
            return value  # no line may hold it, so it is about to be refused
        if type(value) is dict:
            return {self._text(key, ""): self.cleaned(inner, key, depth + 1) for key, inner in value.items()}
        if type(value) is list or type(value) is tuple:
            return [self.cleaned(inner, name, depth + 1) for inner in value]
        return value

    def _text(self, text: str, name: str) -> str:
        kept = public(text)
        if kept is not text:
            self.private = True
        if self._allow:
            return kept
        if name and has_name(name):
            from mait_code.journal import secret_assignments

            label = secret_assignments.label_of(name, kept)
            if label:
                self.labels.append(label)
                return mask_of(label)
        masked, labels = mask(kept)
        self.labels += labels
        return masked

    def notes(self, name: str) -> list[str]:
        """What happened, one line for private text and one for secrets."""
        notes = [f"private text was left out of the {name}"] if self.private else []
        each = list(dict.fromkeys(self.labels))
        if each:
            secrets = "a secret" if len(self.labels) == 1 else f"{len(self.labels)} secrets"
            stored = mask_of(each[0]) if len(each) == 1 else "[masked: ...]"
            notes.append(
                f"the {name} held what looks like {secrets} ({', '.join(each)}): stored as {stored};"
                " --allow-secret would keep it"
            )
        return notes


# -- cutting ----------------------------------------------------------------------------------------------------------


def _hides(text: str) -> bool:
    return "\0" in text or (not text.isascii() and not _UNSEEN.isdisjoint(text))


def _seen(text: str) -> tuple[str, list[int] | None]:
    """The text without what is not seen, and where each character of it stands; None where they are the same."""
    if not _hides(text):
        return text, None
    positions = [place for place, character in enumerate(text) if character not in _UNSEEN]
    return "".join([text[place] for place in positions]), positions


def _whole(span: tuple[int, int], positions: list[int] | None) -> tuple[int, int]:
    if positions is None:
        return span
    return positions[span[0]], positions[span[1] - 1] + 1


def _cut(text: str, cuts: list[Cut]) -> str:
    pieces: list[str] = []
    last = 0
    for start, end, instead in cuts:
        pieces += (text[last:start], instead)
        last = end
    return "".join([*pieces, text[last:]])


def _apart(text: str, cuts: list[Cut]) -> str:
    """Cut, and leave one of the two blanks that then meet."""
    wider = [(start, end + (text[start - 1 : start] == " " == text[end : end + 1]), "") for start, end, _ in cuts]
    return _cut(text, wider)
