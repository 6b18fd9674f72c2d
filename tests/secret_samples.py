"""Secrets as people paste them.

The random parts are drawn from a seed when the tests run, so that nothing in the repository is a secret to a scanner.
"""

from __future__ import annotations

import base64
import random
import string
from typing import NamedTuple

__all__ = ["Draw", "Sample", "blocks", "formats", "secrets"]


class Sample(NamedTuple):
    """A text, and the secret in it that must be gone afterwards."""

    name: str
    text: str
    secret: str


class Draw:
    """Random strings of the alphabets that keys are made of. Each holds capitals, small letters and digits where its
    alphabet has them, as real ones do."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of(self, alphabet: str, length: int) -> str:
        kinds = [set(alphabet) & set(kind) for kind in (string.ascii_uppercase, string.ascii_lowercase, string.digits)]
        while True:
            drawn = "".join(self._random.choices(alphabet, k=length))
            if length < 8 or all(not kind or kind & set(drawn) for kind in kinds):
                return drawn

    def choice(self, items: list[str]) -> str:
        return self._random.choice(items)

    def number(self, digits: int) -> str:
        return self._random.choice("123456789") + self.of(string.digits, digits - 1)

    def hex(self, length: int) -> str:
        return self.of("0123456789abcdef", length)

    def word(self, length: int) -> str:
        return self.of(string.ascii_letters + string.digits, length)

    def upper(self, length: int) -> str:
        return self.of(string.ascii_uppercase + string.digits, length)

    def lower(self, length: int) -> str:
        return self.of(string.ascii_lowercase + string.digits, length)

    def url(self, length: int) -> str:
        """base64 of URLs, with a letter or digit at either end so that it is a word of its own."""
        return self.word(8) + self.of(string.ascii_letters + string.digits + "-_", length - 9) + self.word(1)

    def base64(self, size: int) -> str:
        return base64.b64encode(self._random.randbytes(size)).decode()

    def uuid(self) -> str:
        return "-".join(self.hex(length) for length in (8, 4, 4, 4, 12))

    def jwt(self) -> str:
        head = _encoded('{"alg":"HS256","typ":"JWT"}')
        body = _encoded(f'{{"sub":"{self.number(10)}","iat":1760000000}}')
        return f"{head}.{body}.{self.url(43)}"

    def lines(self, count: int, width: int = 64) -> list[str]:
        return [self.base64(width // 4 * 3) for _ in range(count)] + [self.base64(24)]

    def password(self) -> str:
        return self.word(4) + self.choice(list("!#%+*?")) + self.word(7)


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def formats(draw: Draw) -> dict[str, str]:
    """One key of each service, by the service's name."""
    return {
        "AWS access key": "AKIA" + draw.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        "AWS temporary key": "ASIA" + draw.of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
        "GitHub classic": "ghp_" + draw.word(36),
        "GitHub OAuth": "gho_" + draw.word(36),
        "GitHub server": "ghs_" + draw.word(36),
        "GitHub refresh": "ghr_" + draw.word(76),
        "GitHub fine-grained": f"github_pat_{draw.word(22)}_{draw.word(59)}",
        "GitLab personal": "glpat-" + draw.url(20),
        "GitLab routable": f"glpat-{draw.url(51)}.01.{draw.lower(9)}",
        "GitLab runner": "glrt-" + draw.url(20),
        "GitLab trigger": "glptt-" + draw.hex(40),
        "Slack bot": f"xoxb-{draw.number(12)}-{draw.number(13)}-{draw.word(24)}",
        "Slack user": f"xoxp-{draw.number(12)}-{draw.number(12)}-{draw.number(13)}-{draw.hex(32)}",
        "Slack app": f"xapp-1-{draw.upper(11)}-{draw.number(13)}-{draw.hex(64)}",
        "Slack rotating": f"xoxe.xoxp-1-{draw.word(160)}",
        "Slack webhook": f"https://hooks.slack.com/services/T{draw.upper(10)}/B{draw.upper(10)}/{draw.word(24)}",
        "Stripe live": "sk_live_" + draw.word(24),
        "Stripe test": "sk_test_" + draw.word(99),
        "Stripe restricted": "rk_live_" + draw.word(40),
        "Stripe webhook": "whsec_" + draw.word(32),
        "OpenAI old": f"sk-{draw.word(20)}T3BlbkFJ{draw.word(20)}",
        "OpenAI project": f"sk-proj-{draw.url(74)}T3BlbkFJ{draw.url(74)}",
        "OpenAI service": f"sk-svcacct-{draw.url(58)}",
        "Anthropic": f"sk-ant-api03-{draw.url(93)}AA",
        "Anthropic OAuth": f"sk-ant-oat01-{draw.url(93)}AA",
        "OpenRouter": "sk-or-v1-" + draw.hex(64),
        "DeepSeek": "sk-" + draw.hex(32),
        "Google API": "AIza" + "SyD" + draw.url(32),
        "Google client secret": "GOCSPX-" + draw.url(28),
        "Google access": "ya29.a0" + draw.url(150),
        "Google refresh": "1//0g" + draw.url(98),
        "Firebase": f"AAAA{draw.url(7)}:APA91b{draw.url(134)}",
        "npm": "npm_" + draw.word(36),
        "PyPI": "pypi-AgEIcHlwaS5vcmcC" + draw.url(140),
        "Twilio": "SK" + draw.hex(32),
        "SendGrid": f"SG.{draw.url(22)}.{draw.url(43)}",
        "Telegram": f"{draw.number(10)}:AA{draw.url(33)}",
        "Discord bot": f"{_encoded('1' + draw.number(17))}.{draw.word(6)}.{draw.url(38)}",
        "Discord webhook": f"https://discord.com/api/webhooks/{draw.number(18)}/{draw.url(68)}",
        "Azure client secret": f"{draw.word(3)}8Q~{draw.word(34)}",
        "DigitalOcean": "dop_v1_" + draw.hex(64),
        "Heroku": "HRKU-" + draw.url(60),
        "Mailgun": "key-" + draw.hex(32),
        "Mailchimp": draw.hex(32) + "-us14",
        "Cloudflare origin": f"v1.0-{draw.hex(24)}-{draw.hex(146)}",
        "Cloudflare token": "cfut_" + draw.word(48),
        "Hugging Face": "hf_" + draw.of(string.ascii_letters, 34),
        "Databricks": f"dapi{draw.hex(32)}-2",
        "Shopify": "shpat_" + draw.hex(32),
        "Shopify secret": "shpss_" + draw.hex(32),
        "Square": "sq0atp-" + draw.url(22),
        "Square production": "EAAA" + draw.word(60),
        "Facebook": "EAA" + draw.word(180),
        "Dropbox": "sl.u." + draw.url(180),
        "Atlassian": f"ATATT3xFfGF0{draw.url(170)}={draw.upper(8)}",
        "Bitbucket": "ATBB" + draw.word(32),
        "New Relic": "NRAK-" + draw.upper(27),
        "JWT": draw.jwt(),
        "age": "AGE-SECRET-KEY-1" + draw.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
        "Vault": "hvs." + draw.url(95),
        "Doppler": "dp.pt." + draw.word(43),
        "Linear": "lin_api_" + draw.word(40),
        "Notion": "ntn_" + draw.word(46),
        "Notion old": "secret_" + draw.word(43),
        "Figma": "figd_" + draw.url(40),
        "Airtable": f"pat{draw.word(14)}.{draw.hex(64)}",
        "HubSpot": "pat-na1-" + draw.uuid(),
        "Brevo": f"xkeysib-{draw.hex(64)}-{draw.word(16)}",
        "Postman": f"PMAK-{draw.hex(24)}-{draw.hex(34)}",
        "RubyGems": "rubygems_" + draw.hex(48),
        "NuGet": "oy2" + draw.lower(43),
        "crates.io": "cio" + draw.word(32),
        "Docker Hub": "dckr_pat_" + draw.url(27),
        "Terraform": f"{draw.word(14)}.atlasv1.{draw.url(67)}",
        "Pulumi": "pul-" + draw.hex(40),
        "Fly.io": "fo1_" + draw.url(43),
        "Supabase": "sbp_" + draw.hex(40),
        "PlanetScale": "pscale_tkn_" + draw.url(43),
        "Netlify": "nfp_" + draw.word(36),
        "Sentry": "sntrys_" + draw.base64(90),
        "Grafana": f"glsa_{draw.word(32)}_{draw.hex(8)}",
        "Replicate": "r8_" + draw.word(37),
        "Groq": "gsk_" + draw.word(52),
        "xAI": "xai-" + draw.word(80),
        "Perplexity": "pplx-" + draw.word(48),
        "Tavily": "tvly-dev-" + draw.word(32),
        "LangSmith": f"lsv2_pt_{draw.hex(32)}_{draw.hex(10)}",
        "Alibaba": "LTAI5t" + draw.word(18),
        "Tencent": "AKID" + draw.word(32),
        "CircleCI": f"CCIPAT_{draw.word(22)}_{draw.hex(40)}",
        "Buildkite": "bkua_" + draw.hex(40),
        "Tailscale": f"tskey-auth-{draw.word(12)}CNTRL-{draw.word(32)}",
        "Artifactory": "AKCp" + draw.word(69),
        "Braintree": f"access_token$production${draw.lower(16)}${draw.hex(32)}",
        "EasyPost": "EZAK" + draw.word(54),
        "Shippo": "shippo_live_" + draw.hex(40),
        "Sourcegraph": f"sgp_{draw.hex(16)}_{draw.hex(40)}",
        "Contentful": "CFPAT-" + draw.url(43),
        "Intercom": base64.b64encode(f"tok:{draw.hex(8)}_{draw.hex(4)}_{draw.hex(24)}:1:0".encode()).decode(),
        "PostHog": "phx_" + draw.word(43),
        "Prefect": "pnu_" + draw.lower(36),
        "Twitter": "A" * 22 + draw.word(40) + "%2F" + draw.word(20) + "%3D" + draw.word(30),
        "Zapier": f"https://hooks.zapier.com/hooks/catch/{draw.number(7)}/{draw.lower(7)}/",
    }


#: How a key comes into a text.
SENTENCES = (
    "{}",
    "the key is {}",
    "Please rotate {}, it was in the log of Tuesday.",
    "export SERVICE={}",
    'client = Client("{}")',
    "- {}\n- and call the bank",
    "(see {})",
    "\\n{}\\n",
    "{}.",
    "use `{}` until Friday",
    "https://example.com/hook?x={}&y=1",
)


def assignments(draw: Draw) -> list[tuple[str, str]]:
    """(text with {} in it, secret) of values that have no form of their own."""
    return [
        ("DB_PASSWORD={}", draw.password()),
        ("DB_PASSWORD={}", "swordfish"),
        ("POSTGRES_PASSWORD={}\nPOSTGRES_USER=app", draw.word(12)),
        ("export MYSQL_PWD='{}'", draw.password()),
        ("SECRET_KEY_BASE={}", draw.hex(128)),
        ('SECRET_KEY = "{}"', draw.of(string.ascii_lowercase + string.digits + "!@#$%^&*(-_=+)", 50)),
        ("JWT_SECRET={}", draw.base64(32)),
        ("API_KEY={}", draw.word(32)),
        ("api_key: {}", draw.hex(32)),
        ("api-key = {}", draw.lower(24)),
        ('"apiKey": "{}"', draw.word(20)),
        ('{{"token": "{}"}}'.replace("{{", "{").replace("}}", "}"), draw.url(40)),
        ('{"client_secret":"{}","client_id":"web"}', draw.url(36)),
        ('{"access_token":"{}","token_type":"bearer","expires_in":3600}', draw.url(64)),
        ('{\\"password\\": \\"{}\\"}', draw.password()),
        ('{"name": "DB_PASSWORD", "value": "{}"}', draw.password()),
        ("- name: DB_PASSWORD\n  value: {}\n", draw.password()),
        ("aws_secret_access_key = {}", draw.base64(30)),
        ("AWS_SECRET_ACCESS_KEY={}", draw.base64(30)),
        ("aws_session_token={}", draw.base64(120)),
        ("the AWS secret that goes with it: {}", draw.base64(30)),
        ("my password is {}", draw.password()),
        ("password: {}", "hunter2"),
        ("Password: {}", draw.password()),
        ("passwd: {}", draw.word(10)),
        ("passphrase: {}", draw.word(18)),
        ("passphrase = '{}'", "correct-horse-battery-staple"),
        ("the root password for the staging box is {}", draw.password()),
        ("Password (old): {}", draw.password()),
        ("Kennwort: {}", draw.password()),
        ("Passwort: {}", "Sommer2024"),
        ("mot de passe : {}", draw.password()),
        ("contraseña: {}", draw.password()),
        ("密码：{}", draw.password()),
        ("**Password:** `{}`", draw.password()),
        ("| password | {} |", draw.password()),
        ("wifi password:\n{}", draw.password()),
        ("login with --password {} please", draw.password()),
        ("gh auth login --token {}", draw.hex(40)),
        ("sshpass -p '{}' ssh root@10.0.0.7", draw.password()),
        ("mysql -u root -p{} shop", draw.word(12)),
        ("docker login -u ci -p {} registry.example.com", draw.word(20)),
        ("curl -u admin:{} https://example.com/api", draw.password()),
        ("curl --user 'admin:{}' https://example.com/api", "swordfish"),
        ("machine example.com login ci password {}", draw.word(16)),
        ("ENV ADMIN_PASSWORD {}", draw.password()),
        ("ALTER USER app IDENTIFIED BY '{}';", draw.password()),
        ("CREATE ROLE app WITH LOGIN PASSWORD '{}';", draw.word(14)),
        ("<password>{}</password>", draw.word(14)),
        ('<add key="SmtpPassword" value="{}" />', draw.word(14)),
        ('<user name="ci" password="{}"/>', draw.word(14)),
        ("Server=db;Database=shop;User Id=sa;Password={};Encrypt=true", draw.word(14)),
        ("jdbc:postgresql://db/shop?user=app&password={}&ssl=true", draw.word(14)),
        ("DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};", draw.base64(64)),
        ("Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={}", draw.base64(32)),
        ("https://x.blob.core.windows.net/c?sv=2024-08-04&se=2026-01-01&sig={}", draw.base64(32).replace("+", "%2B")),
        ("https://b.s3.amazonaws.com/k?X-Amz-Date=20260101T000000Z&X-Amz-Signature={}", draw.hex(64)),
        ("https://maps.example.com/js?key={}", draw.word(32)),
        ("https://example.com/cb?access_token={}&state=1", draw.url(40)),
        ("https://example.com/reset?token={}", draw.hex(40)),
        ("postgres://app:{}@db.example.com:5432/shop", draw.word(16)),
        ("postgresql+psycopg://app:{}@localhost/shop", "s3cret"),
        ("redis://:{}@cache:6379/0", draw.word(20)),
        ("mongodb+srv://root:{}@cluster0.abcde.mongodb.net", "p%40ssw0rd"),
        ("amqp://guest:{}@mq:5672//", draw.password().replace("?", "!").replace("#", "!")),
        ("https://ci:{}@git.example.com/team/app.git", draw.word(30)),
        ("https://{}@git.example.com/team/app.git", draw.hex(40)),
        ("git clone https://oauth2:{}@gitlab.example.com/a/b", draw.word(20)),
        ("smtp://mail:{}@mail.example.com:587", "tr/ic@ky1"),
        ("Authorization: Bearer {}", draw.url(40)),
        ("authorization: bearer {}", draw.lower(24)),
        ("Authorization: Basic {}", base64.b64encode(b"user:pass").decode()),
        ("Authorization: token {}", draw.hex(40)),
        ("Authorization: Bot {}", draw.url(59)),
        ("curl -H 'Authorization: Bearer {}' https://example.com", draw.url(30)),
        ('curl -H "Authorization: ApiKey {}" https://example.com', draw.base64(30)),
        ('{"headers": {"Authorization": "Bearer {}"}}', draw.url(30)),
        ('"headers": {\\"Authorization\\": \\"Bearer {}\\"}', draw.url(30)),
        ("Proxy-Authorization: Basic {}", base64.b64encode(f"ci:{draw.word(12)}".encode()).decode()),
        ("Authorization: {}", draw.word(40)),
        ("X-Api-Key: {}", draw.word(40)),
        ("-H 'X-Auth-Token: {}'", draw.hex(32)),
        ("PRIVATE-TOKEN: {}", draw.url(20)),
        ("send it as Bearer {} then", draw.url(32)),
        ("Cookie: sessionid={}; theme=dark", draw.lower(32)),
        ("Set-Cookie: connect.sid=s%3A{}; Path=/; HttpOnly", draw.word(40)),
        ("//registry.example.com/:_authToken={}", draw.uuid()),
        ("HEROKU_API_KEY={}", draw.uuid()),
        ("DD_API_KEY={}", draw.hex(32)),
        ("datadog app key: {}", draw.hex(40)),
        ("CLOUDFLARE_API_TOKEN={}", draw.url(40)),
        ("TWILIO_AUTH_TOKEN={}", draw.hex(32)),
        ("MAILGUN_API_KEY='{}'", f"{draw.hex(32)}-{draw.hex(8)}-{draw.hex(8)}"),
        ("VERCEL_TOKEN={}", draw.word(24)),
        ('{"auths": {"registry.example.com": {"auth": "{}"}}}', base64.b64encode(b"ci:Xy7kQ2mPz1").decode()),
        ("client-key-data: {}", base64.b64encode(_block(draw, "RSA PRIVATE KEY").encode()).decode()),
        ("const password = '{}';", draw.password()),
        ('const apiKey: string = "{}";', draw.word(24)),
        ('password: str = "{}"', draw.password()),
        ('os.environ["API_TOKEN"] = "{}"', draw.word(24)),
        ('config.set("password", "{}")', draw.password()),
        ('.withPassword("{}")', draw.password()),
        ('var token string = "{}"', draw.hex(24)),
        ('$password = "{}";', draw.password()),
        ("my_secret := `{}`", draw.word(20)),
        ("token => '{}'", draw.hex(20)),
        ("spring.datasource.password={}", draw.word(12)),
        ("encryption_key: {}", draw.base64(32)),
        ("signing key = {}", draw.hex(64)),
        ("PrivateKey = {}", draw.base64(32)),
        ("the new token: {}", draw.url(30)),
        ("set the api key to {} and restart", draw.word(32)),
        ("credentials: {}", "admin:" + draw.password()),
        ("pw: {}", draw.password()),
        ("pass: {}", draw.password()),
        ("GMAIL_APP_PASSWORD='{}'", "abcd efgh ijkl mnop"),
        ("seed phrase: {}", " ".join(["ozone", "drill", "grab", "fiber", "curtain", "grace"] * 2)),
        ("token%3D{}%26x%3D1", draw.hex(40)),
        ('{"password"\\u003d"{}"}', draw.password()),
        ('password=\\"{}\\"', draw.password()),
        ("twilio auth token {}", draw.hex(32)),
        ("my api key {} works", draw.word(32)),
        ("use password {} for it", "Tr0ub4dor&3"),
        ("APP_KEY=base64:{}", draw.base64(32)),
        ("SENTRY_DSN=https://{}@o1.ingest.sentry.io/12", draw.hex(32)),
        ("data:\n  password: {}\n", "cGFzc3dvcmQxMjM="),
        ("_auth={}", "dXNlcjpwYXNz"),
        ("mongosh -u admin -p {} db", draw.password()),
        ("redis-cli -h x -a {} ping", draw.word(14)),
        ("openssl -passin pass:{}", "hunter2"),
        ("unzip -P {} a.zip", draw.word(9)),
        ("private key: {}", "0x" + draw.hex(64)),
        ("DB_PASS={}", "root"),
        ("SMTP_PASS={}", "letmein"),
        ("password: &quot;{}&quot;", draw.password()),
        ('"password": "{}"', 'ab\\"cd12x'),
        ("PGPASSWORD={} psql -h db", draw.word(9)),
        ("token: s.{}", draw.word(24)),
        ("passcode {}", "48X2-9QpL"),
        ("COOKIE_SECRET={}", draw.word(20)),
        ("TOKEN = '{}'", draw.word(20)),
        ("secret={}", draw.hex(20)),
        ("vault token: hvs.{}", draw.url(24)),
        ("OPENAI_API_KEY: sk-{}", draw.word(48)),
        ("http://user:{}@proxy:3128", "p4ss"),
        ("Password = {}", "Winter2023!"),
        ("login: admin password: {}", "Admin#2024"),
        ("secret access key {}", draw.base64(30)),
        ("key id AKIA{}", draw.upper(16)),
        ("bearer_token={}", draw.url(30)),
        ("access token {} expires", draw.url(40)),
        ("refresh_token: {}", draw.url(40)),
        ("id_token={}", draw.jwt()),
        ("webhook secret is {}", draw.word(32)),
        ("the wifi password is {}", "Blumen-Wiese-77"),
        ("the passphrase is {}", "tulip-anchor-velvet-97"),
        ("pwd={}", "qwerty123"),
        ("TOKEN:{}", draw.hex(40)),
        ("Token {}", draw.hex(40)),
        ('"secretKey" : "{}"', draw.base64(30)),
        ("clientSecret={}", draw.url(40)),
        ("client secret: {}", draw.url(40)),
        ("'api_secret' => '{}'", draw.word(30)),
        ("api_secret_key: {}", draw.word(30)),
        ("consumer_secret={}", draw.word(50)),
        ("oauth_token_secret={}", draw.word(45)),
        ("password\n: {}", draw.password()),
        ("X-API-KEY:{}", draw.word(30)),
        ("JDBC_URL=jdbc:mysql://db/x?user=u&password={}", draw.word(12)),
        ("amqps://u:{}@h/v", draw.word(12)),
        ("snowflake://u:{}@acc/db", draw.word(12)),
        ("ftp://u:{}@h", draw.word(8)),
        ("sqlserver://sa:{}@db:1433;database=x", "Str0ng;Pass@1"),
        ("rediss://default:{}@x.upstash.io:6379", draw.word(40)),
        ("export default {{ apiKey: '{}' }}".replace("{{", "{").replace("}}", "}"), draw.word(28)),
        ("authToken: {}", draw.word(28)),
        ("AuthKey={}", draw.word(28)),
        ("auth_token={}", draw.word(28)),
        ("encryptionKey: '{}'", draw.hex(32)),
        ("masterPassword: {}", draw.password()),
        ("sudo password: {}", draw.password()),
        ("password of admin = {}", draw.password()),
    ]


def _block(draw: Draw, what: str, end: bool = True, gap: str = "\n") -> str:
    rows = [f"-----BEGIN {what}-----", *draw.lines(6), *([f"-----END {what}-----"] if end else [])]
    return gap.join(rows) + gap


def blocks(draw: Draw) -> list[tuple[str, str, str]]:
    """(name, text, a line of the key) of private keys in their blocks."""
    found: list[tuple[str, str, str]] = []
    kinds = ["RSA PRIVATE KEY", "PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY"]
    for what in [*kinds, "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]:
        text = f"here it is:\n{_block(draw, what)}keep it safe"
        found.append((what, text, text.split("\n")[3]))
    for name, gap in (
        ("JSON", "\\n"),
        ("JSON twice", "\\\\n"),
        ("one line", " "),
        ("CRLF", "\r\n"),
        ("quoted", "\n> "),
    ):
        text = f'"private_key": "{_block(draw, "PRIVATE KEY", gap=gap)}"'
        found.append((name, text, text.split(gap)[2]))
        text = f"it broke off: {_block(draw, 'PRIVATE KEY', end=False, gap=gap)}"
        found.append((f"{name}, without its end", text, text.split(gap)[-3]))
    text = "\n".join([*draw.lines(5), "-----END RSA PRIVATE KEY-----", "and more"])
    found.append(("without its beginning", text, text.split("\n")[1]))
    head = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011223344556677\n\n"
    text = head + "\n".join(draw.lines(4)) + "\nand then the rest"
    found.append(("with header fields, without its end", text, text.split("\n")[5]))
    text = (
        "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n"
        + "\n".join(draw.lines(4))
        + "\n---- END SSH2 ENCRYPTED PRIVATE KEY ----"
    )
    found.append(("SSH2", text, text.split("\n")[2]))
    rows = [
        "PuTTY-User-Key-File-3: ssh-ed25519",
        "Encryption: none",
        "Comment: me",
        "Private-Lines: 1",
        draw.base64(36),
    ]
    found.append(("PuTTY", "\n".join([*rows, f"Private-MAC: {draw.hex(64)}"]), rows[4]))
    return found


def secrets(seed: int = 1) -> list[Sample]:
    """Every kind of secret, each in a text."""
    draw = Draw(seed)
    found = []
    for number, (name, key) in enumerate(formats(draw).items()):
        for sentence in ("{}", SENTENCES[1 + number % (len(SENTENCES) - 1)]):
            # What follows a webhook's address is no longer part of it.
            secret = key.rstrip("/")
            found.append(Sample(f"{name} in {sentence[:12]!r}", sentence.replace("{}", key), secret))
    for text, secret in assignments(draw):
        found.append(Sample(text.replace("\n", " ")[:50], text.replace("{}", secret), secret))
    for name, text, line in blocks(draw):
        found.append(Sample(f"block: {name}", text, line.strip("> \r")))
    return found
