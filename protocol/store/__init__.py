"""Durable state: what an agent has spent outlives the process that counted it.

`opening` finds the store that `--state` means. `keeper` and `once` stand between an engine and a store: the one in a
process that serves for long, the other in a process per event. `base` says what a store does; `sqlite` and `redis`
are stores.
"""
