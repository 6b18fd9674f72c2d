"""Secrets that are known by the name they are given to: `password=`, `"apiKey":`, `--token`."""

from __future__ import annotations

import re

from mait_code.journal.secret_lazy import Lazy
from mait_code.journal.secret_signs import NAMES, fold, places
from mait_code.journal.secret_values import CLOSERS, LOOSE, SAID, SURE, is_code, looks_secret, stands_for, strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]
    Range = tuple[int, int]
    #: Where a name stands, and which sort of name it is.
    Name = tuple[int, int, str]

__all__ = ["found", "label_of"]

_NAME = Lazy(
    r"(?P<password>pass(?:w(?:or[dt]|d)|phrase|code|wrd)?s?|(?<![a-z])pwd?|(?<=[a-z_])(?-i:P)wd|pwd|kennwort|senha"
    r"|contrase(?:ñ|n)a|mot de passe|парол[ья]|密[码碼]|パスワード|credentials?|(?<![a-z])creds?)"
    r"|(?P<secret>secret(?:[ _-]?(?:token|value|id|access))?)|(?P<token>token)"
    r"|(?P<auth>(?<=_)auth|(?<=[\"'])auth(?=\\?[\"'])|auth[ _-]?code|bearer)",
    re.IGNORECASE,
)
#: By the beginning of the stem, what stands before it in names that mean something else: bypass, next_page_token.
_OTHER = {
    "pas": Lazy(r"(?:by|com|tres|sur|under|over|im|en|tour|bi)\Z", re.IGNORECASE),
    "pwd": Lazy(r"[`(]\Z"),
    "tok": Lazy(
        r"(?:page|next|prev(?:ious)?|continuation|cancel(?:l?ation)?|sync|pad|eos|bos|unk|mask|sep|stop|start|cls|max"
        r"|min|special|first|last|total|per|input|output|design)[ _-]?\Z",
        re.IGNORECASE,
    ),
}
#: What may still belong to a name: a number, a stage, a word about it in brackets or with `for`; then what closes it.
_REST_OF_NAME = (
    r"(?:[ _-]?(?:\d{1,3}|base|data|string|value|text|plain|raw|prod|production|dev|staging|test|live"
    r"|current|old|new))?"
    r"(?:\s?\([^()\r\n]{0,40}\)|\s(?:for|of|on|at|für|von|de|pour)\s[^\r\n:=]{1,40}?)?"
    r"(?:\\{0,3}[\"'`\]*_’”]){0,4}+"
)
_SEPARATOR = Lazy(
    _REST_OF_NAME
    + r"""(?:
      (?P<typed>(?:\s{0,4}:\s{0,2}[A-Za-z][\w\[\]|.?]{0,30}(?:\s\|\s[A-Za-z]{1,20})?\s{0,2}=\s{0,2}
          |(?<=\w)\s[a-z]\w{0,20}\s=\s)(?=[fbr]?\\{0,3}["'`]))
    | (?P<pair>,?\s{0,20}["']?value["']?\s{0,4}[:=]\s{0,4})
    | (?P<tight>(?:=|:=|%3d|\\u003d|&\#61;)(?=\S))
    | (?P<equals>\s{0,8}:?={1,3}[^\S\n]{1,8}(?=\S))
    | (?P<loose>\s{0,8}(?:=>|->|<-|={1,3}|:|：|%3a|>|\||\t)[*_]{0,2}[^\S\n]{0,8}(?:\n{1,2}[^\S\n]{0,8})?)
    | (?P<quote>\s{0,2}[,(]?\s{0,4}(?=@?\\{0,3}["'`]|&quot;))
    | (?P<said>\s(?:is|are|was|to|be|ist|lautet|est|es)(?:\snow)?\s?:?\s{1,4})
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_BLANK = Lazy(r"(?P<blank>[\"'`]?[ \t]{1,2})")
_VALUE = Lazy(
    r"(?:[fFrRbBuU@$]{0,2}(?P<q>\\{0,3}(?:\"{3}|'{3}|[\"'`“„«])|&(?:quot|apos|#3[49]);))"
    r"(?!(?P=q))(?P<quoted>(?:\\[^\r\n]|[^\r\n\\]){1,400}?)(?:(?P=q)|[”“»])"
    r"|(?:[fFrRbBuU@]{1,2}(?=\\{0,3}[\"'`]))?\\{0,3}[\"'`“„«*]{0,2}(?P<bare>[^\s\"'`<>“”„«»]{1,200})"
)
#: Where one value ends and the next pair begins; where text inside a JSON string does.
_NEXT_PAIR = Lazy(
    r"[,&](?=[\w .-]{1,40}[=:])|;(?=[\w .-]{1,40}=)|[;|](?=\s|$)|\\(?=[nrt\"'])|%26"
    r"|&(?:amp|quot|apos|lt|gt|#\w{2,4});"
)
#: No value is looked at beyond this; where one is longer, the rest of it goes with it.
_LONGEST = 200
_GOES_ON = Lazy(r"[^\s\"'`<>]*")

#: What may stand before a variable on its line in a file of settings or a script.
_LINE = Lazy(r"[ \t>]{0,20}(?:(?:export|set|-e|-|ENV|ARG)[ \t]{1,8})?[\w.]{0,60}\Z")
_SYMBOLS = frozenset("!#$%&*+?^~")

_LABELS = {"password": "password", "secret": "secret", "token": "token", "key": "key", "auth": "credentials"}


def _names(text: str) -> Iterator[Name]:
    """The names in a text that something secret may be given to."""
    lowered = fold(text)
    for stem in NAMES:
        for place in places(lowered, stem):
            if stem == "key":
                yield place, place + 3, stem
            elif found := _NAME().match(text, place):
                yield place, found.end(), found.lastgroup or stem


def _assigned(text: str) -> Iterator[Span]:
    """Values of names such as `password`, `API_KEY`, `"clientSecret"`."""
    last = 0
    for name in sorted(_names(text)):
        span = _value_of(text, name) if name[0] >= last else None
        if span is not None:
            start, last = span
            yield start, last, _LABELS[name[2]]


def _value_of(text: str, name: Name) -> Range | None:
    """Where the secret stands that follows a name; None where none does."""
    begins, ends, sort = name
    separator = _SEPARATOR().match(text, ends) or _BLANK().match(text, ends)
    value = _VALUE().match(text, separator.end()) if separator else None
    if separator is None or value is None or _is_another(text, begins, separator[0]):
        return None
    how = separator.lastgroup or ""
    quoted = value["quoted"] is not None
    called = text[begins:ends]
    environment = how in ("tight", "pair") and called.isupper() and not text[begins - 1 : begins].islower()
    if quoted:
        start, end = value.span("quoted")
    else:
        line = environment and _LINE().match(text, text.rfind("\n", max(0, begins - 100), begins) + 1, begins)
        start, end = _bare_end(text, *value.span("bare"), whole=bool(line))
    if (not quoted or how == "quote") and _is_told(value["bare"] or "", text[start:end]):
        return None
    written = _written(how, quoted)
    if how == "blank" and (not strong(text[start:end], 8 if sort == "password" else 16) or sort == "auth"):
        return None
    if called.lower() in ("pass", "pw") and (how == "quote" or (written != SURE and not _is_mixed(text[start:end]))):
        return None
    if not looks_secret(text[start:end], written, sort == "password", environment):
        return None
    if value.end() - start >= _LONGEST and (rest := _GOES_ON().match(text, value.end())):
        end = rest.end()
    return start, end


def _is_told(*values: str) -> bool:
    """Whether a value, with or without what closes it, says where the secret comes from."""
    each = {one for value in values for one in (value, value.rstrip(",;"))}
    return any(stands_for(one) or is_code(one) for one in each if one)


def _written(how: str, quoted: bool) -> int:
    """How sure it is that something was written as a value, by the separator before it."""
    if how in ("tight", "equals", "typed", "pair") or (quoted and how != "quote"):
        return SURE
    return SAID if how in ("said", "blank") else LOOSE


def _is_another(text: str, begins: int, separator: str) -> bool:
    """Whether the name only looks like one of ours: next_page_token, bypass, a part of arn:aws:...:secret:name."""
    if separator == ":" and text[begins - 1 : begins] in (":", "/"):
        return True
    stem = text[begins : begins + 3].lower()
    other = _OTHER.get(stem)
    return other is not None and other().search(text, max(0, begins - 14), begins) is not None


def _is_mixed(value: str) -> bool:
    """Tests pass and remarks are made in passing: `pass: value` needs more than a word."""
    return strong(value, 6) or not _SYMBOLS.isdisjoint(value)


def _bare_end(text: str, start: int, end: int, whole: bool) -> tuple[int, int]:
    """Where a value without quotes ends: before the next pair unless it is the `whole` rest of the line, and without
    the punctuation of the sentence."""
    following = None if whole else _NEXT_PAIR().search(text, start, end)
    if following and following.start() > start:
        end = following.start()
    while end > start and text[end - 1] in CLOSERS:
        end -= 1
    return start, end


def label_of(name: str, value: str) -> str:
    """What kind of secret an object's field is, by its name; empty where it is none."""
    for begins, ends, sort in _names(name):
        rest = re.fullmatch(_REST_OF_NAME, name[ends:], re.IGNORECASE)
        if rest and not _is_another(name, begins, "") and looks_secret(value, SURE, sort == "password"):
            return _LABELS[sort]
    return ""


# -- command lines ----------------------------------------------------------------------------------------------------

_FLAGS = Lazy(
    r"(?:--[a-z-]{0,24}(?:password|passwd|pass|passphrase|token|secret|(?:api|access|auth|secret|private)-?key|pat)\s{1,3}"
    r"|\bsshpass\s{1,3}-p\s{0,3}|\bmysql\w{0,8}\b[^\n|;&]{0,120}?\s-p(?=\S)"
    r"|\b(?:login|mongo\w{0,8})\b[^\n|;&]{0,120}?\s-p\s{1,3}|\bredis-cli\b[^\n|;&]{0,80}?\s(?:-a|--pass)\s{1,3}"
    r"|\b(?:unzip|zip|sqlcmd)\b[^\n|;&]{0,80}?\s-P\s{0,3}|\bldap\w{3,8}\b[^\n|;&]{0,120}?\s-w\s{1,3}|\spass:(?=\S)"
    r"|\b(?:login|user)\s{1,4}\S{1,100}\s{1,4}password\s{1,4}"
    r"|\b(?:ENV|setenv|setx|ARG)\s{1,4}\w{0,40}(?:PASSWORD|PASSWD|PASS|PWD|TOKEN|SECRET|KEY)\s{1,4}"
    r"|\bidentified\s{1,3}by\s{1,3}(?=[\"']))"
    r"(?P<q>[\"']?)(?P<value>[^\s\"'-][^\s\"']{2,400})(?P=q)",
    re.IGNORECASE,
)
_CURL = Lazy(
    r"\b(?:curl|wget|httpie?|https)\b[^\n]{0,200}?\s(?:-u|--user|-a|--auth)[ =]{0,2}"
    r"[\"']?[^\s:\"'=]{1,100}:([^\s\"']{1,300})"
)
_SEED = Lazy(
    r"\b(?:seed|recovery|mnemonic|backup|secret)(?:\s(?:phrase|words))?[\"']?\s{0,2}(?:is|:|=)\s{0,2}[\"']?"
    r"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)


_COMMANDS = (
    *("--", "sshpass", "mysql", "login", "mongo", "redis", "zip", "sqlcmd", "ldap", "pass:", "env", "setx", "arg "),
    *("identified",),
)


def _commanded(text: str, lowered: str) -> Iterator[Span]:
    if any(word in lowered for word in _COMMANDS):
        for flag in _FLAGS().finditer(text):
            value = flag["value"]
            if looks_secret(value, SURE, "token" not in flag[0].lower()[: -len(value)]):
                yield (*flag.span("value"), "password")
    if any(word in lowered for word in ("curl", "wget", "http")):
        for curl in _CURL().finditer(text):
            if len(curl[1]) > 2 and not stands_for(curl[1]):
                yield (*curl.span(1), "password")
    if any(word in lowered for word in ("phrase", "words", "mnemonic", "seed", "recovery")):
        for seed in _SEED().finditer(text):
            yield (*seed.span(1), "seed phrase")


def found(text: str) -> Iterator[Span]:
    """Every value of a name that says it is a secret."""
    yield from _assigned(text)
    yield from _commanded(text, fold(text))
