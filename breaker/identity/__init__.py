"""Which calls are the same: the fingerprints of a tool call, and what they are made from."""
