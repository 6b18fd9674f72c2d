"""Phrases that our own grammar does not know, read by dateparser: "demain à 9h", "nächste Woche", "21 juin".

dateparser guesses freely (it reads "24 décembre 18h" as the year 2118 and drops the hour of "morgen um 15 Uhr"), and a
wrong guess is a reminder missed. So it is asked for the day only, the hour being taken out before, and its answer
counts only if every number in the phrase is found in it again.
"""

from __future__ import annotations

import os
import re
from datetime import datetime, time, timedelta
from typing import Any

from mait_code.commands.when_clock import DEFAULT, later_today
from mait_code.commands.when_words import quoted
from mait_code.journal.errors import BadInput
from mait_code.projections.zones import name_instant, nominal

__all__ = ["languages", "parse_foreign"]

# What dateparser costs grows with the length, and no date is longer.
_MOST_CHARACTERS = 80
_HOUR = re.compile(
    r"(?:\b(?:um|à|a las?|alle|às|om|kl\.?|klo|o|w|в|at)\s+)?"
    r"\b([01]?[0-9]|2[0-4])(?:(?::|h|\.)([0-5][0-9])\b(?:\s*(?:uhr|uur|h)\b)?|\s*(?:uhr|uur|heures?|h)\b(?:\s*([0-5][0-9])\b)?)"
)
_TWO_WAYS = re.compile(r"(?<![0-9])([0-9]{1,2})[/-]([0-9]{1,2})(?:[/-][0-9]{2,4})?(?![0-9])")
_NO_LANGUAGE = frozenset({"c", "posix", "en"})


def parse_foreign(words: list[str], text: str, now: datetime, zone: str) -> tuple[str, str]:
    """(nominal, zone) of the phrase; `now` is in `zone`. BadInput where it cannot be read without guessing."""
    phrase = " ".join(words)
    unreadable = BadInput(f"cannot read a time in {quoted(text)}")
    if len(phrase) > _MOST_CHARACTERS or not any(c.isalpha() for c in phrase):
        raise unreadable
    for one, two in _TWO_WAYS.findall(phrase):
        if one != two and int(one) <= 12 and int(two) <= 12:
            raise BadInput(f"{quoted(text)} reads day first or month first", 'write the month as a word: "4 mar 2026"')
    base = now.replace(tzinfo=None, microsecond=0, fold=0)
    elapsed = _ask(phrase, base, "relative-time")
    if elapsed is not None and elapsed["time"] and _numbers(phrase) <= _lengths(elapsed["date"] - base):
        return name_instant(now + (elapsed["date"] - base), zone)
    rest, said = _without_hour(phrase)
    answer = _ask(rest, base, "relative-time") or _ask(rest, base, "absolute-time")
    if answer is None or answer["time"] or not _numbers(rest) <= _parts(answer["date"], base):
        raise unreadable
    day = answer["date"].date()
    hour = said or (later_today(now, zone, text) if day == now.date() else DEFAULT)
    return nominal(datetime.combine(day, hour)), zone


def languages() -> list[str]:
    """English and the languages of the user's locale, as dateparser names them."""
    from dateparser.data.languages_info import language_order

    found = ["en"]
    for variable in ("LC_ALL", "LC_TIME", "LANGUAGE", "LANG"):
        for locale in os.environ.get(variable, "").split(":"):
            language = re.split(r"[_.@]", locale, maxsplit=1)[0].lower()
            if language not in _NO_LANGUAGE and language in language_order and language not in found:
                found.append(language)
    return found[:6]


def _ask(phrase: str, base: datetime, parser: str) -> dict[str, Any] | None:
    """dateparser's answer: the wall-clock `date`, and whether it holds a `time`."""
    import warnings

    from dateparser.date import DateDataParser

    settings = {
        "PARSERS": [parser], "RELATIVE_BASE": base, "PREFER_DATES_FROM": "future", "RETURN_TIME_AS_PERIOD": True,
        "TIMEZONE": "UTC", "RETURN_AS_TIMEZONE_AWARE": False,
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = DateDataParser(languages=languages(), settings=settings).get_date_data(phrase)
    except (
        Exception
    ) as error:  # it raises whatever its own parts do on odd text; to the user all of it is "cannot read"
        raise BadInput(f"cannot read a time in {quoted(phrase)}") from error
    # "in 2 Wochen" is exact to the day, "Mai" by the other parser is not
    exact = {"day", "time"} if parser == "absolute-time" else {"day", "time", "week", "month", "year"}
    if found.date_obj is None or found.period not in exact or found.date_obj.tzinfo is not None:
        return None
    return {"date": found.date_obj, "time": found.period == "time"}


def _without_hour(phrase: str) -> tuple[str, time | None]:
    found = _HOUR.search(phrase)
    if found is None:
        return phrase, None
    hour, minute = int(found.group(1)), int(found.group(2) or found.group(3) or 0)
    rest = " ".join((phrase[: found.start()] + " " + phrase[found.end() :]).split())
    return rest, time(hour % 24, minute)


def _numbers(phrase: str) -> set[int]:
    return {int(digits) for digits in re.findall(r"\d+", phrase)}


def _lengths(apart: timedelta) -> set[int]:
    """The numbers by which a length of time can be said."""
    seconds = abs(round(apart.total_seconds()))
    minutes, hours = seconds // 60, seconds // 3600
    return {seconds, minutes, hours, seconds // 86400, minutes % 60, hours % 24, seconds % 60}


def _parts(day: datetime, base: datetime) -> set[int]:
    """The numbers by which a day can be said: its date, and how far off it is."""
    days = abs((day.date() - base.date()).days)
    months = abs((day.year - base.year) * 12 + day.month - base.month)
    parts = {day.year, day.year % 100, day.month, day.day, days, months, abs(day.year - base.year)}
    return parts | ({days // 7} if days % 7 == 0 else set())
