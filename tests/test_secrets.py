"""Secrets are masked, all of them; what only looks like one is left alone; and nothing takes long."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from innocent_samples import INNOCENT
from secret_samples import Draw, Sample, blocks, formats, secrets

from mait_code.journal.errors import BadInput
from mait_code.journal.kinds import KINDS
from mait_code.journal.secret_formats import RULES
from mait_code.journal.secret_patterns import spans
from mait_code.journal.secret_signs import PREFIXES, suspicious
from mait_code.journal.secrets import clean, mask, mask_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRETS = secrets(1)


@pytest.mark.parametrize("sample", SECRETS, ids=lambda sample: sample.name)
def test_a_secret_is_masked(sample: Sample) -> None:
    assert sample.secret in sample.text
    masked, labels = mask(sample.text)
    assert sample.secret not in masked
    assert labels
    assert all(mask_of(label) in masked for label in labels)
    assert mask(masked) == (masked, [])


def test_there_are_many() -> None:
    assert len(SECRETS) >= 200
    assert len({sample.text for sample in SECRETS}) == len(SECRETS)
    assert len(INNOCENT) >= 200


@pytest.mark.parametrize("seed", range(2, 12))
def test_it_does_not_depend_on_what_was_drawn(seed: int) -> None:
    missed = [sample for sample in secrets(seed) if sample.secret in mask(sample.text)[0]]
    assert missed == []


def test_innocent_text_is_left_alone() -> None:
    """At most one in fifty may be masked by mistake."""
    changed = [(text, mask(text)[0]) for text in INNOCENT if mask(text)[0] != text]
    assert len(changed) <= len(INNOCENT) // 50, changed


def test_what_stands_around_a_secret_stays() -> None:
    key = formats(Draw(3))["GitHub classic"]
    assert mask(f"rotate {key}, please")[0] == "rotate [masked: github token], please"
    assert mask("DB_PASSWORD=hunter2\nDB_HOST=db")[0] == "DB_PASSWORD=[masked: password]\nDB_HOST=db"
    assert mask('{"token": "a1b2c3d4e5f6g7h8", "n": 1}')[0] == '{"token": "[masked: token]", "n": 1}'
    assert mask("https://me:hunter2@example.com/x")[0] == "https://me:[masked: password]@example.com/x"
    name, text, _line = blocks(Draw(3))[0]
    assert mask(text)[0] == "here it is:\n[masked: private key]\nkeep it safe", name


@pytest.mark.parametrize("hidden", ["\u200b", "\u00ad", "\u2060", "\ufeff", "\0"])
def test_what_is_not_seen_hides_nothing(hidden: str) -> None:
    draw = Draw(4)
    key = formats(draw)["GitHub classic"]
    broken = hidden.join((key[:2], key[2:9], key[9:]))
    masked, labels = mask(f"a\u200b {broken} b \u200d")
    assert masked == "a\u200b [masked: github token] b \u200d"
    assert labels == ["GitHub token"]
    assert mask(f"pass{hidden}word: {draw.password()}")[0] == f"pass{hidden}word: [masked: password]"


def test_long_secrets_are_masked_to_their_end() -> None:
    draw = Draw(5)
    for text in (
        f"token={draw.word(3000)}",
        f"xoxb-{draw.word(3000)}",
        f'api_key: "{draw.word(3000)}"',
        draw.jwt() * 20,
    ):
        masked, _labels = mask(f"{text} end")
        assert masked.replace('"', "").endswith("] end")
        assert len(masked) < 60


# -- finding out quickly ----------------------------------------------------------------------------------------------


def test_every_known_format_is_looked_for() -> None:
    for rule in RULES:
        for prefix in rule.prefixes:
            assert any(sign in prefix for sign in PREFIXES), (rule.label, prefix)


def test_plain_text_loads_no_pattern() -> None:
    program = (
        "import sys; from mait_code.journal.secrets import clean; from mait_code.journal.kinds import KINDS\n"
        "for text in sys.argv[1:]: assert clean(KINDS['inbox.captured'], {'body': text}) == ({'body': text}, [])\n"
        "print(*sorted(name for name in sys.modules if name.startswith('mait_code.journal.')))"
    )
    texts = [
        "call the bank about the card",
        "fix the token refresh of the login page",
        "Don't forget: rotate the keys on Monday (all of them)",
        "see https://example.com/a/b/pull/123 and src/components/authentication.py",
        "the private part of the class; passing tests; a basic idea",
    ]
    done = subprocess.run([sys.executable, "-c", program, *texts], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}
    assert {"secrets", "secret_signs"} <= loaded
    assert loaded & {"secret_patterns", "secret_formats", "secret_assignments", "secret_places", "private"} == set()


def test_the_quick_look_overlooks_nothing() -> None:
    for text in [*INNOCENT, *(sample.text for seed in range(20, 24) for sample in secrets(seed))]:
        assert suspicious(text) or not spans(text), text


# -- time -------------------------------------------------------------------------------------------------------------

#: What patterns like these stumble over: beginnings of theirs, without end.
BEGINNINGS = (
    *("password=", "password: ", "password='", "api_key=", "secret: a", "token => ", "pass for a ", "--password "),
    *("sk-", "sk-a1", "eyJ", "eyJa.", "xoxb-", "AKIA", "SG.", "MT", "1:AA", "-us1", "A" * 20 + "%", "0123456789abcdef"),
    *("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nabc ", "-----END PRIVATE KEY-----", "://", "://a:"),
    *("://a:b@", "?key=", "authorization: bearer ", "bearer ", "basic ", "cookie: a=", "curl -u ", "login ", "mysql "),
    *("<private>", "</private>", "<private", "&lt;private", "\\u003c", "\u200b", "p\u200bassword=", "İpassword=", "\n"),
)


@pytest.mark.slow
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_whole_line_of_beginnings_takes_no_longer_than_its_length(beginning: str) -> None:
    """Twice the square would be minutes; the bound leaves room for a slow machine."""
    text = (beginning * (256 * 1024 // len(beginning) + 1))[: 256 * 1024]
    started = time.process_time()
    clean(KINDS["card.edited"], {"title": "x", "description": text})
    assert time.process_time() - started < 15


# -- any text ---------------------------------------------------------------------------------------------------------

_SECRET_VALUES = sorted({sample.secret for sample in secrets(77)})
_PIECES = st.one_of(
    st.sampled_from([sample.text for sample in SECRETS]),
    st.sampled_from(INNOCENT),
    st.sampled_from(
        ["password=", "token: ", '"', "'", "\n", " ", "://", "@", "=", "[masked: key]", "\\n", "Bearer ", "-"]
    ),
    st.text(max_size=12),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_PIECES, max_size=8).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    masked, _labels = mask(text)
    assert mask(masked) == (masked, [])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SECRETS), st.text(max_size=40), st.text(max_size=40))
def test_a_secret_is_masked_wherever_it_stands(sample: Sample, before: str, after: str) -> None:
    masked, labels = mask(f"{before}\n{sample.text}\n{after}")
    assert sample.secret not in masked
    assert labels


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(SECRETS), min_size=1, max_size=5))
def test_several_secrets_in_one_text(samples: list[Sample]) -> None:
    masked, _labels = mask("\n\n".join(sample.text for sample in samples))
    assert [sample.name for sample in samples if sample.secret in masked] == []


# -- the data of events -----------------------------------------------------------------------------------------------


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from texts_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_of(inner)
    elif isinstance(value, str):
        yield value


def test_every_text_in_the_data_is_masked() -> None:
    draw = Draw(6)
    key, password = formats(draw)["GitHub classic"], draw.password()
    data = {"by": {"session": key, "list": ["a", key, {"deep": f"x {key}"}], "password": password, key: 1}, "n": 3}
    cleaned, notes = clean(KINDS["card.bound"], data)
    assert not any(key in text or password in text for text in texts_of(cleaned))
    assert cleaned["by"]["list"][0] == "a"
    assert cleaned["by"]["password"] == "[masked: password]"
    assert cleaned["n"] == 3
    assert len(notes) == 1
    assert key not in notes[0]
    assert password not in notes[0]


def test_ids_and_enumerations_pass() -> None:
    for kind, data in (
        ("card.moved", {"column": "done"}),
        ("card.comment_deleted", {"comment": "6f1c0b7e9a2d4c5e8b10"}),
        ("card.restored", {"register": "comment:6f1c0b7e9a2d4c5e8b10"}),
        ("inbox.done", {"outcome": "card", "ref": "card/kfhq2m9xt47w"}),
        ("reminder.set", {"what": "x", "when": {"due": "2026-12-01T09:00", "zone": "Europe/Berlin"}}),
        ("card.bound", {"by": {"session": "c42ab26b-91a7-4c1e-8a55-0d6f1f0b2a11"}}),
    ):
        assert clean(KINDS[kind], data) == (data, [])


def test_the_notes_say_what_and_where() -> None:
    key = formats(Draw(7))["GitHub classic"]
    _, (note,) = clean(KINDS["inbox.captured"], {"body": f"here: {key}"})
    assert note.startswith("the text held what looks like a secret (GitHub token)")
    assert "[masked: github token]" in note
    assert "--allow-secret" in note
    _, (note,) = clean(KINDS["reminder.set"], {"what": f"{key} and password=hunter2 and password=hunter3"})
    assert note.startswith("the text held what looks like 3 secrets (GitHub token, password)")


def test_allowed_secrets_stay_and_private_text_does_not() -> None:
    data = {"body": "password=hunter2 <private>x</private>"}
    assert clean(KINDS["inbox.captured"], data, allow_secret=True) == (
        {"body": "password=hunter2"},
        ["private text was left out of the text"],
    )


def test_verbatim_fields_are_not_looked_at() -> None:
    data = {"label": "password=hunter2", "value": "password=hunter2"}
    cleaned, notes = clean(KINDS["card.referenced"], data, verbatim=("label",))
    assert cleaned == {"label": "password=hunter2", "value": "password=[masked: password]"}
    assert len(notes) == 1


def test_a_required_text_that_is_all_private_is_refused() -> None:
    with pytest.raises(BadInput, match="the title is all private"):
        clean(KINDS["card.created"], {"title": "<private>x</private>", "description": "y"})
    cleaned, notes = clean(KINDS["card.created"], {"title": "y", "description": " <private>x</private> "})
    assert cleaned == {"title": "y"}
    assert notes == ["the description was all private and is not stored"]
    with pytest.raises(BadInput, match="nothing is left to store"):
        clean(KINDS["card.edited"], {"description": "<private>x"})
