"""Whether a text may hold a secret, found out with plain searches: nearly every text is done with after these.

No regular expression is made here. What is found here is looked at by secret_patterns, which decides.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["CREDENTIALS", "KEY_OF", "NAMES", "PREFIXES", "fold", "has_name", "places", "suspicious"]

#: What the known formats begin with or hold, case-sensitive. The rules in secret_formats say which is whose.
PREFIXES = (
    *("AKIA", "ASIA", "ABIA", "ACCA", "ABSK", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "gldt-"),
    *("glrt-", "glptt-", "glcbt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-", "glffct-", "GR1348941"),
    *("xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "hooks.slack.com/"),
    *("sk_live_", "sk_test_", "sk_prod_", "rk_live_", "rk_test_", "rk_prod_", "whsec_", "sk-", "AIza", "GOCSPX-"),
    *("ya29.", "1//0", "npm_", "pypi-", "SK", "SG.", ":AA", ":APA91b", "api/webhooks/", "MT", "Mj", "Mz", "ND", "NT"),
    *("Nj", "Nz", "OD", "OT", "8Q~", "7Q~", "dop_v1_", "doo_v1_", "dor_v1_", "HRKU-", "key-", "-us", "v1.0-", "cfk_"),
    *("cfut_", "cfat_", "hf_", "api_org_", "dapi", "dkea", "dsapi", "shpat_", "shpca_", "shppa_", "shpss_", "shptka_"),
    *("sq0atp-", "sq0csp-", "sq0idp-", "EAAA", "EAA", "sl.", "ATATT3", "ATCTT3", "ATBB", "ATSTT3", "NRAK-", "NRAA-"),
    *("NRII-", "NRRA-", "eyJ", "AGE-SECRET-KEY-", "AGE-PLUGIN-", "hvs.", "hvb.", "hvr.", "dp.pt.", "dp.st.", "dp.ct."),
    *("dp.sa.", "dp.scim.", "dp.audit.", "lin_api_", "lin_oauth_", "ntn_", "secret_", "figd_", "figo_", "pat"),
    *("xkeysib-", "xsmtpsib-", "PMAK-", "rubygems_", "oy2", "cio", "dckr_pat_", "dckr_oat_", ".atlasv1.", "pul-"),
    *("fo1_", "fm1_", "fm2_", "fm1r_", "sbp_", "sb_secret_", "pscale_", "nfp_", "sntrys_", "sntryu_", "glsa_", "glc_"),
    *("r8_", "gsk_", "xai-", "pplx-", "tvly-", "lsv2_", "fw_", "LTAI", "AKID", "CCIPAT_", "bkua_", "bkat_", "bkct_"),
    *("ops_eyJ", "tskey-", "AKCp", "cmVmdGtu", "access_token$", "FLWSECK", "EZAK", "EZTK", "shippo_", "sgp_", "CFPAT-"),
    *("dG9rO", "CLOJARS_", "pnu_", "rdme_", "hooks.zapier.com/", "webhook.office.com/", "AAAAAAAAAAAAAAAAAAAA"),
    *("phx_", "LS0tLS1CRUdJTi", "vercel_", "vcp_", "vck_", "y0_", "AQVN", "ATTA"),
    *(
        "0/1",
        "1/1",
        "2/1",
        "sqp_",
        "squ_",
        "sqa_",
        "access-",
        "re_",
        "sk_",
        "nvapi-",
        "jina_",
        "fc-",
        "pcsk_",
        "tgp_v1_",
    ),
    *("AZDO", "akab-", "rnd_", "ddp_", "ddo_", "napi_", "sdk-", "api-", "tfp_", "00D", "ck_", "cs_", "amzn", "syt_"),
    *("dt0c01.", "dt0s01.", "API-"),
)
#: Shorter than this between two blanks is no known format.
_SHORTEST = 20
#: What things that have a secret value are called, or begin to be; of several languages, as people write in theirs.
NAMES = (
    *("pass", "pw", "secret", "token", "key", "auth", "cred", "bearer", "kennwort", "senha", "contrase"),
    *("mot de passe", "парол", "密码", "密碼", "パスワード"),
)
#: Words that make a key a secret.
KEY_OF = (
    *("api", "app", "application", "access", "account", "admin", "auth", "authorization", "authorisation", "client"),
    *("consumer", "crypto", "decryption", "deploy", "enc", "encryption", "function", "functions", "hmac", "jwt"),
    *("integration", "license", "licence", "master", "private", "root", "secret", "server", "service", "session"),
    *("shared", "signature", "signing", "ssh", "storage", "subscription", "webhook", "write", "personal", "bot"),
)
#: Other words that a value follows.
CREDENTIALS = ("cookie", "sig", "signature", "phrase", "mnemonic", "seed")
#: What stands between a name and a value, not far from the name.
_BETWEEN = ("=", ":", "：", ">", "|", "(", '"', "'", "`", "\t", "\n", "<-", "%3", "u003d", "&#61;", "&quot;")
_SAID = (" is ", " are ", " was ", " be ", " to ", " ist ", " lautet ", " est ", " es ", " now ")
#: Parameters of URLs that are as good as a password.
_QUERIES = ("key=", "sig=", "ature=", "code=", "hash=", "hmac=", "auth=", "jwt=", "sas=", "?k=", "&k=", "credential=")
_NEAR = 70
#: What follows "pass" in "passphrase".
_LONGEST_REST = 6
#: Letters or digits that a value has at least, where a sentence names it.
_SHORTEST_SAID = 6


def fold(text: str) -> str:
    """The text in lower case, each letter where it was: the one that would become two is replaced before."""
    return text.replace("İ", "I").lower()


def places(lowered: str, stem: str) -> Iterator[int]:
    """Where a stem of NAMES stands as the beginning of a name."""
    place = lowered.find(stem)
    while place >= 0:
        if stem != "key" or lowered[max(0, place - 20) : place].rstrip(" _.-").endswith(KEY_OF):
            yield place
        place = lowered.find(stem, place + 1)


def suspicious(text: str) -> bool:
    """Whether it is worth looking closer."""
    if len(text) < _SHORTEST and text.isalnum():
        return False
    if ("://" in text and "@" in text) or "PRIVATE KEY" in text or "PuTTY-" in text or "Private-MAC" in text:
        return True
    lowered = fold(text)
    named = [stem for stem in NAMES if stem in lowered]
    if named and (_has_flag(text) or any(_is_followed(text, lowered, stem) for stem in named)):
        return True
    if "=" in lowered and _holds(lowered, _QUERIES):
        return True
    return _has_command(lowered) or _has_header(text, lowered) or has_prefix(text)


def has_name(name: str) -> bool:
    """Whether what an object calls a value has to do with secrets."""
    lowered = fold(name)
    return any(stem in lowered for stem in NAMES)


def has_prefix(text: str) -> bool:
    """Whether a word is as long as keys are, and something in the text is as they begin."""
    return max(map(len, text.split()), default=0) >= _SHORTEST and _holds(text, PREFIXES)


def _holds(text: str, words: Iterable[str]) -> bool:
    for word in words:  # noqa: SIM110  # every text that is stored comes by here; `any` takes twice as long
        if word in text:
            return True
    return False


def _has_flag(text: str) -> bool:
    return _holds(text, ("--", "ENV ", "ARG ", "setenv ", "setx ", "sshpass")) or (
        "login " in text and "password " in text
    )


def _is_followed(text: str, lowered: str, stem: str) -> bool:
    """Whether something like a value follows a name."""
    for place in places(lowered, stem):
        after = text[place + len(stem) : place + _NEAR]
        if _holds(after, _BETWEEN):
            return True
        rest, _, following = after.partition(" ")
        if len(rest) <= _LONGEST_REST and any(map(_is_odd, following.split(None, 1)[:1])):
            return True
        for word in _SAID:
            if word in after and any(map(_is_odd, after.split(word, 1)[1].split())):
                return True
    return False


def _is_odd(word: str) -> bool:
    """Whether a word is not one of a sentence."""
    word = word.strip(".,;:!?)")
    return len(word) >= _SHORTEST_SAID and not (word.isalpha() and (word.islower() or word.istitle()))


def _has_command(lowered: str) -> bool:
    """Whether a program is told a password that no name stands before."""
    if _holds(lowered, (" -p", " -a ", " -w ")) and _holds(
        lowered, ("mysql", "login", "mongo", "redis-cli", "zip ", "sqlcmd", "ldap")
    ):
        return True
    if "curl" in lowered or "wget" in lowered or "http" in lowered:
        return _holds(lowered, (" -u", "--user", " -a ", "--auth"))
    return "identified by" in lowered


def _has_header(text: str, lowered: str) -> bool:
    for scheme in ("bearer ", "bearer%20", "basic ", "ssws "):
        place = lowered.find(scheme)
        while place >= 0:
            if any(map(_is_odd, text[place + len(scheme) : place + _NEAR].split(None, 1)[:1])):
                return True
            place = lowered.find(scheme, place + 1)
    return any(_is_followed(text, lowered, word) for word in CREDENTIALS if word in lowered)
