"""One module a subcommand: `configure(parser)` and `run(args)`."""
