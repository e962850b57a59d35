"""The wire of toolbreaker: JSON-RPC in front of `breaker`, over standard input and output, and the command line."""
