"""Hooks of command-line clients: one process an event, an event on standard input, an answer on standard output.

`run` is the process and never fails. `judge` puts an event to the engine, with the state file around it. A module a
client says what its events mean and how it is answered; `transcript` follows the files that clients write.
"""
