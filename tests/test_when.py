"""The time language of reminders: phrase by phrase in two zones, what is refused, and what holds for any text."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mait_code.commands.when import When, parse_until, parse_when
from mait_code.journal.errors import BadInput, MaitError, Refused
from mait_code.projections.recurrence_rule import check
from mait_code.projections.zones import read_nominal, to_utc

# A Monday morning in winter, and a Friday evening two days before the clocks go forward.
BERLIN = (datetime(2026, 11, 30, 10, 0, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin")
NEW_YORK = (datetime(2026, 3, 6, 18, 30, tzinfo=ZoneInfo("America/New_York")), "America/New_York")

# phrase | due for BERLIN | due for NEW_YORK; the zone is named where it is not the speaker's own.
ONCE = """
friday EOD                        | 2026-12-04T17:00 Fri                  | 2026-03-13T17:00 Fri
eod                               | 2026-11-30T17:00 Mon                  | 2026-03-07T17:00 Sat
EOD friday                        | 2026-12-04T17:00 Fri                  | 2026-03-13T17:00 Fri
eod tomorrow                      | 2026-12-01T17:00 Tue                  | 2026-03-07T17:00 Sat
end of day                        | 2026-11-30T17:00 Mon                  | 2026-03-07T17:00 Sat
today                             | 2026-11-30T17:00 Mon                  | 2026-03-06T21:00 Fri
tomorrow                          | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat
Tomorrow.                         | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat
tmrw 9am                          | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat
day after tomorrow                | 2026-12-02T09:00 Wed                  | 2026-03-08T09:00 Sun
the day after tomorrow at noon    | 2026-12-02T12:00 Wed                  | 2026-03-08T12:00 Sun
tomorrow morning                  | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat
tomorrow noon                     | 2026-12-01T12:00 Tue                  | 2026-03-07T12:00 Sat
tomorrow afternoon                | 2026-12-01T14:00 Tue                  | 2026-03-07T14:00 Sat
tomorrow evening                  | 2026-12-01T18:00 Tue                  | 2026-03-07T18:00 Sat
tomorrow night                    | 2026-12-01T21:00 Tue                  | 2026-03-07T21:00 Sat
tomorrow afternoon at 3           | 2026-12-01T15:00 Tue                  | 2026-03-07T15:00 Sat
tomorrow at 8                     | 2026-12-01T08:00 Tue                  | 2026-03-07T08:00 Sat
tomorrow at 0830                  | 2026-12-01T08:30 Tue                  | 2026-03-07T08:30 Sat
TOMORROW,   9AM!                  | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat
tonight                           | 2026-11-30T21:00 Mon                  | 2026-03-06T21:00 Fri
tonight at 8                      | 2026-11-30T20:00 Mon                  | 2026-03-06T20:00 Fri
tonight 21:30                     | 2026-11-30T21:30 Mon                  | 2026-03-06T21:30 Fri
this evening                      | 2026-11-30T18:00 Mon                  | 2026-03-06T19:00 Fri
in the morning                    | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat
at night                          | 2026-11-30T21:00 Mon                  | 2026-03-06T21:00 Fri
evening                           | 2026-11-30T18:00 Mon                  | 2026-03-07T18:00 Sat
in 2 weeks                        | 2026-12-14T09:00 Mon                  | 2026-03-20T09:00 Fri
in 90 minutes                     | 2026-11-30T11:30 Mon                  | 2026-03-06T20:00 Fri
in 90 seconds                     | 2026-11-30T10:01:30 Mon               | 2026-03-06T18:31:30 Fri
in 1h30m                          | 2026-11-30T11:30 Mon                  | 2026-03-06T20:00 Fri
in an hour                        | 2026-11-30T11:00 Mon                  | 2026-03-06T19:30 Fri
in half an hour                   | 2026-11-30T10:30 Mon                  | 2026-03-06T19:00 Fri
in an hour and a half             | 2026-11-30T11:30 Mon                  | 2026-03-06T20:00 Fri
in 1.5 hours                      | 2026-11-30T11:30 Mon                  | 2026-03-06T20:00 Fri
in 2 hours and 30 minutes         | 2026-11-30T12:30 Mon                  | 2026-03-06T21:00 Fri
in 36 hours                       | 2026-12-01T22:00 Tue                  | 2026-03-08T07:30 Sun
in 5 min                          | 2026-11-30T10:05 Mon                  | 2026-03-06T18:35 Fri
2h                                | 2026-11-30T12:00 Mon                  | 2026-03-06T20:30 Fri
90m                               | 2026-11-30T11:30 Mon                  | 2026-03-06T20:00 Fri
1d12h                             | 2026-12-01T22:00 Tue                  | 2026-03-08T07:30 Sun
3 days                            | 2026-12-03T09:00 Thu                  | 2026-03-09T09:00 Mon
in 3 days at 15:00                | 2026-12-03T15:00 Thu                  | 2026-03-09T15:00 Mon
in a couple of days               | 2026-12-02T09:00 Wed                  | 2026-03-08T09:00 Sun
in 1 month                        | 2026-12-30T09:00 Wed                  | 2026-04-06T09:00 Mon
in a year                         | 2027-11-30T09:00 Tue                  | 2027-03-06T09:00 Sat
in a fortnight                    | 2026-12-14T09:00 Mon                  | 2026-03-20T09:00 Fri
a week from now                   | 2026-12-07T09:00 Mon                  | 2026-03-13T09:00 Fri
in 2 weeks on friday              | 2026-12-18T09:00 Fri                  | 2026-03-20T09:00 Fri
tue 3pm                           | 2026-12-01T15:00 Tue                  | 2026-03-10T15:00 Tue
next tue 15:30                    | 2026-12-08T15:30 Tue                  | 2026-03-10T15:30 Tue
monday 9am                        | 2026-12-07T09:00 Mon                  | 2026-03-09T09:00 Mon
Monday, 9 a.m.                    | 2026-12-07T09:00 Mon                  | 2026-03-09T09:00 Mon
monday at 9 o'clock               | 2026-12-07T09:00 Mon                  | 2026-03-09T09:00 Mon
mon 0:00                          | 2026-12-07T00:00 Mon                  | 2026-03-09T00:00 Mon
friday                            | 2026-12-04T09:00 Fri                  | 2026-03-13T09:00 Fri
this friday                       | 2026-12-04T09:00 Fri                  | 2026-03-13T09:00 Fri
next friday                       | 2026-12-11T09:00 Fri                  | 2026-03-13T09:00 Fri
friday next week                  | 2026-12-11T09:00 Fri                  | 2026-03-13T09:00 Fri
next week friday                  | 2026-12-11T09:00 Fri                  | 2026-03-13T09:00 Fri
friday midnight                   | 2026-12-05T00:00 Sat                  | 2026-03-07T00:00 Sat
on friday at 5 pm                 | 2026-12-04T17:00 Fri                  | 2026-03-13T17:00 Fri
5 pm on friday                    | 2026-12-04T17:00 Fri                  | 2026-03-13T17:00 Fri
friday 12pm                       | 2026-12-04T12:00 Fri                  | 2026-03-13T12:00 Fri
friday 12am                       | 2026-12-04T00:00 Fri                  | 2026-03-13T00:00 Fri
by friday                         | 2026-12-04T09:00 Fri                  | 2026-03-13T09:00 Fri
at 17:00                          | 2026-11-30T17:00 Mon                  | 2026-03-07T17:00 Sat
5pm                               | 2026-11-30T17:00 Mon                  | 2026-03-07T17:00 Sat
5:15 pm                           | 2026-11-30T17:15 Mon                  | 2026-03-07T17:15 Sat
noon                              | 2026-11-30T12:00 Mon                  | 2026-03-07T12:00 Sat
midnight                          | 2026-12-01T00:00 Tue                  | 2026-03-07T00:00 Sat
12:30                             | 2026-11-30T12:30 Mon                  | 2026-03-07T12:30 Sat
23:59                             | 2026-11-30T23:59 Mon                  | 2026-03-06T23:59 Fri
next week                         | 2026-12-07T09:00 Mon                  | 2026-03-09T09:00 Mon
next month                        | 2026-12-01T09:00 Tue                  | 2026-04-01T09:00 Wed
next quarter                      | 2027-01-01T09:00 Fri                  | 2026-04-01T09:00 Wed
next year                         | 2027-01-01T09:00 Fri                  | 2027-01-01T09:00 Fri
weekend                           | 2026-12-05T09:00 Sat                  | 2026-03-07T09:00 Sat
next weekend                      | 2026-12-12T09:00 Sat                  | 2026-03-14T09:00 Sat
end of month                      | 2026-11-30T17:00 Mon                  | 2026-03-31T17:00 Tue
end of the week                   | 2026-12-04T17:00 Fri                  | 2026-03-13T17:00 Fri
eow                               | 2026-12-04T17:00 Fri                  | 2026-03-13T17:00 Fri
end of next week                  | 2026-12-11T17:00 Fri                  | 2026-03-13T17:00 Fri
end of next month                 | 2026-12-31T17:00 Thu                  | 2026-04-30T17:00 Thu
end of year                       | 2026-12-31T17:00 Thu                  | 2026-12-31T17:00 Thu
beginning of next month           | 2026-12-01T09:00 Tue                  | 2026-04-01T09:00 Wed
2026-12-24                        | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
2026-12-24 18:00                  | 2026-12-24T18:00 Thu                  | 2026-12-24T18:00 Thu
2026-12-24T18:00                  | 2026-12-24T18:00 Thu                  | 2026-12-24T18:00 Thu
2026-12-24 6pm                    | 2026-12-24T18:00 Thu                  | 2026-12-24T18:00 Thu
2026-12-24T18:00Z                 | 2026-12-24T18:00 Thu UTC              | 2026-12-24T18:00 Thu UTC
2026-12-24T18:00:30Z              | 2026-12-24T18:00:30 Thu UTC           | 2026-12-24T18:00:30 Thu UTC
2026-12-24T18:00+05:30            | 2026-12-24T13:30 Thu                  | 2026-12-24T07:30 Thu
2026-12-24 18:00 -0800            | 2026-12-25T03:00 Fri                  | 2026-12-24T21:00 Thu
20261224                          | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
2026/12/24                        | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
24 dec                            | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
24th of December                  | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
Dec. 24, 6 p.m.                   | 2026-12-24T18:00 Thu                  | 2026-12-24T18:00 Thu
dec 24 2027                       | 2027-12-24T09:00 Fri                  | 2027-12-24T09:00 Fri
24 december 2027 at 8             | 2027-12-24T08:00 Fri                  | 2027-12-24T08:00 Fri
thu 24 dec                        | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
24.12.                            | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
24.12.2026                        | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
24.12.27 18:00                    | 2027-12-24T18:00 Fri                  | 2027-12-24T18:00 Fri
24/12/2026                        | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
12/24/2026                        | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
24/12                             | 2026-12-24T09:00 Thu                  | 2026-12-24T09:00 Thu
04/04/2027                        | 2027-04-04T09:00 Sun                  | 2027-04-04T09:00 Sun
31 jan                            | 2027-01-31T09:00 Sun                  | 2027-01-31T09:00 Sun
29 feb                            | 2028-02-29T09:00 Tue                  | 2028-02-29T09:00 Tue
january                           | 2027-01-01T09:00 Fri                  | 2027-01-01T09:00 Fri
in december                       | 2026-12-01T09:00 Tue                  | 2026-12-01T09:00 Tue
dec 2027                          | 2027-12-01T09:00 Wed                  | 2027-12-01T09:00 Wed
15th                              | 2026-12-15T09:00 Tue                  | 2026-03-15T09:00 Sun
on the 31st                       | 2026-12-31T09:00 Thu                  | 2026-03-31T09:00 Tue
the 1st at noon                   | 2026-12-01T12:00 Tue                  | 2026-04-01T12:00 Wed
first of december                 | 2026-12-01T09:00 Tue                  | 2026-12-01T09:00 Tue
first monday of december          | 2026-12-07T09:00 Mon                  | 2026-12-07T09:00 Mon
last friday of january            | 2027-01-29T09:00 Fri                  | 2027-01-29T09:00 Fri
first monday of next month        | 2026-12-07T09:00 Mon                  | 2026-04-06T09:00 Mon
last day of next month            | 2026-12-31T09:00 Thu                  | 2026-04-30T09:00 Thu
9am Europe/Berlin                 | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat Europe/Berlin
9am europe/berlin                 | 2026-12-01T09:00 Tue                  | 2026-03-07T09:00 Sat Europe/Berlin
9am UTC                           | 2026-12-01T09:00 Tue UTC              | 2026-03-07T09:00 Sat UTC
9:00 GMT                          | 2026-12-01T09:00 Tue UTC              | 2026-03-07T09:00 Sat UTC
tomorrow 9am (America/New_York)   | 2026-12-01T09:00 Tue America/New_York | 2026-03-07T09:00 Sat
noon Asia/Kolkata                 | 2026-12-01T12:00 Tue Asia/Kolkata     | 2026-03-07T12:00 Sat Asia/Kolkata
"""

# phrase | first due for BERLIN | for NEW_YORK
RECURRING = """
every monday 9am                              | 2026-12-07T09:00 Mon | 2026-03-09T09:00 Mon
mondays                                       | 2026-12-07T09:00 Mon | 2026-03-09T09:00 Mon
on mondays and thursdays at 16:00             | 2026-11-30T16:00 Mon | 2026-03-09T16:00 Mon
every mon, wed and fri 10:00                  | 2026-12-02T10:00 Wed | 2026-03-09T10:00 Mon
every mon/wed/fri 10:00                       | 2026-12-02T10:00 Wed | 2026-03-09T10:00 Mon
every day at 8                                | 2026-12-01T08:00 Tue | 2026-03-07T08:00 Sat
daily                                         | 2026-12-01T09:00 Tue | 2026-03-07T09:00 Sat
every day at midnight                         | 2026-12-01T00:00 Tue | 2026-03-07T00:00 Sat
every morning                                 | 2026-12-01T09:00 Tue | 2026-03-07T09:00 Sat
every evening at 7                            | 2026-11-30T19:00 Mon | 2026-03-06T19:00 Fri
every other day                               | 2026-12-02T09:00 Wed | 2026-03-08T09:00 Sun
every 3 days                                  | 2026-12-03T09:00 Thu | 2026-03-09T09:00 Mon
every third day                               | 2026-12-03T09:00 Thu | 2026-03-09T09:00 Mon
every weekday 9:30                            | 2026-12-01T09:30 Tue | 2026-03-09T09:30 Mon
weekdays at 8:30                              | 2026-12-01T08:30 Tue | 2026-03-09T08:30 Mon
every weekday morning at 8                    | 2026-12-01T08:00 Tue | 2026-03-09T08:00 Mon
every weekend                                 | 2026-12-05T09:00 Sat | 2026-03-07T09:00 Sat
every weekend day                             | 2026-12-05T09:00 Sat | 2026-03-07T09:00 Sat
every week                                    | 2026-12-07T09:00 Mon | 2026-03-13T09:00 Fri
weekly on friday 5pm                          | 2026-12-04T17:00 Fri | 2026-03-13T17:00 Fri
every 2 weeks                                 | 2026-12-14T09:00 Mon | 2026-03-20T09:00 Fri
every 2 weeks on friday                       | 2026-12-04T09:00 Fri | 2026-03-13T09:00 Fri
every other friday                            | 2026-12-04T09:00 Fri | 2026-03-13T09:00 Fri
every second week on friday                   | 2026-12-04T09:00 Fri | 2026-03-13T09:00 Fri
fortnightly on friday                         | 2026-12-04T09:00 Fri | 2026-03-13T09:00 Fri
friday every 2 weeks                          | 2026-12-04T09:00 Fri | 2026-03-13T09:00 Fri
9am every monday                              | 2026-12-07T09:00 Mon | 2026-03-09T09:00 Mon
every month                                   | 2026-12-30T09:00 Wed | 2026-04-06T09:00 Mon
monthly on the 31st                           | 2026-12-31T09:00 Thu | 2026-03-31T09:00 Tue
every month on the 15th                       | 2026-12-15T09:00 Tue | 2026-03-15T09:00 Sun
every month on day 15                         | 2026-12-15T09:00 Tue | 2026-03-15T09:00 Sun
every 15th                                    | 2026-12-15T09:00 Tue | 2026-03-15T09:00 Sun
on the 15th every month                       | 2026-12-15T09:00 Tue | 2026-03-15T09:00 Sun
1st and 15th of the month                     | 2026-12-01T09:00 Tue | 2026-03-15T09:00 Sun
first of the month                            | 2026-12-01T09:00 Tue | 2026-04-01T09:00 Wed
first of every month 10am                     | 2026-12-01T10:00 Tue | 2026-04-01T10:00 Wed
last day of the month                         | 2026-12-31T09:00 Thu | 2026-03-31T09:00 Tue
the last day of every month at noon           | 2026-11-30T12:00 Mon | 2026-03-31T12:00 Tue
every month on the last day                   | 2026-12-31T09:00 Thu | 2026-03-31T09:00 Tue
last friday of the month                      | 2026-12-25T09:00 Fri | 2026-03-27T09:00 Fri
every last friday                             | 2026-12-25T09:00 Fri | 2026-03-27T09:00 Fri
every first monday                            | 2026-12-07T09:00 Mon | 2026-04-06T09:00 Mon
first and third monday of the month           | 2026-12-07T09:00 Mon | 2026-03-16T09:00 Mon
last weekday of the month EOD                 | 2026-11-30T17:00 Mon | 2026-03-31T17:00 Tue
every second friday of the month              | 2026-12-11T09:00 Fri | 2026-03-13T09:00 Fri
first of every other month                    | 2026-12-01T09:00 Tue | 2026-04-01T09:00 Wed
every 3 months on the 1st                     | 2026-12-01T09:00 Tue | 2026-04-01T09:00 Wed
quarterly                                     | 2027-02-28T09:00 Sun | 2026-06-06T09:00 Sat
every quarter                                 | 2027-02-28T09:00 Sun | 2026-06-06T09:00 Sat
every year                                    | 2027-11-30T09:00 Tue | 2027-03-06T09:00 Sat
every year on 29 feb                          | 2027-02-28T09:00 Sun | 2027-02-28T09:00 Sun
every 24 dec                                  | 2026-12-24T09:00 Thu | 2026-12-24T09:00 Thu
every december 24 10am                        | 2026-12-24T10:00 Thu | 2026-12-24T10:00 Thu
24 dec every year                             | 2026-12-24T09:00 Thu | 2026-12-24T09:00 Thu
every year on the fourth thursday of november | 2027-11-25T09:00 Thu | 2026-11-26T09:00 Thu
last friday of november every year            | 2027-11-26T09:00 Fri | 2026-11-27T09:00 Fri
annually on 1 january                         | 2027-01-01T09:00 Fri | 2027-01-01T09:00 Fri
hourly                                        | 2026-11-30T11:00 Mon | 2026-03-06T19:30 Fri
every 2 hours                                 | 2026-11-30T12:00 Mon | 2026-03-06T20:30 Fri
every 2h                                      | 2026-11-30T12:00 Mon | 2026-03-06T20:30 Fri
every 30 minutes                              | 2026-11-30T10:30 Mon | 2026-03-06T19:00 Fri
every hour starting 2pm                       | 2026-11-30T14:00 Mon | 2026-03-06T19:00 Fri
every 2 weeks starting 2027-01-04             | 2027-01-04T09:00 Mon | 2027-01-04T09:00 Mon
every friday at 5pm starting 2027-01-01       | 2027-01-01T17:00 Fri | 2027-01-01T17:00 Fri
every monday 9am Europe/Berlin                | 2026-12-07T09:00 Mon | 2026-03-09T09:00 Mon Europe/Berlin
every day 9am UTC                             | 2026-12-01T09:00 Tue UTC | 2026-03-07T09:00 Sat UTC
"""

RULES: list[tuple[str, list[str]]] = [
    (
        '{"days":["mon"],"every":"week","interval":1}',
        ["every monday 9am", "mondays", "9am every monday", "every monday 9am Europe/Berlin"],
    ),
    ('{"days":["mon","thu"],"every":"week","interval":1}', ["on mondays and thursdays at 16:00"]),
    (
        '{"days":["mon","wed","fri"],"every":"week","interval":1}',
        ["every mon, wed and fri 10:00", "every mon/wed/fri 10:00"],
    ),
    (
        '{"every":"day","interval":1}',
        [
            "every day at 8",
            "daily",
            "every day at midnight",
            "every morning",
            "every evening at 7",
            "every day 9am UTC",
        ],
    ),
    ('{"every":"day","interval":2}', ["every other day"]),
    ('{"every":"day","interval":3}', ["every 3 days", "every third day"]),
    (
        '{"days":["mon","tue","wed","thu","fri"],"every":"week","interval":1}',
        ["every weekday 9:30", "weekdays at 8:30", "every weekday morning at 8"],
    ),
    ('{"days":["sat"],"every":"week","interval":1}', ["every weekend"]),
    ('{"days":["sat","sun"],"every":"week","interval":1}', ["every weekend day"]),
    (
        '{"days":["fri"],"every":"week","interval":1}',
        ["weekly on friday 5pm", "every friday at 5pm starting 2027-01-01"],
    ),
    (
        '{"days":["fri"],"every":"week","interval":2}',
        [
            "every 2 weeks on friday",
            "every other friday",
            "every second week on friday",
            "fortnightly on friday",
            "friday every 2 weeks",
        ],
    ),
    ('{"every":"month","interval":1,"monthdays":[31]}', ["monthly on the 31st"]),
    (
        '{"every":"month","interval":1,"monthdays":[15]}',
        ["every month on the 15th", "every month on day 15", "every 15th", "on the 15th every month"],
    ),
    ('{"every":"month","interval":1,"monthdays":[1,15]}', ["1st and 15th of the month"]),
    ('{"every":"month","interval":1,"monthdays":[1]}', ["first of the month", "first of every month 10am"]),
    (
        '{"every":"month","interval":1,"monthdays":[-1]}',
        ["last day of the month", "the last day of every month at noon", "every month on the last day"],
    ),
    ('{"every":"month","interval":1,"nth":[[-1,"fri"]]}', ["last friday of the month", "every last friday"]),
    ('{"every":"month","interval":1,"nth":[[1,"mon"]]}', ["every first monday"]),
    ('{"every":"month","interval":1,"nth":[[1,"mon"],[3,"mon"]]}', ["first and third monday of the month"]),
    ('{"every":"month","interval":1,"nth":[[-1,"weekday"]]}', ["last weekday of the month EOD"]),
    ('{"every":"month","interval":1,"nth":[[2,"fri"]]}', ["every second friday of the month"]),
    ('{"every":"month","interval":2,"monthdays":[1]}', ["first of every other month"]),
    ('{"every":"month","interval":3,"monthdays":[1]}', ["every 3 months on the 1st"]),
    ('{"every":"year","interval":1,"month":2,"monthdays":[29]}', ["every year on 29 feb"]),
    (
        '{"every":"year","interval":1,"month":12,"monthdays":[24]}',
        ["every 24 dec", "every december 24 10am", "24 dec every year"],
    ),
    ('{"every":"year","interval":1,"month":11,"nth":[[4,"thu"]]}', ["every year on the fourth thursday of november"]),
    ('{"every":"year","interval":1,"month":11,"nth":[[-1,"fri"]]}', ["last friday of november every year"]),
    ('{"every":"year","interval":1,"month":1,"monthdays":[1]}', ["annually on 1 january"]),
    ('{"every":"hour","interval":1}', ["hourly", "every hour starting 2pm"]),
    ('{"every":"hour","interval":2}', ["every 2 hours", "every 2h"]),
    ('{"every":"minute","interval":30}', ["every 30 minutes"]),
    ('{"days":["mon"],"every":"week","interval":2}', ["every 2 weeks starting 2027-01-04"]),
]
# Repetitions that name no day count from the speaker's today.
RULES_OF_TODAY: list[tuple[str, str, list[str]]] = [
    ('{"days":["mon"],"every":"week","interval":1}', '{"days":["fri"],"every":"week","interval":1}', ["every week"]),
    ('{"days":["mon"],"every":"week","interval":2}', '{"days":["fri"],"every":"week","interval":2}', ["every 2 weeks"]),
    (
        '{"every":"month","interval":1,"monthdays":[30]}',
        '{"every":"month","interval":1,"monthdays":[6]}',
        ["every month"],
    ),
    (
        '{"every":"month","interval":3,"monthdays":[30]}',
        '{"every":"month","interval":3,"monthdays":[6]}',
        ["quarterly", "every quarter"],
    ),
    (
        '{"every":"year","interval":1,"month":11,"monthdays":[30]}',
        '{"every":"year","interval":1,"month":3,"monthdays":[6]}',
        ["every year"],
    ),
]


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split(" | ")] for line in table.strip().splitlines()]


def _shown(when: When, home: str) -> str:
    """The due time with its weekday, so that the tables can be checked by eye."""
    day = read_nominal(when.due).strftime("%a")
    return f"{when.due} {day}" + ("" if when.zone == home else f" {when.zone}")


@pytest.mark.parametrize(("phrase", "berlin", "new_york"), _rows(ONCE), ids=lambda cell: cell)
def test_a_phrase_means_one_time(phrase: str, berlin: str, new_york: str) -> None:
    for (now, zone), expected in ((BERLIN, berlin), (NEW_YORK, new_york)):
        when = parse_when(phrase, now, zone)
        assert _shown(when, zone) == expected
        assert when.rule is None


@pytest.mark.parametrize(("phrase", "berlin", "new_york"), _rows(RECURRING), ids=lambda cell: cell)
def test_a_repetition_starts_at_the_first_time_ahead(phrase: str, berlin: str, new_york: str) -> None:
    for (now, zone), expected in ((BERLIN, berlin), (NEW_YORK, new_york)):
        when = parse_when(phrase, now, zone)
        assert _shown(when, zone) == expected
        assert when.rule is not None
        check(when.rule)


def test_repetitions_have_the_rules_of_the_log() -> None:
    named = [phrase for phrase, *_ in _rows(RECURRING)]
    rules = [(rule, rule, phrase) for rule, phrases in RULES for phrase in phrases]
    rules += [(berlin, new_york, phrase) for berlin, new_york, phrases in RULES_OF_TODAY for phrase in phrases]
    assert sorted(phrase for *_, phrase in rules) == sorted(named)
    for *expected, phrase in rules:
        for (now, zone), rule in zip((BERLIN, NEW_YORK), expected, strict=True):
            found = parse_when(phrase, now, zone).rule
            assert json.dumps(found, separators=(",", ":")) == rule, phrase


# phrase | error | words of its message
REFUSED = """
yesterday | Refused | is in the past
yesterday at noon | Refused | is in the past
last friday | Refused | is in the past
last week | Refused | is in the past
3 days ago | Refused | is in the past
2 hours ago | Refused | is in the past
2020-01-01 | Refused | in the past: Wed 1 Jan 2020 09:00
2020-01-01 18:00 UTC | Refused | in the past: Wed 1 Jan 2020 18:00 UTC
1.1.2020 | Refused | in the past
today 9am | Refused | in the past
today 0:00 | Refused | in the past
now | Refused | is not ahead
in 0 minutes | Refused | not ahead
0 days | Refused | not ahead
feb 30 | BadInput | February has no day 30
30.2. | BadInput | February has no day 30
31 april | BadInput | April has no day 31
2026-02-29 | BadInput | February has no day 29, and 2026 is no leap year
29 feb 2027 | BadInput | 2027 is no leap year
2026-13-01 | BadInput | there is no month 13
15.30 | BadInput | there is no month 30
first of every 13th | BadInput | cannot read the repetition
5th friday of february 2027 | BadInput | no 5th Friday in February
6th monday of the month | BadInput | five Fridays at most
every 32nd | BadInput | no such day
every year on 32 jan | BadInput | no month has a day 32
9999-01-01 | BadInput | the year 9999 is too far off
in 9000 years | BadInput | too far off
in 99999999999 weeks | BadInput | too far off
9999999999999999h | BadInput | too far off
0000-01-01 | BadInput | no year of this calendar
03/04/2027 | BadInput | day first or month first
3/4 | BadInput | day first or month first
fri 24 dec | BadInput | 24 December 2026 is a Thursday, not a Friday
25:00 | BadInput | no clock shows '25:00'
12:60 | BadInput | no clock shows '12:60'
13pm | BadInput | the hours are 1 to 12
0am | BadInput | the hours are 1 to 12
at 3 | BadInput | 3:00 could be at night or by day
tomorrow 5:30 | BadInput | 5:30 could be at night or by day
tomorrow 9 | BadInput | 9 could be an hour or a day
every monday 11 | BadInput | 11 could be an hour or a day
tomorrow morning at 15:00 | BadInput | 15:00 is not in the morning
friday night at 2 | BadInput | 02:00 is not in the night
in 2 hours at 9am | BadInput | both a length of time and an hour
1.5 months | BadInput | no fixed length
9am PST | BadInput | PST does not name one time zone
every day 9am BST | BadInput | BST does not name one time zone
9am Mars/Phobos | BadInput | there is no time zone
9am UTC Europe/Berlin | BadInput | two zones in one time
18:00+25:00 | BadInput | no place has the offset
every second friday | BadInput | could count weeks or weekdays of the month
every 2 weekdays | BadInput | cannot be counted over the weekend
every 15th and last friday | BadInput | not on both
every 1000 days | BadInput | every 1 to 999 days
every 0 days | BadInput | every 1 to 999 days
every second | BadInput | every minute at most
every monday at midnight | BadInput | midnight could begin the day or end it
every day 9:00+01:00 | BadInput | needs a zone
every monday until friday | BadInput | no end of its own
every day at 9 and 17 | BadInput | cannot read the repetition
every | BadInput | cannot read the repetition
every blue moon | BadInput | cannot read the repetition
monday every month | BadInput | cannot read the repetition
every monday starting yesterday | Refused | is in the past
friday friday | BadInput | cannot read a time
9am 10am | BadInput | cannot read a time
tomorrow or friday | BadInput | cannot read a time
next | BadInput | cannot read a time
the | BadInput | cannot read a time
buy milk | BadInput | cannot read a time
soon | BadInput | cannot read a time
42 | BadInput | cannot read a time
!!! | BadInput | no time was given
"""


@pytest.mark.parametrize(("phrase", "error", "message"), _rows(REFUSED), ids=lambda cell: cell)
def test_a_phrase_is_refused_with_the_reason_and_examples(phrase: str, error: str, message: str) -> None:
    with pytest.raises(MaitError) as raised:
        parse_when(phrase, *BERLIN)
    assert type(raised.value).__name__ == error
    assert message in raised.value.message
    assert raised.value.hint


def test_the_phrases_of_the_documentation_mean_what_it_says() -> None:
    page = (Path(__file__).parent.parent / "docs" / "how-to" / "reminders.md").read_text(encoding="utf-8")
    times, repetitions, refused = (
        re.findall(r"^\| `([^`]+)` \|(.*)", part, re.MULTILINE) for part in page.split("\n## ")[1:4]
    )
    assert (len(times), len(repetitions), len(refused)) == (26, 14, 7)
    for phrase, meaning in times + repetitions:
        also = re.findall(r"`([^`]+)`", meaning)
        for one in [phrase, *(text for text in also if text not in {"UTC", "+01:00"})]:
            assert (parse_when(one, *BERLIN).rule is None) == ((phrase, meaning) in times), one
    for phrase, meaning in refused:
        with pytest.raises(MaitError):
            parse_when(phrase, *BERLIN)
        for one in re.findall(r"`([^`]+)`", meaning):
            assert one == "CET" or parse_when(one, *BERLIN)


def test_nothing_is_no_time() -> None:
    for text in ("", "   ", "\n\t"):
        with pytest.raises(BadInput, match="no time was given"):
            parse_when(text, *BERLIN)


def test_the_examples_of_the_hints_can_be_read() -> None:
    with pytest.raises(BadInput) as raised:
        parse_when("buy milk", *BERLIN)
    with pytest.raises(BadInput) as repeating:
        parse_when("every blue moon", *BERLIN)
    examples = (raised.value.hint + repeating.value.hint).split('"')[1::2]
    assert len(examples) == 10
    for example in examples:
        assert parse_when(example, *BERLIN)


# --- what a phrase means at other hours --------------------------------------------------------------------------


def _at(text: str, hour: int, minute: int = 0, day: int = 30) -> str:
    return parse_when(
        text, datetime(2026, 11, day, hour, minute, tzinfo=ZoneInfo("Europe/Berlin")), "Europe/Berlin"
    ).due


def test_today_has_the_next_hour_that_is_left() -> None:
    assert [_at("today", hour) for hour in (0, 8)] == ["2026-11-30T09:00"] * 2
    assert [_at("today", hour) for hour in (9, 16)] == ["2026-11-30T17:00"] * 2
    assert [_at("today", hour) for hour in (17, 20)] == ["2026-11-30T21:00"] * 2
    assert _at("today", 21, 30) == "2026-11-30T22:00"
    assert _at("tonight", 22, 59) == "2026-11-30T23:00"
    assert _at("this afternoon", 16, 10) == "2026-11-30T17:00"
    for text, hour in (("today", 23), ("tonight", 23), ("this afternoon", 17), ("this morning", 11)):
        with pytest.raises(Refused, match="is over"):
            _at(text, hour)


def test_a_weekday_is_today_while_its_hour_is_ahead() -> None:
    assert _at("friday", 8, 59, day=27) == "2026-11-27T09:00"
    assert _at("friday", 9, 0, day=27) == "2026-12-04T09:00"
    assert _at("friday 17:00", 10, 0, day=27) == "2026-11-27T17:00"
    assert _at("friday EOD", 17, 0, day=27) == "2026-12-04T17:00"
    assert _at("end of week", 17, 1, day=27) == "2026-12-04T17:00"


def test_next_names_the_calendar_week_after_this_one() -> None:
    sunday = 29
    assert _at("next monday", 10, day=sunday) == "2026-11-30T09:00"
    assert _at("next sunday", 10, day=sunday) == "2026-12-06T09:00"
    assert _at("next weekend", 10, day=sunday) == "2026-12-05T09:00"
    assert _at("this weekend", 10, day=28) == "2026-12-05T09:00"
    assert _at("this weekend", 8, day=28) == "2026-11-28T09:00"


def test_minutes_are_rounded_up_so_that_nothing_comes_early() -> None:
    now = BERLIN[0].replace(second=1)
    assert parse_when("in 90 minutes", now, "Europe/Berlin").due == "2026-11-30T11:31"
    assert parse_when("in 90 seconds", now, "Europe/Berlin").due == "2026-11-30T10:01:31"
    assert parse_when("in 59 seconds", now, "Europe/Berlin").due == "2026-11-30T10:01"
    assert parse_when("at 10:01", now, "Europe/Berlin").due == "2026-11-30T10:01"


def test_abbreviations_of_the_own_zone_are_understood() -> None:
    assert parse_when("tomorrow 9am CET", *BERLIN) == parse_when("tomorrow 9am", *BERLIN)
    assert parse_when("9am CEST", *BERLIN).zone == "Europe/Berlin"
    assert parse_when("9am EST", *NEW_YORK).zone == "America/New_York"
    with pytest.raises(BadInput, match="EST does not name"):
        parse_when("9am EST", *BERLIN)


def test_the_day_is_that_of_the_zone_that_is_named() -> None:
    late = datetime(2026, 11, 30, 23, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert parse_when("tomorrow 9am Asia/Tokyo", late, "Europe/Berlin") == When("2026-12-02T09:00", "Asia/Tokyo")
    assert parse_when("tomorrow 9am America/New_York", late, "Europe/Berlin").due == "2026-12-01T09:00"


# --- changes of the clocks ---------------------------------------------------------------------------------------


def test_hours_are_elapsed_and_days_are_counted_over_a_change_of_the_clocks() -> None:
    eve = datetime(2026, 3, 28, 22, 0, tzinfo=ZoneInfo("Europe/Berlin"))  # clocks go forward at 02:00
    assert parse_when("in 12 hours", eve, "Europe/Berlin").due == "2026-03-29T11:00"
    assert parse_when("tomorrow 10am", eve, "Europe/Berlin").due == "2026-03-29T10:00"
    assert parse_when("in 1 day", eve, "Europe/Berlin").due == "2026-03-29T09:00"
    autumn = datetime(2026, 10, 24, 22, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    assert parse_when("in 12 hours", autumn, "Europe/Berlin").due == "2026-10-25T09:00"


def test_a_time_that_the_clocks_skip_is_accepted_and_comes_shifted() -> None:
    eve = datetime(2026, 3, 28, 22, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    when = parse_when("tomorrow 02:30", eve, "Europe/Berlin")
    assert when.due == "2026-03-29T02:30"
    assert to_utc(when.due, when.zone) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


def test_elapsed_time_into_the_second_pass_of_an_hour_is_named_in_utc() -> None:
    first_pass = datetime(2026, 10, 25, 0, 10, tzinfo=UTC)  # 02:10 summer time; 02:00 comes again an hour later
    assert parse_when("in 30 minutes", first_pass, "Europe/Berlin") == When("2026-10-25T02:40", "Europe/Berlin")
    assert parse_when("in 1 hour", first_pass, "Europe/Berlin") == When("2026-10-25T01:10", "UTC")
    second_pass = first_pass + timedelta(hours=1)
    assert parse_when("in 10 minutes", second_pass, "Europe/Berlin") == When("2026-10-25T01:20", "UTC")
    assert parse_when("in 1 hour", second_pass, "Europe/Berlin") == When("2026-10-25T03:10", "Europe/Berlin")
    # 02:30 is not ahead any more: its first pass was an hour ago
    assert parse_when("02:30", second_pass, "Europe/Berlin") == When("2026-10-26T02:30", "Europe/Berlin")


# --- repetitions -------------------------------------------------------------------------------------------------


def test_a_repetition_keeps_step_with_its_start() -> None:
    when = parse_when("every 2 weeks on friday starting 2026-01-02", *BERLIN)
    assert when.due == "2026-12-04T09:00"
    assert (read_nominal(when.due) - datetime(2026, 1, 2, 9)).days % 14 == 0
    assert parse_when("every 3 days from 2026-11-28", *BERLIN).due == "2026-12-01T09:00"
    assert parse_when("every other friday starting 11 dec", *BERLIN).due == "2026-12-11T09:00"
    assert parse_when("every month starting 31 jan", *BERLIN).rule == {
        "every": "month",
        "interval": 1,
        "monthdays": [31],
    }


def test_a_start_long_ago_is_not_gone_through_step_by_step() -> None:
    began = time.monotonic()
    for _ in range(20):
        assert parse_when("every minute starting 1990-01-01", *BERLIN).due == "2026-11-30T10:01"
        assert parse_when("every day starting 1990-01-01", *BERLIN).due == "2026-12-01T09:00"
    assert time.monotonic() - began < 2


def test_snoozing_takes_lengths_and_times_but_no_repetition() -> None:
    table = {
        "1h": "2026-11-30T11:00", "30m": "2026-11-30T10:30", "2d": "2026-12-02T09:00", "1w": "2026-12-07T09:00",
        "until monday": "2026-12-07T09:00", "for 2 hours": "2026-11-30T12:00", "tomorrow 9am": "2026-12-01T09:00",
        "till tomorrow": "2026-12-01T09:00",
    }  # fmt: skip
    assert {text: parse_until(text, *BERLIN).due for text in table} == table
    with pytest.raises(BadInput, match="repeats, and a snooze ends once"):
        parse_until("every monday", *BERLIN)


# --- dateparser --------------------------------------------------------------------------------------------------


def test_our_own_phrases_and_refusals_never_import_dateparser() -> None:
    phrases = [row[0] for row in _rows(ONCE) + _rows(RECURRING)]
    refused = [row[0] for row in _rows(REFUSED) if row[2] != "cannot read a time"]
    program = """
import json, sys
from datetime import datetime
from zoneinfo import ZoneInfo
from mait_code.commands.when import parse_when
from mait_code.journal.errors import MaitError
now = datetime(2026, 11, 30, 10, 0, tzinfo=ZoneInfo("Europe/Berlin"))
for phrase in json.load(sys.stdin):
    try:
        parse_when(phrase, now, "Europe/Berlin")
    except MaitError:
        pass
    if "dateparser" in sys.modules:
        sys.exit("dateparser was imported for " + phrase)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(phrases + refused), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def german_and_french(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("LANGUAGE", "fr:de")


FOREIGN = {
    "morgen": "2026-12-01T09:00", "morgen um 15 Uhr": "2026-12-01T15:00", "übermorgen 15:30": "2026-12-02T15:30",
    "heute": "2026-11-30T17:00", "Montag 15 Uhr": "2026-12-07T15:00", "in 2 Stunden": "2026-11-30T12:00",
    "in zwei Wochen": "2026-12-14T09:00", "in 2 Wochen um 15 Uhr": "2026-12-14T15:00",
    "24. Dezember 2026 18 Uhr": "2026-12-24T18:00", "demain à 9h": "2026-12-01T09:00",
    "dans 3 jours": "2026-12-03T09:00",
    "le 24 décembre 18h": "2026-12-24T18:00", "lundi 15h30": "2026-12-07T15:30",
}  # fmt: skip


@pytest.mark.usefixtures("german_and_french")
@pytest.mark.parametrize("phrase", FOREIGN)
def test_simple_phrases_of_the_users_languages_go_to_dateparser(phrase: str) -> None:
    assert parse_when(phrase, *BERLIN) == When(FOREIGN[phrase], "Europe/Berlin")


@pytest.mark.usefixtures("german_and_french")
@pytest.mark.parametrize("phrase", ["gestern", "hier", "vor 3 Tagen", "il y a 2 heures", "24. Dezember 2020"])
def test_a_past_that_dateparser_reads_is_refused(phrase: str) -> None:
    with pytest.raises(Refused, match="in the past"):
        parse_when(phrase, *BERLIN)


@pytest.mark.usefixtures("german_and_french")
@pytest.mark.parametrize("phrase", ["am 3/4/2027 um 9 Uhr", "Mai", "Montag 31", "morgen 7 9 11", "demain IST"])
def test_what_dateparser_would_guess_is_refused(phrase: str) -> None:
    with pytest.raises(BadInput):
        parse_when(phrase, *BERLIN)


def test_other_languages_than_the_users_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.delenv("LANGUAGE", raising=False)
    monkeypatch.setenv("LANG", "xx_YY.UTF-8")
    with pytest.raises(BadInput, match="cannot read"):
        parse_when("demain", *BERLIN)


# --- for any text ------------------------------------------------------------------------------------------------

_VOCABULARY = sorted({word for row in _rows(ONCE) + _rows(RECURRING) + _rows(REFUSED) for word in row[0].split()})
_MOMENTS = st.datetimes(datetime(1971, 1, 1), datetime(8990, 1, 1), timezones=st.just(UTC))
_ZONES = st.sampled_from(
    [
        "UTC",
        "Europe/Berlin",
        "America/New_York",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "America/St_Johns",
    ]
)
_ANY = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _holds(text: str, now: datetime, zone: str) -> None:
    """Either a MaitError, or a well-formed time ahead; within two seconds either way (a stuck pattern takes hours)."""
    began = time.monotonic()
    when, refusal = None, None
    try:
        when = parse_when(text, now, zone)
    except MaitError as error:
        refusal = error
    assert time.monotonic() - began < 2
    if when is None:
        assert refusal is not None
        assert refusal.message
        assert all(c.isprintable() for c in refusal.message + refusal.hint)
    else:
        read_nominal(when.due)
        assert to_utc(when.due, when.zone) > now
        if when.rule is not None:
            check(when.rule)


@_ANY
@given(st.text(max_size=10_000), _MOMENTS, _ZONES)
def test_any_text_is_read_or_refused(text: str, now: datetime, zone: str) -> None:
    _holds(text, now, zone)


@settings(_ANY, max_examples=1500)
@given(st.lists(st.sampled_from(_VOCABULARY), min_size=1, max_size=7), _MOMENTS, _ZONES)
def test_any_words_of_the_language_are_read_or_refused(words: list[str], now: datetime, zone: str) -> None:
    _holds(" ".join(words), now, zone)


@settings(_ANY, max_examples=200)
@given(st.sampled_from([row[0] for row in _rows(ONCE) + _rows(RECURRING)]), _MOMENTS, _ZONES)
def test_every_phrase_means_a_time_ahead_at_any_moment(phrase: str, now: datetime, zone: str) -> None:
    _holds(phrase, now, zone)


@pytest.mark.parametrize(
    "piece", ["1", "1 ", "in ", "every ", "and ", "1h", "9:", "24.12.", "monday ", "a b ", "١", "今天", "\x00"]
)
def test_long_repeated_text_is_refused_at_once(piece: str) -> None:
    for size in (60, 199, 10_000):
        _holds((piece * size)[:size], *BERLIN)


def test_case_spaces_and_punctuation_do_not_count() -> None:
    for row in _rows(ONCE)[:60]:
        plain = parse_when(row[0], *BERLIN)
        assert parse_when(f"  {row[0].upper()}  ?", *BERLIN) == plain
        assert parse_when(row[0].replace(" ", " \t "), *BERLIN) == plain
        assert parse_when(f'"{row[0]}"', *BERLIN) == plain
