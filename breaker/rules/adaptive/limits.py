"""Numbers of the adaptive rules that are no counts of evidence."""

from __future__ import annotations

IDLE = 120.0
"""Seconds without any call from which on the agent is taken to have been waiting: for a time, a person, a schedule."""
HASTY = 5.0
"""Seconds between two polls below which they are hasty."""
SLOW = 20.0
"""Seconds from one look to the next, with nothing else in between, from which on it may be a poll."""
AMONG = 2
"""Calls that tell something new, between two equal looks, from which on the looks are made beside other work."""
TWINS = 3
"""Equal calls of one step, beside the first, that count as one observation more."""
LONG_SLEEP = 600.0
"""Seconds slept in a row from which on two sleeps are enough."""
PLANS_OF = 20
"""Calls of which `plans` counts those that plan."""
PLANS_AMONG_LOOKS = 1.6
"""How many times as many plans may be among all the calls that are looked back at."""
SPAWN_SECONDS = 60.0
"""Within which agents of one family were started for `spawns`."""
MAX_NEWS = 10
"""Looks at something new among steps that repeat earlier ones; two of them take one back."""
