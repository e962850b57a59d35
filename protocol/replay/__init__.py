"""Judging what was recorded: what the gate would have said to each call, and what that would have saved."""
