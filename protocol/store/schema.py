"""The tables of a state file, and how an older file becomes a newer one."""

from __future__ import annotations

APPLICATION_ID = 0x54426B72
"""`TBkr` in the header of the file: what tells it from anybody else's database."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID",
        """
        CREATE TABLE agent (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            parent INTEGER REFERENCES agent (id) ON DELETE SET NULL,
            kind TEXT NOT NULL DEFAULT 'agent',
            started_by TEXT,
            ordinal INTEGER NOT NULL DEFAULT 0,
            running INTEGER NOT NULL DEFAULT 0,
            alive REAL,
            turns INTEGER NOT NULL DEFAULT 0,
            turn_spent INTEGER NOT NULL DEFAULT 0,
            session_spent INTEGER NOT NULL DEFAULT 0,
            family_spent INTEGER NOT NULL DEFAULT 0,
            requests INTEGER NOT NULL DEFAULT 0,
            tools INTEGER NOT NULL DEFAULT 0,
            seen REAL NOT NULL,
            memory BLOB,
            extra BLOB
        )
        """,
        "CREATE INDEX agent_below ON agent (parent) WHERE parent IS NOT NULL",
        "CREATE INDEX agent_running ON agent (parent) WHERE running",
        "CREATE INDEX agent_workflow ON agent (parent, started_by) WHERE kind = 'workflow'",
        """
        CREATE TABLE spender (
            owner INTEGER NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
            scope TEXT NOT NULL,
            name TEXT NOT NULL,
            tokens INTEGER NOT NULL,
            PRIMARY KEY (owner, scope, name)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE request (
            agent INTEGER NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
            digest BLOB NOT NULL,
            PRIMARY KEY (agent, digest)
        ) WITHOUT ROWID
        """,
        """
        CREATE TABLE mark (
            agent INTEGER NOT NULL REFERENCES agent (id) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            PRIMARY KEY (agent, kind, name)
        ) WITHOUT ROWID
        """,
        "CREATE TABLE denial (id INTEGER PRIMARY KEY, at REAL NOT NULL, agent TEXT NOT NULL, code TEXT, what TEXT)",
    ),
)
"""Version n of a file is what the first n of these made. One that was released is never changed again."""

VERSION = len(MIGRATIONS)
