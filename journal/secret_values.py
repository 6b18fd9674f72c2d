"""Whether what follows a name such as `password` looks like a secret, or like a word, a placeholder, a reference.

Where that cannot be told, it is a secret when it was written as a value is (`NAME=value`, in quotes), else it is prose.
"""

from __future__ import annotations

import re

from mait_code.journal.secret_lazy import Lazy

__all__ = [
    "CLOSERS",
    "LOOSE",
    "SAID",
    "SURE",
    "is_code",
    "is_placeholder",
    "looks_random",
    "looks_secret",
    "stands_for",
    "strong",
]

#: How a value was written: as programs do, after a colon or the like, in a sentence.
SURE, LOOSE, SAID = 2, 1, 0


def words(text: str) -> frozenset[str]:
    """The words of a text, to look others up in."""
    return frozenset(text.split())


#: Words that stand where a value would. One of them makes the whole a placeholder.
_PLACEHOLDERS = words("""
    your yours my example examples placeholder changeme changeit change replace replaceme insert dummy fake sample
    redacted masked hidden removed omitted here todo tbd xxx foo bar baz foobar goes enter some
""")
#: Words that are said about secrets, and are none.
_SAID_OF_THEM = words("""
    true false none null nil undefined yes no on off required optional string str text number integer int bool boolean
    bytes object array any void empty unset missing invalid expired unknown default enabled disabled password passwd
    secret token bearer basic jwt key apikey credentials auth authorization oauth header cookie session env stdin
    prompt vault keychain keyring generated random rotate rotated the see same never always
""")
#: What holds letters and digits, and is a word all the same.
_TECHNICAL = words("""
    base16 base32 base36 base58 base62 base64 base64url md4 md5 sha1 sha2 sha3 sha224 sha256 sha384 sha512 argon2
    argon2i argon2d argon2id pbkdf2 bcrypt utf8 utf16 oauth1 oauth2 oidc 2fa mfa totp x509 pkcs1 pkcs7 pkcs8 pkcs11
    pkcs12 p12 hs256 hs384 hs512 rs256 rs384 rs512 es256 es384 es512 ps256 ed25519 ed448 x25519 rsa2048 rsa4096
    aes128 aes192 aes256 chacha20 poly1305 curve25519 secp256k1 prime256v1 uuid4 uuid7 uuidv4 uuidv7 http1 http2
    http3 ipv4 ipv6 s3 ec2 k8s i18n l10n a11y log4j web3 oauth2client py3 python3 es6 win32 x86 x64 amd64 arm64 tls1
    ssl3 auth0 neo4j mp3 mp4 h264 v8 rfc6749 rfc6750 rfc7519 rfc7617 iso8601 iso27001 rc4 blake2b blake3 fido2
    ntlmv2 saml2 gpt4 1password
""")
#: Punctuation of the sentence around a value.
CLOSERS = ".,;:!?)]}>|*_~"

_STANDS_FOR = Lazy(
    r"""(?xi)
    \$ (?: \{ .* | \( .* | [a-z_]\w* (?: [:.-]\w+ )* )    # ${NAME}, $(command), $NAME
    | \{\{ [^{}]* (?: \}\}? )? | \#\{ .* | % \( .*         # templates
    | \{ [a-z_][\w\s.:!\[\]()>-]* \} | %\w+% | < [\w\s.:|/-]* >?
    | (?: %[sdrv@] | \{\w*\} | \$\{[^}]*\} | [:/@.,;-] )+
    | \[ [a-z] [\w\s.-]* \]? | \[masked:.* | \?           # [redacted]
    | [:@?&*!] [a-z_][a-z_:.-]* @? | & \#? \w+ ; .*        # parameters of queries, YAML tags and anchors, entities
    | (?: arn | vault | sops | ssm | enc | op | kms | env | file | projects ) [:\[/] .*
    | [a-z][a-z0-9+.-]{1,20}://.*                         # the password in a URL is found by itself
    | (?: ~ | \.{1,2} | [a-z]: )? [/\\] (?: [\w.-]+ [/\\] )* [\w-]* (?: \.\w{1,6} )?   # a path
    """,
    re.DOTALL,
)
#: Blanks and quotes end a value without quotes: what is left of a call may lack its end.
_CALL = Lazy(
    r"""(?xi)
    (?: [a-z_$][a-z_$.>:?!-]+ | _?[a-z][a-z0-9]* (?: _[a-z0-9]* )+ | (?: [a-z_]\w* (?:\.|->|::) )+ [a-z_]\w* )
    [(\[] (?: [\w\s.,:$=*&/()\[\]{}-]* [)\]]+ .* | [(\[{]* [a-z_$.,*&=:-]* | \d{1,6},? )
    | [(\[{]+ (?: [a-z_][a-z_.]* (?: [:(].* )? )? [)\]}]*
    """,
    re.DOTALL,
)
_LETTERS = Lazy(r"[^\W\d_]+")
_HUMPS = Lazy(r"[A-Z]?[a-z]+|[A-Z]+")
_CLUSTER = Lazy(r"[bcdfghjklmnpqrstvwxz]{7}|[aeiouy]{6}", re.IGNORECASE)
_SPLIT = Lazy(r"[-_./:@\s,|=\\’]+")
#: As Google hands them out for mail programs.
_FOUR_BY_FOUR = Lazy(r"(?:[a-z]{4} ){3}[a-z]{4}")
_NUMBERED = Lazy(
    r"(?:[A-Z]?[a-zß-ÿ]{1,12}|[A-Z]{1,12})\d{1,4}|[vV]\d[\da-z]{0,6}|\d{1,4}(?:[A-Z]?[a-z]{1,10}|[A-Z]{1,10})"
)
_MAIL = Lazy(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_HEX = Lazy(r"[0-9a-f]{16,}|[0-9A-F]{16,}")
_UUID = Lazy(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
#: Longer values say no more than their beginning about what they are.
_ENOUGH = 64


def looks_secret(value: str, written: int, password: bool = False, environment: bool = False) -> bool:
    """Whether a value is a secret. `password` says that people choose it, so it may be short and hold words;
    `environment` that it stands as `NAME=value` in capitals, where nobody writes prose."""
    value = value.strip()[:_ENOUGH]
    shortest = (4 if environment else 5) if written == SURE and password else 6 if password else 8
    if len(value) < shortest or not any(map(str.isalnum if written == SURE else str.isalpha, value)):
        return False
    if stands_for(value) or is_placeholder(value):
        return False
    pieces = [piece for piece in _SPLIT().split(value) if piece]
    if _HEX().fullmatch(value) or _UUID().fullmatch(value):
        return True
    if any(map(str.isspace, value)):
        return written == SURE and _is_spaced(value, password, environment)
    if all(_is_plain(piece) for piece in pieces):
        return _is_phrase(value, pieces, written, password, environment)
    if all(_is_plain(piece) or _NUMBERED().fullmatch(piece) for piece in pieces):
        # hunter2 is a password; step2 is none, and db-prod-01 is a name.
        if len(pieces) == 1:
            return (password and (written > SAID or len(value) > 6)) or (written == SURE and len(value) >= 8)
        return password and (written == SURE or _has_sign(value))
    return password or written == SURE or strong(value)


def _is_plain(piece: str) -> bool:
    """Whether a piece of a value is a word, a number or a technical term."""
    if piece.isdigit() or piece.lower() in _TECHNICAL:
        return True
    return _LETTERS().fullmatch(piece) is not None and not looks_random(piece)


def _is_phrase(value: str, pieces: list[str], written: int, password: bool, environment: bool) -> bool:
    """Whether a value of plain words or numbers is a secret all the same."""
    if written != SURE:
        return password and _ends_in_number(pieces)
    spoken = [piece.lower() for piece in pieces]
    if any(word in _SAID_OF_THEM for word in spoken):
        return False
    if all(map(str.isdigit, spoken)):
        return password and len(value) >= 6 and len(pieces) == 1
    if len(spoken) == 1:
        return (environment and password) or _is_run(value)
    digits = any(map(str.isdigit, spoken))
    return password and (environment or digits or len(spoken) >= 4)


def _ends_in_number(pieces: list[str]) -> bool:
    """Whether words end in a number, as people make passwords: tulip-anchor-97."""
    return len(pieces) >= 3 and pieces[0].isalpha() and pieces[-1].isdigit() and len(pieces[-1]) >= 2


def _has_sign(value: str) -> bool:
    return "=" in value or ("@" in value and not _MAIL().fullmatch(value))


def _is_spaced(value: str, password: bool, environment: bool) -> bool:
    """Whether a value of several words is a secret: most are messages to people."""
    if any(strong(piece.strip(".,;:!?()"), 8) for piece in value.split()):
        return True
    return password and (environment or _FOUR_BY_FOUR().fullmatch(value) is not None)


def _is_run(value: str) -> bool:
    """Whether one piece of letters is longer than words are: correcthorsebatterystaple, not refreshTokenProvider."""
    if len(value) < 15 or any(word in value.lower() for word in ("password", "secret", "token", "auth", "credential")):
        return False
    return value.islower() or value.isupper()


def looks_random(letters: str) -> bool:
    """Whether letters alone look drawn by lot: capitals anywhere, or too many consonants in a row."""
    if len(letters) < 7 or not letters.isascii():
        return False
    if letters.islower() or letters.isupper() or letters.istitle():
        return len(letters) >= 10 and _CLUSTER().search(letters) is not None
    return len(letters) / len(_HUMPS().findall(letters)) < 2.5


def stands_for(value: str) -> bool:
    """Whether a value says where the secret is to be found, or stands for it: `$TOKEN`, `<token>`, `{{ token }}`."""
    if not _STANDS_FOR().fullmatch(value):
        return False
    # Base64 may begin with a slash too; a path is made of words.
    return value[:1] not in "/\\~." or all(map(_is_plain_part, _SPLIT().split(value)))


def is_placeholder(value: str) -> bool:
    """Whether a value is for the reader to fill in, or was taken out: `your-token-here`, `xxxx`."""
    return len(set(value.lower())) < 3 or any(piece.lower() in _PLACEHOLDERS for piece in _SPLIT().split(value))


def is_code(value: str) -> bool:
    """Whether a value without quotes is computed: `get_token()`, `settings.API_KEY`, `self->password`."""
    if _CALL().fullmatch(value):
        return True
    parts = re.split(r"\.|->|::", value)
    return len(parts) > 1 and all(part.isidentifier() and all(map(_is_plain_part, part.split("_"))) for part in parts)


def _is_plain_part(piece: str) -> bool:
    return not piece or _is_plain(piece) or _NUMBERED().fullmatch(piece) is not None


def strong(value: str, shortest: int = 12) -> bool:
    """Whether a value is so mixed that no name is needed to doubt it."""
    value = value[:_ENOUGH]
    if len(value) < shortest or is_placeholder(value):
        return False
    if _HEX().fullmatch(value):
        return True
    digits = sum(map(str.isdigit, value))
    if not digits:
        return any(looks_random(piece) for piece in re.findall(r"[A-Za-z]+", value))
    unusual = sum(len(piece) for piece in _SPLIT().split(value) if not _is_plain_part(piece))
    if unusual < 6 or not any(map(str.isalpha, value)):
        return False
    return digits >= 3 or not (value.islower() or value.isupper())
