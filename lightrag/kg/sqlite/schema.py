"""Tables of the database file, their version, and how older files are brought up to date.

Text keys that many rows repeat (names, chunk and document ids, paths) are stored once in ``texts`` and pairs of names
once in ``pairs``; every other table names them by number. Numbers are given at first sight, so what is seen often lies
together at the beginning of each table, and a document touches few pages.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path

from lightrag.constants import OPEN_START_MS
from lightrag.exceptions import InputError, SchemaVersionError, StorageError
from lightrag.kg.sqlite.filter_columns import COLUMN_DEFINITIONS

# "LRAG": tells our files from other SQLite files.
APPLICATION_ID = 0x4C524147

# Typed columns need SQLite 3.37; older libraries read and write the same file without the check.
_STRICT = "STRICT" if sqlite3.sqlite_version_info >= (3, 37) else ""

_NAMESPACE = re.compile(r"[a-z0-9_]{1,64}")

Migration = Callable[[sqlite3.Connection], None]


def _create(connection: sqlite3.Connection) -> None:
    for statement in (
        f"CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) {_STRICT}",
        f"""CREATE TABLE pairs (id INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL,
            UNIQUE (low, high)) {_STRICT}""",
        "CREATE INDEX pairs_high ON pairs (high)",
        f"""CREATE TABLE vector_spaces (namespace TEXT NOT NULL PRIMARY KEY, dimension INTEGER NOT NULL,
            model TEXT NOT NULL) {_STRICT}""",
    ):
        connection.execute(statement)


def _list_tags(connection: sqlite3.Connection) -> None:
    """Give status tables the list of their tags."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'status_*'")
    for (table,) in tables.fetchall():
        for statement in _tag_statements(table).values():
            connection.execute(statement)
        connection.execute(
            f"INSERT INTO {tags_table(table)} SELECT DISTINCT j.value, t.id FROM {table} AS t "
            "CROSS JOIN json_each(t.filter_tags) AS j"
        )


def _number_documents(connection: sqlite3.Connection) -> None:
    """Give the documents of status rows and vectors their numbers in ``texts``."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in names:
        prefix = table.partition("_")[0]
        if prefix not in ("status", "vectors"):
            continue
        text = "key" if prefix == "status" else "full_doc_id"
        columns = {row[1] for row in connection.execute(f"PRAGMA table_info({table})").fetchall()}
        if "document" not in columns:
            connection.execute(f"ALTER TABLE {table} ADD COLUMN document INTEGER NOT NULL DEFAULT 0")
        connection.execute(f"INSERT OR IGNORE INTO texts (text) SELECT {text} FROM {table} WHERE {text} <> ''")
        connection.execute(
            f"UPDATE {table} SET document = (SELECT t.id FROM texts AS t WHERE t.text = {text}) WHERE {text} <> ''"
        )
        connection.execute(f"DROP INDEX IF EXISTS {documents_index(table)}")
        for statement in (doc_status_tables(table) if prefix == "status" else vector_tables(table)).values():
            connection.execute(statement)


# Each brings a file from the version that is its position to the next one.
MIGRATIONS: tuple[Migration, ...] = (_create, _list_tags, _number_documents)


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a file to the current version, in one transaction.

    Raises:
        SchemaVersionError: It was written by a newer version.
        StorageError: It is a database of something else.
        sqlite3.Error: It cannot be read or written.
    """
    if _version(connection, path) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster.
        for migration in MIGRATIONS[_version(connection, path) :]:
            migration(connection)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={len(MIGRATIONS)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if tables and application != APPLICATION_ID:
        raise StorageError(f"{str(path)!r} is a database of another program; choose another working_dir or workspace")
    if version > len(MIGRATIONS):
        raise SchemaVersionError(
            f"{str(path)!r} has schema version {version}, written by a newer version of the engine; "
            f"this one reads up to {len(MIGRATIONS)}"
        )
    return version


def table_name(prefix: str, namespace: str) -> str:
    """Return the table of a namespace.

    Raises:
        InputError: The namespace cannot be part of a table's name.
    """
    if not _NAMESPACE.fullmatch(namespace):
        raise InputError(f"namespace {namespace!r} must be 1 to 64 of the characters a-z, 0-9 and '_'")
    return f"{prefix}_{namespace}"


Statements = Mapping[str, str]
"""What creates the tables and indexes of a namespace, by their names."""


def key_value_tables(table: str) -> Statements:
    """Return the statements for a key-value namespace."""
    return {
        table: f"""CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
            create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, value TEXT NOT NULL) {_STRICT}"""
    }


def doc_status_tables(table: str) -> Statements:
    """Return the statements for a document status namespace; an empty text stands for a field that a row lacks.

    ``document`` is the number of the key in ``texts``, by which vectors and evidence name their documents.
    """
    statements = {
        table: f"""CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
            status TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, file_path TEXT NOT NULL,
            track_id TEXT NOT NULL, content_hash TEXT NOT NULL, refused INTEGER NOT NULL,
            document INTEGER NOT NULL DEFAULT 0, {COLUMN_DEFINITIONS}, fields TEXT NOT NULL) {_STRICT}"""
    }
    for suffix, columns in (
        ("status", "status, created_at"),
        ("updated", "updated_at"),
        ("path", "file_path"),
        ("track", "track_id"),
        ("hash", "content_hash"),
        ("document", "document"),
    ):
        statements[f"{table}_{suffix}"] = f"CREATE INDEX IF NOT EXISTS {table}_{suffix} ON {table} ({columns})"
    # A document without such metadata is in none of these.
    for suffix, columns, condition in (
        ("dated", "filter_dated, filter_start_ms, filter_end_ms, filter_start_us, filter_end_us", "filter_dated = 1"),
        ("type", "doc_type", "doc_type <> ''"),
        ("source", "source_path", "source_path <> ''"),
        ("modified", "modified_at", f"modified_at > {OPEN_START_MS}"),
    ):
        name = f"{table}_{suffix}"
        statements[name] = f"CREATE INDEX IF NOT EXISTS {name} ON {table} ({columns}) WHERE {condition}"
    return {**statements, **_tag_statements(table)}


def tags_table(table: str) -> str:
    """Return the name of the table that lists the tags of a status table's rows."""
    return f"tags_of_{table}"


def _tag_statements(table: str) -> Statements:
    """Return the statements for the list of tags; triggers keep it, so that no write can forget it."""
    tags = tags_table(table)
    add = f"INSERT OR IGNORE INTO {tags} SELECT value, NEW.id FROM json_each(NEW.filter_tags);"
    remove = f"DELETE FROM {tags} WHERE document = OLD.id AND tag IN (SELECT value FROM json_each(OLD.filter_tags));"
    changed = "OLD.filter_tags <> NEW.filter_tags OR OLD.id <> NEW.id"
    statements = {
        tags: f"""CREATE TABLE IF NOT EXISTS {tags} (tag TEXT NOT NULL, document INTEGER NOT NULL,
            PRIMARY KEY (tag, document)) {", ".join(filter(None, (_STRICT, "WITHOUT ROWID")))}"""
    }
    for name, event, condition, action in (
        ("inserted", "INSERT", "NEW.filter_tags <> '[]'", add),
        ("updated", "UPDATE OF filter_tags, id", changed, remove + add),
        ("deleted", "DELETE", "OLD.filter_tags <> '[]'", remove),
    ):
        trigger = f"{tags}_{name}"
        statements[trigger] = (
            f"CREATE TRIGGER IF NOT EXISTS {trigger} AFTER {event} ON {table} WHEN {condition} BEGIN {action} END"
        )
    return statements


def vector_tables(table: str) -> Statements:
    """Return the statements for a vector namespace.

    The vector stands before the content, so that loading all vectors does not read the texts. The index tells which
    rows are of which document, by its number in ``texts``, without reading any of them; 0 is no document.
    """
    documents = documents_index(table)
    return {
        table: f"""CREATE TABLE IF NOT EXISTS {table} (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
            created_at INTEGER NOT NULL, document INTEGER NOT NULL DEFAULT 0, {COLUMN_DEFINITIONS},
            meta TEXT NOT NULL, vector BLOB NOT NULL, content TEXT NOT NULL) {_STRICT}""",
        documents: f"CREATE INDEX IF NOT EXISTS {documents} ON {table} (document) WHERE document <> 0",
    }


def documents_index(table: str) -> str:
    """Return the name of the index on the numbers of documents in a table."""
    return f"{table}_document"


def graph_tables(nodes: str, edges: str) -> Statements:
    """Return the statements for a graph namespace; a node's id is that of its name, an edge's that of its pair.

    ``degree`` counts the edges at a node: readers rank by it, and whoever adds an edge writes its ends anyway.
    """
    return {
        nodes: f"""CREATE TABLE IF NOT EXISTS {nodes} (id INTEGER PRIMARY KEY, degree INTEGER NOT NULL DEFAULT 0,
            {COLUMN_DEFINITIONS}, properties TEXT NOT NULL) {_STRICT}""",
        edges: f"""CREATE TABLE IF NOT EXISTS {edges} (id INTEGER PRIMARY KEY, {COLUMN_DEFINITIONS},
            properties TEXT NOT NULL) {_STRICT}""",
    }


def evidence_tables(table: str) -> Statements:
    """Return the statements for an evidence namespace.

    ``object`` is the number of a name (kind 0) or of a pair (kind 1); the number 0 in ``path``, ``type`` and ``tenant``
    stands for the empty text.
    """
    return {
        table: f"""CREATE TABLE IF NOT EXISTS {table} (sequence INTEGER PRIMARY KEY, kind INTEGER NOT NULL,
            object INTEGER NOT NULL, chunk INTEGER NOT NULL, document INTEGER NOT NULL, path INTEGER NOT NULL,
            type INTEGER NOT NULL, tenant INTEGER NOT NULL, created_at INTEGER NOT NULL, weight REAL NOT NULL,
            keywords TEXT NOT NULL, description TEXT NOT NULL, UNIQUE (kind, object, chunk)) {_STRICT}""",
        f"{table}_document": f"CREATE INDEX IF NOT EXISTS {table}_document ON {table} (document)",
    }
