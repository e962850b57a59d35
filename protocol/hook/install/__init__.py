"""Putting the hooks into the clients' settings files and taking them out again, with every other byte kept."""
