"""Secrets that are known by where they stand: in a URL, in a header, near a key of AWS."""

from __future__ import annotations

import re

from mait_code.journal.secret_lazy import Lazy
from mait_code.journal.secret_signs import fold
from mait_code.journal.secret_values import CLOSERS, SURE, is_code, is_placeholder, looks_secret, stands_for, strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]

__all__ = ["found"]

# -- headers ----------------------------------------------------------------------------------------------------------

_SCHEMES = (
    *("bearer", "basic", "token", "apikey", "api-key", "key", "ssws", "bot", "oauth", "digest", "hawk", "mac", "jwt"),
    *("aws4-hmac-sha256", "splunk", "negotiate", "ntlm", "sso-key", "geniekey", "zoho-oauthtoken", "client-id"),
)
#: Schemes whose credentials are several words.
_MANY = ("digest", "hawk", "oauth", "aws4-hmac-sha256", "mac")
_HEADER = Lazy(
    r"authorization[\"'`\]\\*]{0,4}\s{0,4}(?:[:=,]|=>|%3a)\s{0,4}(?:[fb](?=[\"']))?[\\\"'`$]{0,4}(?P<value>[^\r\n\"'`\\]{2,400})",
    re.IGNORECASE,
)
_BEARER = Lazy(r"\b(?:bearer|ssws)(?:\s{1,3}|%20)([\w.~+/=-]{12,400})", re.IGNORECASE)
_BASIC = Lazy(r"\bbasic\s{1,3}([A-Za-z0-9+/_-]{8,400}={0,2})", re.IGNORECASE)
_COOKIE = Lazy(
    r"\b(?:set-)?cookie[\"'`]?\s{0,4}[:=]\s{0,4}[\\\"'`]{0,3}([\w.-]{1,60}=[^\r\n\"'`\\]{8,400})", re.IGNORECASE
)


def _in_headers(text: str, lowered: str) -> Iterator[Span]:
    if "authorization" in lowered:
        for header in _HEADER().finditer(text):
            span = _credentials(header)
            if span is not None:
                yield (*span, "credentials")
    if "cookie" in lowered:
        for cookie in _COOKIE().finditer(text):
            if any(strong(pair.partition("=")[2].strip(), 16) for pair in cookie[1].split(";")):
                yield (*cookie.span(1), "cookie")


def _after_schemes(text: str, lowered: str) -> Iterator[Span]:
    """Credentials that stand behind their scheme, without the header's name."""
    if "bearer" in lowered or "ssws" in lowered:
        for bearer in _BEARER().finditer(text):
            if strong(bearer[1], 16):
                yield (*bearer.span(1), "bearer token")
    if "basic" in lowered:
        for basic in _BASIC().finditer(text):
            if _holds_colon(basic[1]):
                yield (*basic.span(1), "credentials")


def _credentials(header: re.Match[str]) -> tuple[int, int] | None:
    """The credentials of an Authorization header: behind the scheme, or all of it where it names none."""
    value = header["value"]
    start = header.start("value")
    scheme, blank, rest = value.partition(" ")
    if scheme.lower() not in _SCHEMES or not blank:
        first = scheme.rstrip(CLOSERS)
        secret = looks_secret(first, SURE) and not is_code(first) and not is_code(scheme)
        return (start, start + len(first)) if secret else None
    start += len(scheme) + len(blank)
    if scheme.lower() not in _MANY:
        rest = rest.lstrip()
        start = header.end("value") - len(rest)
        rest = rest.split(None, 1)[0] if rest.strip() else ""
    if stands_for(rest):
        return None
    rest = rest.rstrip(CLOSERS + " ")
    word = len(rest) < 16 and rest.isalpha() and (rest.islower() or rest.istitle() or rest.isupper())
    if len(rest) < 4 or word or stands_for(rest) or is_placeholder(rest):
        return None
    return start, start + len(rest)


def _holds_colon(value: str) -> bool:
    """Whether base64 is that of `user:password`."""
    from binascii import Error, a2b_base64

    try:
        plain = a2b_base64(value.rstrip("=") + "=" * (-len(value.rstrip("=")) % 4))
    except Error:
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


# -- URLs -------------------------------------------------------------------------------------------------------------

_URL = Lazy(
    r"://(?P<user>[^\s/@:\"'<>?#]{0,200})"
    r"(?::(?!\d{1,5}(?:[/?#\s\"']|$))(?P<password>[^\s\"'<>/]{1,300}|[^\s\"'<>@]{1,300}))?@(?=[\w\[%$.{-])"
)
_QUERY = Lazy(
    r"(?:[?&]|&amp;|\\u0026|%26)(?:key|sig|signature|code|auth|hash|hmac|x-amz-signature|x-amz-credential"
    r"|x-goog-signature|jwt|sas|id_token_hint|k|pw)(?:=|%3d)([^\s\"'<>&#\\]{16,400})",
    re.IGNORECASE,
)
_CONNECTION = Lazy(r"\b(?:AccountKey|SharedAccessKey|SharedSecretIssuer|SharedAccessSignature)=([^\s;\"'<>]{16,400})")


def _in_urls(text: str) -> Iterator[Span]:
    if "@" in text and "://" in text:
        yield from _before_hosts(text)
    if "=" not in text:
        return
    if any(sign in text for sign in ("?", "&", "%26")):
        for query in _QUERY().finditer(text):
            if strong(query[1], 16):
                yield (*query.span(1), "URL parameter")
    if "AccountKey" in text or "Shared" in text:
        for connection in _CONNECTION().finditer(text):
            if not stands_for(connection[1]):
                yield (*connection.span(1), "key")


def _before_hosts(text: str) -> Iterator[Span]:
    """What stands between :// and @: a password after a colon, or a token."""
    for url in _URL().finditer(text):
        if url["password"] is not None:
            if _is_stand_in(url["password"]):
                continue
            yield (*url.span("password"), "password")
        if strong(url["user"], 20):
            yield (*url.span("user"), "token")


def _is_stand_in(password: str) -> bool:
    """Whether a URL's password is one that the reader is to fill in."""
    if stands_for(password) or not any(map(str.isalnum, password)) or len(set(password.lower())) < 2:
        return True
    return is_placeholder(password) or (
        password.isupper() and password.replace("_", "").isalpha() and "PASS" in password
    )


# -- AWS --------------------------------------------------------------------------------------------------------------

_AWS = Lazy(r"(?:aws|amazon|A[KS]IA[A-Z0-9]{16})[^\n]{0,100}?(?<![\w/+])([A-Za-z0-9/+]{40})(?![\w/+=])", re.IGNORECASE)


def _of_aws(text: str) -> Iterator[Span]:
    """A secret access key has no form of its own, so it is looked for near the word."""
    for key in _AWS().finditer(text):
        value = key[1]
        if not value.islower() and not value.isupper() and any(map(str.isdigit, value)):
            yield (*key.span(1), "AWS secret key")


def found(text: str) -> Iterator[Span]:
    """Everything in a text that is a secret by where it stands."""
    lowered = fold(text)
    yield from _in_urls(text)
    yield from _in_headers(text, lowered)
    yield from _after_schemes(text, lowered)
    if "aws" in lowered or "amazon" in lowered or "KIA" in text or "SIA" in text:
        yield from _of_aws(text)
