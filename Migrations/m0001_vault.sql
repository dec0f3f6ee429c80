-- Format 1. Every byte of it is told in Documentation/Format.md.
-- Names of tables and the number of their rows are in the clear; what the rows say is not.

-- The one row that everything else hangs on: counter, roots, key epoch; under one code.
CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  body BLOB NOT NULL,
  keyring BLOB NOT NULL,
  code BLOB NOT NULL
) STRICT;

-- The vault's key, wrapped once for each way of unlocking.
CREATE TABLE slot (
  id BLOB NOT NULL PRIMARY KEY,
  body BLOB NOT NULL,
  box BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The keyed Merkle tree over the rows of the tables below.
CREATE TABLE node (
  place INTEGER NOT NULL PRIMARY KEY,
  content BLOB NOT NULL
) STRICT;

-- The ledger: leaf and hashes are in the clear and checkable by anyone, the body is sealed.
CREATE TABLE entry (
  number INTEGER NOT NULL PRIMARY KEY,
  leaf BLOB NOT NULL,
  hashes BLOB NOT NULL,
  body BLOB NOT NULL
) STRICT;

-- Who the person is at a provider.
CREATE TABLE account (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Blind index: a name or user id, and the accounts that bear it.
CREATE TABLE label (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- What a provider issued to one client for one account.
CREATE TABLE credential (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A registration at a provider.
CREATE TABLE client (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Who asks.
CREATE TABLE app (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The answers for one app and one account.
CREATE TABLE standing (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- An app's question that nobody has answered yet.
CREATE TABLE ask (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A provider definition of the user's own.
CREATE TABLE definition (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A credential's renewal: what was sent and not yet answered, what was tried, when it is next.
CREATE TABLE renewal (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- A token that is still to be taken back at its provider.
CREATE TABLE revocation (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- How fast a provider may be asked by one client, and what stopped it.
CREATE TABLE pace (
  key BLOB NOT NULL PRIMARY KEY,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  day INTEGER NOT NULL,
  due INTEGER NOT NULL,
  overview BLOB NOT NULL,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Hints for the renewal engine; the true time is sealed in the row.
CREATE INDEX credential_due ON credential (due) WHERE due > 0;
CREATE INDEX renewal_due ON renewal (due) WHERE due > 0;
