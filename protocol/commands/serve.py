"""`toolbreaker serve`: the gate itself, on standard input and output."""

from __future__ import annotations

import argparse
import gc
import os
from typing import TYPE_CHECKING

from protocol import layers
from protocol.framing import DEFAULT_MAX_LINE_BYTES
from protocol.numbers import at_least
from protocol.store import opening

if TYPE_CHECKING:
    from protocol.stdio import Wire


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.description = (
        "Read JSON-RPC 2.0 requests from standard input, one a line, and answer each on standard output. "
        "Exit status 0 at the end of input, on shutdown, SIGTERM and SIGINT; 2 when an option or the configuration "
        "is wrong."
    )
    parser.usage = (
        "%(prog)s [-h] [--config FILE] [--SETTING VALUE ...] [--record FILE] [--max-line-bytes N]\n"
        "       %(prog)s --state FILE|auto|ADDRESS [--namespace NAME] [--state-days DAYS] [--once] …"
    )
    parser.add_argument(
        "--record",
        metavar="FILE",
        help="append every line received and sent, with secrets replaced; such a file can be replayed",
    )
    parser.add_argument(
        "--max-line-bytes",
        metavar="N",
        type=at_least(1),
        default=DEFAULT_MAX_LINE_BYTES,
        help="skip longer lines (default: %(default)s)",
    )
    parser.add_argument(
        "--once",
        action="store_true",
        help="answer one request and end: for a process per event. With --state all that an agent did is kept between "
        "them, not its budgets alone",
    )
    opening.add_options(parser, default="none")
    layers.add_options(parser)


def run(args: argparse.Namespace) -> int:
    """Serve until the end; 2 when the configuration or the recording cannot be used."""
    from protocol.stdio import Ended, Wire

    wire = Wire()  # before anything else is imported that could print
    try:
        return _serve(args, wire)
    except Ended:  # a signal, and what was being loaded or opened did not come to an end in time
        return 0


def _serve(args: argparse.Namespace, wire: Wire) -> int:
    from breaker.engine import Engine
    from breaker.options import ConfigError, remarks
    from protocol.connection import Connection, OneRequest
    from protocol.dispatch import Dispatcher
    from protocol.framing import Framer
    from protocol.methods import Session
    from protocol.record import Recording
    from protocol.stdio import log, serve
    from protocol.store.base import SpecError
    from protocol.store.keeper import Keeper
    from protocol.store.once import Once

    sources = layers.sources_of(args, os.environ)
    try:
        sources.resolve()
        store, problem = opening.open_store(args.state, args.namespace, brief=args.once)
    except ConfigError as error:
        os.write(2, f"{layers.complaint(error)}\n".encode("utf-8", "replace"))
        return 2
    except SpecError as error:
        log(str(error))
        return 2
    if problem is not None:
        log(problem)
    keeping = (Once if args.once else Keeper)(store, log=log, problem=problem, days=args.state_days)
    key = store.key if store else os.urandom(32)
    session = Session(
        sources,
        lambda settings: Engine(settings, key=key, compact=args.once),
        log=log,
        keeping=keeping,
    )
    for remark in (*sources.notes, *sources.resolve().notes, *remarks(session.engine.settings)):
        log(remark)
    recording = None
    if args.record is not None:
        try:
            recording = Recording(args.record, key, log)
        except OSError as error:
            log(f"cannot record to {args.record}: {error.strerror}")
            return 2
    dispatcher = Dispatcher(session)
    answering = OneRequest(session, dispatcher, keeping) if isinstance(keeping, Once) else dispatcher
    connection = Connection(session, answering, Framer(args.max_line_bytes), recording)
    gc.freeze()  # what was loaded so far stays: no collection while serving need look at it again
    return serve(wire, connection, flush=keeping.close)
