"""Secrets that are known by their form: what services hand out begins with letters of their own."""

from __future__ import annotations

import re

from mait_code.journal.secret_lazy import Lazy
from mait_code.journal.secret_values import strong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Span = tuple[int, int, str]

__all__ = ["RULES", "Rule", "found"]

#: No pattern repeats without a bound, so that one start costs at most this much; what goes on is taken along after.
_LONGEST = 200
_GOES_ON = Lazy(r"[\w+/=.~%-]*(?<![.])")
#: Letters that stand before a secret and are not part of it: escapes of JSON and URLs, colours of a terminal.
_ESCAPES = Lazy(r"(?:\\[nrtfbv]|%[0-9A-F]{2}|\\u00[0-9a-f]{2}|\\x[0-9a-f]{2}|\[[0-9;]*m)\Z", re.IGNORECASE)


class Rule:
    """A known format. `prefixes` are strings of which it holds one, and the pattern begins with them or near them.

    `apart` says that no letter or digit may stand before it; `check` decides on what the pattern matched.
    """

    __slots__ = ("apart", "check", "label", "pattern", "prefixes")

    def __init__(
        self,
        label: str,
        prefixes: str,
        pattern: str,
        *,
        apart: bool = False,
        check: Callable[[str], bool] | None = None,
    ) -> None:
        self.label = label
        self.prefixes = tuple(prefixes.split())
        self.pattern = Lazy(pattern.replace("{N}", f"{{{_SHORT},{_LONGEST}}}").replace(",}", f",{_LONGEST}}}"))
        self.apart = apart
        self.check = check

    def concerns(self, text: str) -> bool:
        """Whether a prefix stands in the text at all."""
        return any(prefix in text for prefix in self.prefixes)

    def spans(self, text: str) -> Iterator[Span]:
        """Where secrets of this format stand."""
        pattern = self.pattern()
        place = 0
        while match := pattern.search(text, place):
            start, end = match.span()
            if (self.apart and _is_glued(text, start)) or not self._fits(match[0]):
                place = start + 1
                continue
            if end - start >= _LONGEST and (rest := _GOES_ON().match(text, end)):
                end = rest.end()
            yield start, end, self.label
            place = end

    def _fits(self, value: str) -> bool:
        return _is_drawn(value[-20:]) and (self.check is None or self.check(value))


_SHORT = 16


def _is_drawn(tail: str) -> bool:
    """Whether the end of a key was drawn by lot, not written for the reader to replace: xxxx, your-key-here."""
    if len(set(tail.lower())) < 5:
        return False
    pieces = [piece for piece in tail.replace("-", "_").split("_") if piece]
    return len(pieces) < 2 or not all(map(_is_word, pieces))


def _is_word(piece: str) -> bool:
    return piece.isalpha() and (piece.islower() or piece.isupper() or piece.istitle())


def _is_glued(text: str, start: int) -> bool:
    before = text[start - 1 : start]
    return before.isalnum() and before.isascii() and not _ESCAPES().search(text, max(0, start - 6), start)


def _mixed(value: str) -> bool:
    """Not words with hyphens: sk-learn-estimator-html-representation."""
    return strong(value[3:], 16)


def _bot(value: str) -> bool:
    """The first part of a Discord token is a number in base64."""
    from binascii import Error, a2b_base64

    first = value.partition(".")[0]
    try:
        return a2b_base64(first + "=" * (-len(first) % 4)).isdigit()
    except Error:
        return False


def _encoded_key(value: str) -> bool:
    """Whether base64 holds a private key, not a certificate. Encoded a second time it is not looked into."""
    from binascii import Error, a2b_base64

    try:
        return b"PRIVATE KEY" in a2b_base64(value[: len(value) // 4 * 4][:96])
    except Error:
        return False


def _two_cases(value: str) -> bool:
    return not value.islower() and not value.isupper() and any(map(str.isdigit, value))


_G = "GitLab token"
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
RULES = (
    Rule("private key", "LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi[A-Za-z0-9+/=]{N}", check=_encoded_key),
    Rule("Anthropic key", "sk-", r"sk-ant-[\w-]{N}"),
    Rule("OpenRouter key", "sk-", r"sk-or-v\d-[\w-]{N}"),
    Rule("OpenAI key", "sk-", r"sk-(?:proj|svcacct|admin|None|service)-[\w-]{N}"),
    Rule("API key", "sk-", r"sk-[\w-]{18,}", apart=True, check=_mixed),
    Rule("AWS key", "AKIA ASIA ABIA ACCA", r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?![A-Za-z0-9])", apart=True),
    Rule("AWS Bedrock key", "ABSK", r"ABSK[A-Za-z0-9+/]{80,}={0,2}", apart=True),
    Rule("GitHub token", "gho_ ghp_ ghr_ ghs_ ghu_ github_pat_", r"(?:gh[oprsu]|github_pat)_\w{N}"),
    Rule(_G, "glpat- gldt- glrt- glptt- glcbt- glft- glimt-", r"gl(?:pat|dt|rt|ptt|cbt|ft|imt)-[\w.-]{N}"),
    Rule(_G, "glagent- gloas- glsoat- glffct- GR1348941", r"(?:gl(?:agent|oas|soat|ffct)-|GR1348941)[\w.-]{N}"),
    Rule(
        "Slack token",
        "xoxa- xoxb- xoxc- xoxd- xoxe xoxo- xoxp- xoxr- xoxs-",
        r"xox[a-eoprs][.-](?:xox[bp]-)?[\w%-]{12,}",
    ),
    Rule("Slack token", "xapp-", r"xapp-\d-[\w-]{N}"),
    Rule("Slack webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{N}"),
    Rule("Stripe key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_", r"[rs]k_(?:live|test|prod)_\w{10,}"),
    Rule("webhook secret", "whsec_", r"whsec_[\w+/=-]{N}"),
    Rule("Google API key", "AIza", r"AIza[\w-]{30,}", apart=True),
    Rule("Google client secret", "GOCSPX-", r"GOCSPX-[\w-]{N}"),
    Rule("Google token", "ya29.", r"ya29\.[\w-]{N}"),
    Rule("Google token", "1//0", r"1//0[\w-]{30,}", apart=True),
    Rule("Firebase key", ":APA91b", r"[\w-]{8,40}:APA91b[\w-]{60,}"),
    Rule("npm token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    Rule("PyPI token", "pypi-", r"pypi-[\w-]{40,}", check=_two_cases),
    Rule("Twilio key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])", apart=True),
    Rule("SendGrid key", "SG.", r"SG\.[\w-]{16,64}\.[\w-]{16,80}", apart=True),
    Rule("Telegram token", ":AA", r"\d{6,12}:AA[\w-]{30,}", apart=True),
    Rule("Discord webhook", "api/webhooks/", r"api/webhooks/\d{10,25}/[\w-]{30,}"),
    Rule(
        "Discord token",
        "MT Mj Mz ND NT Nj Nz OD OT",
        r"[MNO][A-Za-z0-9]{21,27}\.[\w-]{6,7}\.[\w-]{25,}",
        apart=True,
        check=_bot,
    ),
    Rule("Azure secret", "8Q~ 7Q~", r"[\w.~-]{3}[78]Q~[\w.~-]{31,34}"),
    Rule("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{32,}"),
    Rule("Heroku key", "HRKU-", r"HRKU-[\w-]{N}"),
    Rule("Mailgun key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])", apart=True),
    Rule("Mailchimp key", "-us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    Rule("Cloudflare key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    Rule("Cloudflare token", "cfk_ cfut_ cfat_", r"cf(?:k|ut|at)_[\w-]{30,}", check=_two_cases),
    Rule("Hugging Face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{30,}", apart=True),
    Rule("Databricks token", "dapi dkea dsapi", r"(?:dapi|dkea|dsapi)[0-9a-f]{32}(?:-\d)?", apart=True),
    Rule("Shopify token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"shp(?:at|ca|pa|ss|tka)_[0-9A-Fa-f]{N}"),
    Rule("Square token", "sq0atp- sq0csp- sq0idp-", r"sq0(?:atp|csp|idp)-[\w-]{N}"),
    Rule("Square token", "EAAA", r"EAAA[\w-]{56,}", apart=True, check=_two_cases),
    Rule("Facebook token", "EAA", r"EAA[A-Za-z0-9]{60,}", apart=True, check=_two_cases),
    Rule("Dropbox token", "sl.", r"sl\.(?:u\.)?[\w-]{100,}", apart=True, check=_two_cases),
    Rule("Atlassian token", "ATATT3 ATCTT3 ATSTT3", r"AT[ACS]TT3[\w=-]{20,}", apart=True),
    Rule("Bitbucket password", "ATBB", r"ATBB[A-Za-z0-9]{20,}", apart=True, check=_two_cases),
    Rule("New Relic key", "NRAK- NRAA- NRII- NRRA-", r"NR(?:AK|AA|II|RA)-[\w-]{N}"),
    Rule("JWT", "eyJ", r"eyJ[\w-]{8,600}\.{1,2}[\w-]{8,}(?:\.{1,2}[\w-]{1,400}){0,3}", apart=True),
    Rule("age key", "AGE-SECRET-KEY- AGE-PLUGIN-", r"AGE-(?:SECRET-KEY(?:-PQ)?|PLUGIN-[A-Z0-9]{1,40})-1[A-Z0-9]{20,}"),
    Rule("Vault token", "hvs. hvb. hvr.", r"hv[bsr]\.[\w-]{20,}", apart=True),
    Rule("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"dp\.[a-z]{2,5}\.[\w.-]{20,}", apart=True),
    Rule("Linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
    Rule("Notion token", "ntn_ secret_", r"(?:ntn|secret)_[A-Za-z0-9]{40,}", check=_two_cases),
    Rule("Figma token", "figd_ figo_", r"fig[do]_[\w-]{20,}", check=_two_cases),
    Rule("Airtable token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{40,}", apart=True),
    Rule("HubSpot token", "pat-", r"pat-[a-z]{2}\d-[0-9a-f-]{36}", apart=True),
    Rule("Brevo key", "xkeysib- xsmtpsib-", r"x(?:key|smtp)sib-[\w-]{40,}"),
    Rule("Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Rule("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{40,}"),
    Rule("NuGet key", "oy2", r"oy2[a-z0-9]{43}(?![A-Za-z0-9])", apart=True),
    Rule("crates.io token", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", apart=True, check=_two_cases),
    Rule("Docker token", "dckr_pat_ dckr_oat_", r"dckr_[op]at_[\w-]{20,}"),
    Rule("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{10,20}\.atlasv1\.[\w=-]{40,}"),
    Rule("Pulumi token", "pul-", r"pul-[0-9a-f]{40}", apart=True),
    Rule("Fly.io token", "fo1_ fm1_ fm2_ fm1r_", r"f(?:o1|m1r?|m2)_[\w+/=,-]{30,}", apart=True),
    Rule("Supabase key", "sbp_ sb_secret_", r"sb(?:p|_secret)_[\w-]{20,}"),
    Rule("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{30,}"),
    Rule("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
    Rule("Sentry token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{20,}"),
    Rule("Grafana token", "glsa_ glc_", r"gl(?:sa|c)_[\w+/=-]{30,}", check=_two_cases),
    Rule("Replicate token", "r8_", r"r8_[A-Za-z0-9]{37}", apart=True),
    Rule("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    Rule("xAI key", "xai-", r"xai-[A-Za-z0-9]{60,}", apart=True),
    Rule("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    Rule("Tavily key", "tvly-", r"tvly-[\w-]{20,}", check=_two_cases),
    Rule("LangSmith key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f_]{32,}"),
    Rule("Alibaba key", "LTAI", r"LTAI[A-Za-z0-9]{16,30}(?![A-Za-z0-9])", apart=True, check=_two_cases),
    Rule("Tencent key", "AKID", r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])", apart=True, check=_two_cases),
    Rule("CircleCI token", "CCIPAT_", r"CCIPAT_[\w-]{30,}"),
    Rule("Buildkite token", "bkua_ bkat_ bkct_", r"bk(?:ua|at|ct)_[0-9A-Za-z]{30,}"),
    Rule("1Password token", "ops_eyJ", r"ops_eyJ[\w+/=-]{100,}"),
    Rule("Tailscale key", "tskey-", r"tskey-(?:[a-z]{2,12}-)?[\w-]{N}"),
    Rule("Artifactory token", "AKCp cmVmdGtu", r"(?:AKCp|cmVmdGtu)[A-Za-z0-9]{50,}", apart=True),
    Rule("Braintree token", "access_token$", r"access_token\$(?:production|sandbox)\$[\w$]{40,}"),
    Rule("Flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-[\w-]{N}"),
    Rule("EasyPost key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}", apart=True),
    Rule("Shippo token", "shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}"),
    Rule("Sourcegraph token", "sgp_", r"sgp_\w{40,}"),
    Rule("Contentful token", "CFPAT-", r"CFPAT-[\w-]{40,}"),
    Rule("Intercom token", "dG9rO", r"dG9rO[A-Za-z0-9+/]{50,}={0,2}", apart=True),
    Rule("Clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{50,}"),
    Rule("Prefect key", "pnu_", r"pnu_[A-Za-z0-9]{36}"),
    Rule("ReadMe key", "rdme_", r"rdme_[a-z0-9]{60,}"),
    Rule("Zapier webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/[\w/]{10,}"),
    Rule("Teams webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/[\w@/-]{40,}"),
    Rule(
        "Twitter token", "AAAAAAAAAAAAAAAAAAAA", r"A{20,24}[A-Za-z0-9%]{60,}", apart=True, check=lambda one: "%" in one
    ),
    Rule("PostHog key", "phx_", r"phx_[A-Za-z0-9]{40,}"),
    Rule("Vercel token", "vercel_ vcp_ vck_", r"(?:vercel_[a-z]{2,12}|vcp|vck)_[A-Za-z0-9]{24,}", check=_two_cases),
    Rule("Trello token", "ATTA", r"ATTA[0-9a-f]{60,}", apart=True),
    Rule("Asana token", "0/1 1/1 2/1", r"[012]/\d{13,20}(?:/\d{13,20})?:[0-9a-f]{32}", apart=True),
    Rule("SonarQube token", "sqp_ squ_ sqa_", r"sq[pua]_[0-9a-f]{40}", apart=True),
    Rule("Plaid token", "access-", rf"access-(?:production|sandbox|development)-{_UUID}", apart=True),
    Rule("Resend key", "re_", r"re_[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}", apart=True),
    Rule("ElevenLabs key", "sk_", r"sk_[0-9a-f]{40,}", apart=True),
    Rule("NVIDIA key", "nvapi-", r"nvapi-[\w-]{40,}"),
    Rule("Jina key", "jina_", r"jina_[A-Za-z0-9_-]{40,}"),
    Rule("Firecrawl key", "fc-", r"fc-[0-9a-f]{32}", apart=True),
    Rule("Pinecone key", "pcsk_", r"pcsk_\w{40,}"),
    Rule("Together key", "tgp_v1_", r"tgp_v1_[\w-]{30,}"),
    Rule("Azure DevOps token", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", apart=True),
    Rule("Akamai token", "akab-", r"akab-[a-z0-9]{16}-[a-z0-9]{16}"),
    Rule("Render key", "rnd_", r"rnd_[A-Za-z0-9]{28,}", apart=True),
    Rule("Deno token", "ddp_ ddo_", r"dd[po]_[A-Za-z0-9]{36}", apart=True),
    Rule("Neon key", "napi_", r"napi_[a-z0-9]{50,}"),
    Rule("LaunchDarkly key", "sdk- api-", rf"(?:sdk|api)-{_UUID}", apart=True),
    Rule("Typeform token", "tfp_", r"tfp_[\w.-]{40,}"),
    Rule("Salesforce token", "00D", r"00D[A-Za-z0-9]{12,15}![\w.]{60,}", apart=True),
    Rule("WooCommerce key", "ck_ cs_", r"c[ks]_[0-9a-f]{40}", apart=True),
    Rule("Amazon key", "amzn", rf"amzn(?:\.mws\.{_UUID}|1\.oa2-cs\.v1\.[0-9a-f]{{64}})"),
    Rule("Matrix token", "syt_", r"syt_[A-Za-z0-9+/=]{1,200}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}"),
    Rule("Dynatrace token", "dt0c01. dt0s01.", r"dt0[a-z]01\.[A-Z0-9]{24}\.[A-Z0-9]{60,}"),
    Rule("Octopus key", "API-", r"API-[A-Z0-9]{25,}", apart=True, check=strong),
    Rule("Yandex token", "y0_ AQVN", r"(?:y0_|AQVN)[\w-]{35,}", apart=True, check=_two_cases),
)


def found(text: str) -> Iterator[Span]:
    """Everything in a text that has a known format."""
    for rule in RULES:
        if rule.concerns(text):
            yield from rule.spans(text)
