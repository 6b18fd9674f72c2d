"""Secrets that are known by the name they are given to: `password=`, `"apiKey":`, `--token`."""

from __future__ import annotations

import re

from mait_code.journal.secret_values import CLOSERS, LOOSE, SAID, SURE, looks_secret, stands_for, strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]

__all__ = ["found", "label_of"]

_PASSWORDS = (
    r"pass(?:w(?:or[dt]|d)|phrase|code|wrd)?|(?<![a-z])pwd?|(?<=[a-z_])(?-i:Pwd)|pwd|kennwort|senha|contrase(?:ñ|n)a"
    r"|mot\sde\spasse|парол[ья]|密[码碼]|パスワード|credentials?|(?<![a-z])creds?"
)
_KEY = (
    r"(?:api|app(?:lication)?|access|account|admin|auth|authori[sz]ation|client|consumer|crypto|decryption|deploy|enc"
    r"|encryption|functions?|hmac|host|integration|jwt|license|licence|master|private|primary[ _-]?access|project|rest"
    r"|root|secret|secret[ _-]?access|server|service|session|shared(?:[ _-]?access)?|signature|signing|ssh|storage"
    r"|stream|subscription|user|webhook|write|personal|bot)[ _.-]?key"
)
_NAME = re.compile(
    rf"(?P<password>{_PASSWORDS})|(?P<secret>secret(?:[ _-]?(?:token|value|id|access))?)|(?P<token>token)"
    rf"|(?P<key>{_KEY})|(?P<auth>(?<=_)auth|(?<=[\"'])auth(?=\\?[\"'])|auth[ _-]?code|bearer)",
    re.IGNORECASE,
)
#: Names that hold one of ours and mean something else.
_OTHER = re.compile(
    r"(?:by|com|tres|sur|under|over|im|en|tour|bi)(?=pass)"
    r"|(?:page|next|prev(?:ious)?|continuation|cancel(?:l?ation)?|sync|pad|eos|bos|unk|mask|sep|stop|start|cls|max"
    r"|min|special|first|last|total|per|input|output|design)[ _-]?(?=token)",
    re.IGNORECASE,
)
#: What may still belong to a name: a number, a stage, a word about it in brackets or with `for`; then what closes it.
_REST_OF_NAME = (
    r"(?:[ _-]?(?:\d{1,3}|base|data|string|value|text|plain|raw|prod|production|dev|staging|test|live"
    r"|current|old|new))?"
    r"(?:\s?\([^()\r\n]{0,40}\)|\s(?:for|of|on|at|für|von|de|pour)\s[^\r\n:=]{1,40}?)?"
    r"[\"'`\]*_\\’”]{0,4}"
)
_SEPARATOR = re.compile(
    _REST_OF_NAME
    + r"""(?:
      (?P<typed>\s{0,4}[:\s]\s{0,2}[A-Za-z][\w\[\]|.?]{0,30}(?:\s\|\s[A-Za-z]{1,20})?\s{0,2}=\s{0,2}(?=[fbr]?\\{0,3}["'`]))
    | (?P<pair>,?\s{0,20}["']?value["']?\s{0,4}[:=]\s{0,4})
    | (?P<tight>(?:=|:=|%3d|\\u003d|&\#61;)(?=\S))
    | (?P<loose>\s{0,8}(?::=|=>|->|<-|={1,3}|:|：|%3a|>|\||\t)[^\S\n]{0,8}(?:\n{1,2}[^\S\n]{0,8})?)
    | (?P<quote>\s{0,2}[,(]?\s{0,4}(?=@?\\{0,3}["'`]))
    | (?P<said>\s(?:is|are|was|to|be|ist|lautet|est|es)(?:\snow)?\s?:?\s{1,4})
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_VALUE = re.compile(
    r"(?:[fFrRbBuU@$]{0,2}(?P<q>\\{0,3}[\"'`“„«]{1,3}))(?P<quoted>[^\r\n]{1,400}?)(?:(?P=q)|[”“»])"
    r"|[fFrRbBuU@]{0,2}\\{0,3}[\"'`“„«*]{0,2}(?P<bare>[^\s\"'`<>“”„«»]{1,400})"
)
#: Where one value ends and the next pair begins; where text inside a JSON string does.
_NEXT_PAIR = re.compile(r"[,;&](?=[\w .-]{1,40}[=:])|;(?=\s|$)|\\(?=[nrt\"'])|&amp;|%26|\|(?=\s|$)")
_GOES_ON = re.compile(r"[^\s\"'`<>]*")

_LABELS = {"password": "password", "secret": "secret", "token": "token", "key": "key", "auth": "credentials"}


def _assigned(text: str) -> Iterator[Span]:
    """Values of names such as `password`, `API_KEY`, `"clientSecret"`."""
    for name in _NAME.finditer(text):
        span = _value_of(text, name)
        if span is not None:
            yield (*span, _LABELS[name.lastgroup or "secret"])


def _value_of(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    separator = _SEPARATOR.match(text, name.end())
    if separator is None:
        return None
    value = _VALUE.match(text, separator.end())
    if value is None:
        return None
    before = text[max(0, name.start() - 14) : name.end()]
    if (other := _OTHER.search(before)) and other.end() == len(before) - len(name[0]):
        return None
    quoted = value["quoted"] is not None
    start, end = value.span("quoted") if quoted else _bare_end(text, *value.span("bare"))
    how = separator.lastgroup
    written = SURE if quoted or how in ("tight", "typed", "pair") else SAID if how == "said" else LOOSE
    environment = how in ("tight", "pair") and name[0].isupper() and not text[name.start() - 1 : name.start()].islower()
    password = name.lastgroup == "password"
    if name[0].lower() in ("pass", "pw", "p") and written != SURE and not strong(text[start:end], 6):
        return None
    return (start, end) if looks_secret(text[start:end], written, password, environment) else None


def _bare_end(text: str, start: int, end: int) -> tuple[int, int]:
    """Where a value without quotes ends: before the next pair, without the punctuation of the sentence."""
    if end - start >= 400 and (rest := _GOES_ON.match(text, end)):
        end = rest.end()
    following = _NEXT_PAIR.search(text, start, end)
    if following and following.start() > start:
        end = following.start()
    while end > start and text[end - 1] in CLOSERS:
        end -= 1
    return start, end


def label_of(name: str, value: str) -> str:
    """What kind of secret an object's field is, by its name; empty where it is none."""
    found = next(reversed(list(_NAME.finditer(name))), None)
    rest = "" if found is None else name[found.end() :]
    if found is None or not re.fullmatch(_REST_OF_NAME, rest, re.IGNORECASE):
        return ""
    if (other := _OTHER.search(name)) and other.end() == found.start():
        return ""
    secret = looks_secret(value, SURE, found.lastgroup == "password")
    return _LABELS[found.lastgroup or "secret"] if secret else ""


# -- command lines ----------------------------------------------------------------------------------------------------

_FLAGS = re.compile(
    r"(?:--[a-z-]{0,24}(?:password|passwd|pass|passphrase|token|secret|(?:api|access|auth|secret|private)-?key|pat)\s{1,3}"
    r"|\bsshpass\s{1,3}-p\s{0,3}|\bmysql\w{0,8}\b[^\n|;&]{0,120}?\s-p(?=\S)|\blogin\b[^\n|;&]{0,120}?\s-p\s{1,3}"
    r"|\b(?:login|user)\s{1,4}\S{1,100}\s{1,4}password\s{1,4}"
    r"|\b(?:ENV|setenv|setx|ARG)\s{1,4}\w{0,40}(?:PASSWORD|PASSWD|PASS|PWD|TOKEN|SECRET|KEY)\s{1,4}"
    r"|\bidentified\s{1,3}by\s{1,3})"
    r"(?P<q>[\"']?)(?P<value>[^\s\"'-][^\s\"']{2,400})(?P=q)",
    re.IGNORECASE,
)
_CURL = re.compile(
    r"\b(?:curl|wget|httpie?|https)\b[^\n]{0,200}?\s(?:-u|--user|-a|--auth)[ =]{0,2}"
    r"[\"']?[^\s:\"'=]{1,100}:([^\s\"']{1,300})"
)
_SEED = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup|secret)(?:\s(?:phrase|words))?[\"']?\s{0,2}(?:is|:|=)\s{0,2}[\"']?"
    r"((?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})",
    re.IGNORECASE,
)


def _commanded(text: str) -> Iterator[Span]:
    for flag in _FLAGS.finditer(text):
        value = flag["value"]
        if looks_secret(value, SURE, "token" not in flag[0].lower()[: -len(value)]):
            yield (*flag.span("value"), "password")
    for curl in _CURL.finditer(text):
        if len(curl[1]) > 2 and not stands_for(curl[1]):
            yield (*curl.span(1), "password")
    for seed in _SEED.finditer(text):
        yield (*seed.span(1), "seed phrase")


def found(text: str) -> Iterator[Span]:
    """Every value of a name that says it is a secret."""
    yield from _assigned(text)
    yield from _commanded(text)
