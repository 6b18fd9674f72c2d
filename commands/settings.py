"""Settings as people see and change them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from mait_code.commands import settings_derived
from mait_code.commands.output import path_text
from mait_code.journal import settings
from mait_code.journal.errors import BadInput, NotFound, Refused
from mait_code.journal.home import Home

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "WEIGHTS",
    "Change",
    "change",
    "change_data_dir",
    "change_weights",
    "derived",
    "held",
    "listing",
    "masked",
    "one",
    "variables",
    "weights",
]

#: Settings that say together how the classic ranking weighs: they sum to 1.
WEIGHTS = ("score-weight-recency", "score-weight-importance", "score-weight-relevance")
#: How far from 1 their sum may be: three decimals of each are as many as anybody writes.
_NEARLY = 0.0015

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_SECRET_WORDS = ("SECRET", "TOKEN", "PASSWORD", "PASSWD", "KEY", "CREDENTIAL")
_ENV = "env."


class Change:
    """What a change did: the values in force before and after, and what the user should know about it."""

    __slots__ = ("after", "before", "key", "notes", "source")

    def __init__(self, key: str, before: object, after: object, source: str, notes: list[str]) -> None:
        self.key = key
        self.before = before
        self.after = after
        self.source = source
        self.notes = notes


def listing() -> list[dict[str, Any]]:
    """Every setting with its value, source, default and what it accepts, in the registry's order."""
    return [one(entry.key) for entry in settings.REGISTRY]


def one(key: str) -> dict[str, Any]:
    """One setting, or one variable as env.NAME. Raises NotFound."""
    if key.startswith(_ENV):
        held = settings.extra_environment().get(key[len(_ENV) :])
        if held is None:
            raise NotFound(f"{key} is not set in settings.toml", "mait-code settings list shows what is")
        return {"key": key, "value": masked(key[len(_ENV) :], held), "source": "settings"}
    derived = settings_derived.one(key)
    if derived is not None:
        return {**derived, "value": _shown(derived["value"])}
    entry = settings.setting(key)
    resolved = settings.resolve(key)
    return {
        "key": key,
        "value": _shown(resolved.value),
        "source": resolved.source,
        "default": _shown(settings.default(entry)),
        "help": entry.help,
        "unit": entry.unit,
        "accepts": entry.accepts,
        "requires_migration": bool(entry.needs),
    }


def derived() -> list[dict[str, Any]]:
    """What follows from the settings, and can only be read."""
    return [{**found, "value": _shown(found["value"])} for found in settings_derived.listing()]


def held(key: str) -> str | None:
    """What settings.toml says of a key or of env.NAME, as text that `change` takes; None where it says nothing."""
    said = (
        settings.extra_environment().get(key[len(_ENV) :])
        if key.startswith(_ENV)
        else settings.contents().values.get(key)
    )
    return None if said is None else str(said)


def _shown(value: object) -> object:
    return path_text(value) if isinstance(value, str) else value


def variables() -> dict[str, str]:
    """The variables of the [env] table, those that look secret masked."""
    return {name: masked(name, held) for name, held in settings.extra_environment().items()}


def masked(name: str, held: str) -> str:
    """The value of a variable, cut to its last four characters where the name says that it is secret."""
    if not any(word in name.upper() for word in _SECRET_WORDS):
        return held
    return "****" + (held[-4:] if len(held) > 8 else "")


def change(key: str, raw: str | None) -> Change:
    """Write one key, or take it out where `raw` is None: the default, or the environment, is in force again.

    `env.NAME` is a variable of the [env] table. Raises NotFound for an unknown key, BadInput for a value that it does
    not take, Refused where the file is not TOML (rewriting it would lose what is there), and DiskRefused.
    """
    if key.startswith(_ENV):
        return _change_variable(key, raw)
    from mait_code.commands import settings_file  # tomlkit costs more than everything that only reads

    if raw is None and key in settings.contents().unknown:
        settings_file.edit(lambda document: document.pop(key, None))
        return Change(key, "", "", "", [])
    settings_derived.refuse(key)
    entry = settings.setting(key)
    new = None if raw is None else entry.parse(raw)
    if entry.kind == "path" and isinstance(new, str):
        new = path_text(os.path.abspath(settings.native_path(new)))
    _check(key, new)
    if key == "bridge" and new == "enabled":
        from mait_code.commands import bridge_config

        bridge_config.read().require()
    before = settings.value(key)
    if new is None:
        settings_file.edit(lambda document: document.pop(key, None))
    else:
        settings_file.put(key, new)
    after = settings.resolve(key)
    wins = after.source == "env" and new is not None
    notes = [f"{entry.variable} is set and wins: {_shown(after.value)} stays in force here"] if wins else []
    if after.value != before:
        notes += _about_hooks(key)
    return Change(key, _shown(before), _shown(after.value), after.source, notes)


def _check(key: str, new: object) -> None:
    """Raise BadInput where a value is text as it should be, and means nothing all the same."""
    if new is None:
        return
    if key == "capture-by-project":
        from mait_code.commands.capture import policy

        policy.check(key, str(new))
    elif key in ("mode", "mode-by-project"):
        from mait_code.commands.understanding import modes

        modes.check(key, str(new))


def _about_hooks(key: str) -> list[str]:
    """What else it takes where a hook in the client's settings hangs on this key."""
    from mait_code.commands.install import programs, state

    hook = next((hook for hook in programs.HOOKS if hook.setting == key), None)
    route = state.route() if hook is not None else ""
    if route == "install":
        return ["mait-code install brings Claude Code's hooks up to it"]
    if route == "plug-in" and hook is not None and hook.event == "PreToolUse":
        return ["the plug-in has no hook for it: mait-code install in its place has"]
    return []


def _change_variable(key: str, raw: str | None) -> Change:
    name = key[len(_ENV) :]
    if not _VARIABLE.match(name):
        raise BadInput(f"{name!r} is not the name of a variable", "letters, digits and underscores, not a digit first")
    if name.startswith("MAIT_CODE_"):
        raise BadInput(f"{name} is not for the env table", "set the key itself instead")
    before = settings.extra_environment().get(name)
    if raw is None and before is None:
        raise NotFound(f"{key} is not set in settings.toml", "mait-code settings list shows what is")
    from mait_code.commands import settings_file

    settings_file.put_variable(name, raw)
    notes = []
    if raw is not None and os.environ.get(name, before) not in (before, raw):
        notes.append(f"{name} is set in the environment, and wins")
    shown = ["" if held is None else masked(name, held) for held in (before, raw)]
    return Change(key, shown[0], shown[1], "settings", notes)


def weights() -> dict[str, str]:
    """The weights in force, as a form shows them."""
    return {key: str(settings.value(key)) for key in WEIGHTS}


def change_weights(seen: Mapping[str, str], wanted: Mapping[str, str]) -> Change:
    """Write all weights together. Raises BadInput where they do not sum to 1, forms.ChangedMeanwhile where they are not
    what was `seen`."""
    from mait_code.commands import forms, settings_file

    forms.check("the weights", seen, weights())
    parsed = {key: float(settings.setting(key).parse(wanted[key].strip())) for key in WEIGHTS}
    total = sum(parsed.values())
    if abs(total - 1) > _NEARLY:
        raise BadInput(f"the weights sum to {total:g}, and not to 1", "give more to one and less to another")
    before = ", ".join(seen[key] for key in WEIGHTS)
    settings_file.edit(lambda document: document.update(parsed))
    return Change("score-weights", before, ", ".join(weights().values()), "settings", [])


def change_data_dir(raw: str, move: bool | None) -> Change:
    """Name another data directory, and take what is in the present one along if `move` says so.

    Raises BadInput where something is there and `move` is None: the user chooses. A failed move changes nothing.
    """
    from mait_code.commands import data_move

    if os.path.exists(data_move.note_path()):
        data_move.finish()
    entry = settings.setting("data-dir")
    old, new = Home(str(settings.value("data-dir"))), Home(settings.native_path(str(entry.parse(raw))))
    if old.real == new.real or not _holds_something(old.data):
        return change("data-dir", raw)
    if move is None:
        raise BadInput(
            f"{old.data} holds your journal; say whether it comes along",
            "--move-data takes it to the new place, --no-move-data starts from what is at the new place",
        )
    if not move:
        return change("data-dir", raw)
    if settings.resolve("data-dir").source == "env":
        raise Refused(
            f"{entry.variable} names the data directory here", "unset it, then move; or move by hand and change it"
        )
    changed: list[Change] = []
    copied = data_move.move(old, new, lambda: changed.append(change("data-dir", raw)))
    if copied:
        changed[0].notes.append(f"copied to another file system; the old directory is still at {old.data}")
    return changed[0]


def _holds_something(directory: str) -> bool:
    return os.path.isdir(directory) and bool(os.listdir(directory))
