#!/usr/bin/env python3
"""Reads a vault by Documentation/Format.md alone, and checks all of it.

    read_vault.py VAULT (--key-file FILE | --passphrase-file FILE) [--head FILE] [--show-secrets]

It shares no code with the product: Python's sqlite3 reads the file, libsodium (by ctypes) opens what
is sealed. What it finds is one JSON object on standard output; the first thing that is wrong is one
line on standard error and exit code 65. It opens the file read-only and changes nothing. Secrets are
opened to check them and shown only where --show-secrets asks for it.

Section numbers are those of Documentation/Format.md.
"""

import argparse
import base64
import ctypes
import ctypes.util
import hashlib
import hmac
import json
import os
import sqlite3
import struct
import sys
from datetime import datetime, timedelta


class Damaged(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Damaged(what)


# --- Section 2: cryptography ------------------------------------------------------------------------

sodium = ctypes.CDLL(ctypes.util.find_library("sodium") or "libsodium.so.23")
need(sodium.sodium_init() >= 0, "libsodium does not start")


def blake2b(data, key=b"", size=32):
    return hashlib.blake2b(data, key=key, digest_size=size).digest()


def subkey(number, context, key):
    """crypto_kdf: BLAKE2b of nothing, the number as salt, the context as person."""
    salt = struct.pack("<Q", number) + bytes(8)
    return hashlib.blake2b(
        b"", key=key, digest_size=32, salt=salt, person=context + bytes(8)).digest()


def open_box(box, associated, key, what):
    need(len(box) >= 40, f"{what}: too short for a box")
    nonce, sealed = box[:24], box[24:]
    plain = ctypes.create_string_buffer(max(1, len(sealed) - 16))
    status = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
        plain, None, None, sealed, ctypes.c_ulonglong(len(sealed)), associated,
        ctypes.c_ulonglong(len(associated)), nonce, key)
    need(status == 0, f"{what}: cannot be opened")
    return plain.raw[:len(sealed) - 16]


def argon2id(passphrase, salt, passes, memory):
    out = ctypes.create_string_buffer(32)
    status = sodium.crypto_pwhash(
        out, ctypes.c_ulonglong(32), passphrase, ctypes.c_ulonglong(len(passphrase)), salt,
        ctypes.c_ulonglong(passes), ctypes.c_size_t(memory), 2)
    need(status == 0, "Argon2id: not enough memory")
    return out.raw


def signature_holds(signature, text, public_key):
    return sodium.crypto_sign_ed25519_verify_detached(
        signature, text, ctypes.c_ulonglong(len(text)), public_key) == 0


def unpadded(data, block, what):
    need(len(data) >= block and len(data) % block == 0, f"{what}: length")
    end = len(data.rstrip(b"\0")) - 1
    need(end >= len(data) - block and data[end] == 0x80, f"{what}: padding")
    return data[:end]


# --- Section 3: encodings ---------------------------------------------------------------------------

class Reader:
    def __init__(self, data, what):
        self.data, self.place, self.what = data, 0, what

    def raw(self, count):
        need(count <= len(self.data) - self.place, f"{self.what}: cut off")
        self.place += count
        return self.data[self.place - count:self.place]

    def number(self, form):
        return struct.unpack(">" + form, self.raw(struct.calcsize(form)))[0]

    u8 = lambda self: self.number("B")
    u32 = lambda self: self.number("I")
    u64 = lambda self: self.number("Q")
    i64 = lambda self: self.number("q")
    key = lambda self: self.raw(16)
    field = lambda self: self.raw(self.u32())

    def text(self):
        try:
            return self.field().decode("utf-8", "strict")
        except UnicodeDecodeError:
            raise Damaged(f"{self.what}: text is not UTF-8")

    def flag(self):
        value = self.u8()
        need(value < 2, f"{self.what}: flag")
        return value == 1

    def optional(self, read):
        return read() if self.flag() else None

    def list(self, read=None):
        read = read or self.text
        return [read() for _ in range(self.u32())]

    def time(self):
        return self.i64()

    def version(self, expected=1):
        need(self.u8() == expected, f"{self.what}: version")

    def code(self, names):
        value = self.u8()
        need(value in names, f"{self.what}: code {value}")
        return names[value]

    def end(self):
        need(self.place == len(self.data), f"{self.what}: trailing bytes")


def base32(data):
    return base64.b32encode(data).decode().lower().rstrip("=")


def secret_fields(data, what):
    found, last, reader = {}, -1, Reader(data, what)
    while reader.place < len(data):
        tag = reader.u8()
        need(tag > last, f"{what}: order of fields")
        found[tag], last = reader.field(), tag
    return found


def moment(seconds):
    if seconds is None:
        return None
    # Years 1 to 9999, which is what Python's calendar has.
    seconds = min(max(seconds, -62135596800), 253402300799)
    time = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return time.isoformat(timespec="seconds") + "Z"


# --- Sections 5 and 6: state, slots, keys -----------------------------------------------------------

TABLES = {1: "account", 2: "label", 3: "credential", 4: "client", 5: "app", 6: "standing", 7: "ask",
          8: "definition", 9: "renewal", 10: "revocation", 11: "pace"}
SLOT_KINDS = {1: "passphrase", 2: "key_file", 3: "recovery"}


class State:
    def __init__(self, body):
        r = Reader(body, "state")
        r.version()
        self.vault, self.counter, self.epoch = r.key(), r.u64(), r.u64()
        self.branch, flags, self.day = r.key(), r.u8(), r.i64()
        if flags > 3:
            raise Damaged("state: flags")
        self.network, self.backup = bool(flags & 1), bool(flags & 2)
        self.machine, self.slots, self.schema = r.key(), r.key(), r.key()
        self.size, self.root, self.frontier = r.u64(), r.raw(32), r.field()
        need(r.u8() == len(TABLES), "state: number of tables")
        self.tables = {}
        for table in TABLES:
            self.tables[table] = (r.u64(), r.u8(), r.key())
            need(self.tables[table][1] <= 6, "state: depth")
        r.end()


def read_slots(database, state):
    slots, joined = [], b""
    for id, body, box in database.execute("SELECT id, body, box FROM slot ORDER BY id"):
        need(len(id) == 16, "slot: id")
        joined += id + struct.pack(">I", len(body)) + body + struct.pack(">I", len(box)) + box
        r = Reader(body, "slot")
        r.version()
        slot = {"id": id, "body": body, "box": box, "kind": r.code(SLOT_KINDS), "number": r.u32(),
                "epoch": r.u64(), "day": r.i64(), "passes": r.u32(), "memory": r.u64(),
                "salt": r.field()}
        need(len(slot["salt"]) == 16, "slot: salt")
        r.end()
        slots.append(slot)
    joined = state.vault + struct.pack(">I", len(slots)) + joined
    need(blake2b(joined)[:16] == state.slots, "slots: not those that the state names")
    return sorted(slots, key=lambda slot: slot["number"])


def recovery_secret(text):
    """The 32 bytes of a recovery code, or None where the text is none (section 6.4)."""
    letters = text.replace(b"-", b"").replace(b" ", b"").upper()
    if letters[:5] != b"VREC_" or len(letters) != 61:
        return None
    try:
        raw = base64.b32decode(letters[5:])
    except ValueError:
        return None
    return raw[:32] if blake2b(raw[:32], b"vault/recovery/check/1")[:3] == raw[32:] else None


def wrapping_key(slot, secret):
    if slot["kind"] == "passphrase":
        need(1 <= slot["passes"] <= 10 and 8 << 20 <= slot["memory"] <= 1 << 30,
             "slot: key settings out of bounds")
        return argon2id(secret, slot["salt"], slot["passes"], slot["memory"])
    label = {"key_file": b"vault/slot/keyfile/1", "recovery": b"vault/slot/recovery/1"}
    return blake2b(label[slot["kind"]] + slot["salt"], key=secret)


def unlock(slots, state, secret, kind):
    for slot in slots:
        if slot["kind"] != kind:
            continue
        body = slot["body"]
        associated = b"vault/slot/1" + state.vault + slot["id"] + struct.pack(">I", len(body)) + body
        try:
            key = open_box(slot["box"], associated, wrapping_key(slot, secret), "slot")
        except Damaged:
            continue
        need(len(key) == 32, "slot: length of the key")
        return key
    raise Damaged("that key does not open this vault")


# --- Sections 7 and 8: rows and the state tree ------------------------------------------------------

class Rows:
    """Every row of every table, opened, each held against the tree."""

    def __init__(self, database, state, vault_key):
        self.database, self.state = database, state
        self.rows_key = subkey(1, b"vltrows_", vault_key)
        self.tree_key = subkey(2, b"vltstate", vault_key)
        self.used = set()

    def node(self, table, level, index):
        place = table << 48 | level << 40 | index
        found = self.database.execute(
            "SELECT content FROM node WHERE place = ?", (place,)).fetchone()
        content = found[0] if found else b""
        need(found is None or content, f"node {place}: stored and empty")
        if content:
            self.used.add(place)
        digest = blake2b(struct.pack(">Q", place) + content, self.tree_key, 16)
        return content, digest if content else bytes(16)

    def leaves(self, table):
        """The records (key, tag) of a table in key order, checked from the root down."""
        rows, depth, root = self.state.tables[table]
        records = []

        def walk(level, index, expected):
            content, digest = self.node(table, level, index)
            need(digest == expected, f"state tree of {TABLES[table]}: node {level}/{index}")
            if level == 0:
                need(len(content) % 32 == 0, f"state tree of {TABLES[table]}: size of a leaf")
                for place in range(0, len(content), 32):
                    key, tag = content[place:place + 16], content[place + 16:place + 32]
                    bits = int.from_bytes(key, "big") >> (128 - 6 * depth)
                    need(bits == index, f"state tree of {TABLES[table]}: a key in a wrong leaf")
                    records.append((key, tag))
            elif content:
                need(len(content) == 1024, f"state tree of {TABLES[table]}: size of a branch")
                for child in range(64):
                    walk(level - 1, index << 6 | child, content[16 * child:16 * child + 16])

        walk(depth, 0, root)
        need(len(records) == rows, f"state tree of {TABLES[table]}: number of rows")
        keys = [key for key, _ in records]
        need(keys == sorted(set(keys)), f"state tree of {TABLES[table]}: order")
        return records

    def associated(self, table, key, column, version):
        return (b"vault/row/1" + self.state.vault + struct.pack(">QB", self.state.epoch, table) + key
                + struct.pack(">Bq", column, version))

    def table(self, table):
        name, rows = TABLES[table], []
        tags = dict(self.leaves(table))
        for row in self.database.execute(
                f"SELECT key, version, generation, day, due, overview, secret FROM {name}"
                " ORDER BY key"):
            key, numbers, overview, secret = row[0], row[1:5], row[5], row[6]
            what = f"row {base32(key)} of {name}"
            head = (struct.pack(">Q", table) + key + struct.pack(">4q", *numbers)
                    + struct.pack(">QQ", len(overview), len(secret)))
            tag = blake2b(head + overview + secret, self.tree_key, 16)
            need(tags.pop(key, None) == tag, f"{what}: not the one that the tree has")
            version, generation = numbers[0], numbers[1]
            plain = open_box(overview, self.associated(table, key, 1, version), self.rows_key, what)
            sealed = None
            if secret:
                sealed = open_box(
                    secret, self.associated(table, key, 2, generation), self.rows_key, what)
            rows.append((key, numbers, Reader(unpadded(plain, 64, what), what), sealed))
        need(not tags, f"{name}: a row is missing")
        return rows

    def check_nodes(self):
        stored = {place for place, in self.database.execute("SELECT place FROM node")}
        need(stored == self.used, "state tree: a node that belongs nowhere")


# --- Section 9: records -----------------------------------------------------------------------------

GROUPS = {1: "read", 2: "write", 3: "extended"}
AUDIENCES = {0: None, 1: "everyone", 2: "friends", 3: "only_me"}


def read_account(r):
    r.version()
    account = {"id": base32(r.key()), "type": r.text(), "username": r.text(),
               "user_id": r.optional(r.text), "description": r.optional(r.text),
               "created_at": moment(r.time()),
               "former_usernames": r.list(lambda: {"name": r.text(), "until": moment(r.time())}),
               "clients": r.list()}
    r.end()
    return account


def read_credential(r):
    r.version()
    credential = {"client_id": r.text(), "kind": r.code({1: "oauth1", 2: "oauth2"}),
                  "token_type": r.text(), "generation": r.i64(), "obtained_at": moment(r.time()),
                  "lifetime": r.optional(r.i64)}
    expiry = r.code({1: "unknown", 2: "never", 3: "at"})
    credential["expiry"] = moment(r.time()) if expiry == "at" else expiry
    credential["refresh_expires_at"] = moment(r.optional(r.time))
    credential["data_access_until"] = moment(r.optional(r.time))
    credential["scopes"] = r.optional(r.list)
    credential["asked_scopes"] = r.optional(r.list)
    credential["source"] = r.code(
        {1: "response", 2: "token_stdin", 3: "sign_in", 4: "renewal", 5: "restore"})
    credential["has_refresh_token"] = r.flag()
    mark = r.code({0: None, 1: "rejected", 2: "uncertain", 3: "stale"})
    credential["mark"] = mark
    credential["mark_reason"] = r.text() if mark == "rejected" else None
    credential["mark_at"] = moment(r.time()) if mark else None
    credential["notes"] = r.list()
    r.end()
    return credential


def read_renewal(r):
    r.version()
    renewal = {"account": base32(r.key()), "client_id": r.text(), "generation": r.i64()}
    look = r.optional(r.time)
    renewal |= {"hour": 0 if look is None else max(1, look // 3600), "look_at": moment(look),
                "tried_at": moment(r.optional(r.time)), "attempts": r.i64(),
                "failing_since": moment(r.optional(r.time)),
                "waits_until": moment(r.optional(r.time)),
                "provider_time": moment(r.optional(r.time)), "class": r.optional(r.text),
                "reason": r.optional(r.text), "renew_first": r.flag(), "may_be_spent": r.flag(),
                "intent": r.optional(lambda: {
                    "attempt": r.i64(), "token_hash": r.raw(32).hex(),
                    "started_at": moment(r.time()), "boot_id": r.text(), "since_boot": r.i64()}),
                "announced": moment(r.optional(r.time)), "has_ended": r.flag()}
    r.end()
    return renewal


def read_revocation(r):
    r.version()
    revocation = {"id": base32(r.key()), "type": r.text(), "client_id": r.text(),
                  "account": base32(r.key()), "username": r.text(),
                  "user_id": r.optional(r.text), "kind": r.code({1: "oauth1", 2: "oauth2"}),
                  "token_type": r.text(), "generation": r.i64(),
                  "access_ends_at": moment(r.optional(r.time)), "has_refresh_token": r.flag(),
                  "cause": r.code({1: "account_removed", 2: "replaced", 3: "wrong_user",
                                   4: "app_revoked"}),
                  "created_at": moment(r.time()), "not_before": moment(r.time()),
                  "provider_time": r.flag(), "attempts": r.i64(),
                  "last_class": r.optional(r.text)}
    r.end()
    return revocation


def read_pace(r):
    r.version()
    pace = {"type": r.text(), "client_id": r.text(), "failures": r.i64(),
            "failed_at": moment(r.optional(r.time)), "waits_until": moment(r.optional(r.time)),
            "provider_time": moment(r.optional(r.time)), "stopped_at": moment(r.optional(r.time)),
            "stopped_client": r.optional(lambda: base32(r.key())), "class": r.optional(r.text),
            "reason": r.optional(r.text)}
    r.end()
    return pace


def read_client(r):
    r.version()
    client = {"type": r.text(), "client_id": r.text(), "name": r.optional(r.text),
              "redirect": r.optional(r.text), "created_at": moment(r.time()), "default": r.flag(),
              "has_secret": r.flag()}
    r.end()
    return client


def read_app(r):
    r.version()
    app = {"id": r.text(), "name": r.text(), "clients": r.list(lambda: r.text() + ":" + r.text()),
           "sign_only": r.flag(), "uids": r.list(r.u32), "key_hash": r.optional(lambda: r.raw(32)),
           "created_at": moment(r.time()), "key_changed_at": moment(r.optional(r.time))}
    r.end()
    return app


def read_standing(r):
    r.version()
    app, account = r.text(), r.key()

    def one():
        return {"app": app, "account": base32(account), "permission": r.text(),
                "group": r.code(GROUPS),
                "decision": r.code({1: "granted", 2: "denied", 3: "revoked"}),
                "audience": r.code(AUDIENCES), "until": moment(r.optional(r.time)),
                "since": moment(r.time()), "entry": r.u64(), "reason": r.optional(r.text),
                "decided_by": r.code({1: "person", 2: "provider", 3: "configuration"}),
                "confirmed_at": moment(r.optional(r.time)), "lapse_entry": r.optional(r.i64)}

    grants = r.list(one)
    names = [grant["permission"].encode() for grant in grants]
    need(names == sorted(set(names)), f"{r.what}: order of permissions")
    r.end()
    return app, account, grants


def read_ask(r):
    r.version()
    ask = {"id": base32(r.key()), "app": r.text(), "type": r.text(),
           "account": r.optional(lambda: base32(r.key())), "permissions": r.list(),
           "group": r.code({0: None, 1: "read", 2: "write", 3: "readwrite", 4: "extended"}),
           "audience": r.code(AUDIENCES), "asked_at": moment(r.time()),
           "deadline": moment(r.time()),
           "asker": r.optional(lambda: {"process": r.u32(), "started_at": r.u64(),
                                        "boot": r.text()})}
    r.end()
    return ask


# --- Section 10: the ledger -------------------------------------------------------------------------

EVENTS = dict(enumerate(
    "vault_created account_added account_renamed account_removed signed_in client_added"
    " client_removed app_added app_removed app_key_changed access_requested granted denied revoked"
    " lapsed narrowed lost_on_site token_used use_refused renewal_started renewed rejected failed"
    " expired keys_changed anchor_reset restored imported verified ask_interrupted"
    " provider_added revocation_sent widened".split(), 1))


def read_body(data, what):
    r = Reader(data, what)
    r.version()
    entry = {"entry": r.u64(), "time": r.time(), "event": r.code(EVENTS), "actor": r.text(),
             "app": r.optional(r.text), "account": r.optional(lambda: base32(r.key())),
             "account_label": r.optional(r.text), "permissions": r.list(),
             "audience": r.optional(r.text), "until": moment(r.optional(r.time)),
             "reason": r.optional(r.text),
             "evidence": r.optional(lambda: {"status": r.optional(r.i64),
                                             "code": r.optional(r.text),
                                             "subcode": r.optional(r.text),
                                             "class": r.optional(r.text),
                                             "body_hash": r.optional(r.text)}),
             "details": r.list(lambda: [r.text(), r.text()])}
    r.end()
    return entry


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def peaks_root(peaks):
    if not peaks:
        return sha256()
    root = peaks[-1]
    for peak in reversed(peaks[:-1]):
        root = sha256(b"\x01", peak, root)
    return root


def read_ledger(database, state, vault_key, sizes):
    """The entries in order, and the roots at the sizes that are asked for."""
    key = subkey(1, b"vltledgr", vault_key)
    entries, peaks, roots = [], [], {0: sha256()}
    for number, leaf, hashes, box in database.execute(
            "SELECT number, leaf, hashes, body FROM entry ORDER BY number"):
        what = f"entry {number}"
        need(number == len(entries), f"entry {len(entries)}: missing")
        # 10.3: the leaf's hash, then that of each subtree which it completes.
        own = [sha256(b"\x00", leaf)]
        rest = number
        while rest & 1:
            own.append(sha256(b"\x01", peaks.pop(), own[-1]))
            rest >>= 1
        peaks.append(own[-1])
        need(hashes == b"".join(own), f"{what}: hashes")
        # 10.1: the leaf, and the body that it commits to.
        r = Reader(leaf, f"{what}, leaf")
        r.version()
        leaf_number, minute, commitment = r.u64(), r.i64(), r.raw(32)
        r.end()
        associated = b"vault/entry/1" + state.vault + struct.pack(">QQ", state.epoch, number)
        plain = unpadded(open_box(box, associated, key, what), 64, what)
        need(len(plain) > 32, f"{what}: too short")
        need(blake2b(plain[32:], key=plain[:32]) == commitment, f"{what}: not what was written")
        entry = read_body(plain[32:], what)
        need(entry["entry"] == leaf_number == number and entry["time"] // 60 == minute,
             f"{what}: number or minute")
        entry["time"] = moment(entry["time"])
        entries.append(entry)
        if number + 1 in sizes:
            roots[number + 1] = peaks_root(peaks)
    need(len(entries) == state.size, f"entry {min(len(entries), state.size)}: the ledger's length")
    need(peaks_root(peaks) == state.root, "ledger: root")
    need(state.frontier == (struct.pack(">Q", state.size) + b"".join(peaks) if peaks else b""),
         "ledger: frontier")
    return entries, roots


# --- Section 11: the head outside the file ----------------------------------------------------------

def read_head(path, state, public_key):
    best = None
    with open(path, "rb") as file:
        content = file.read()
    for place in (0, 512):
        slot = content[place:place + 512]
        if len(slot) < 512 or slot[:12] != b"vault/head/1" or slot[12:28] != state.vault:
            continue
        r = Reader(slot[28:], "head")
        head = {"counter": r.u64(), "branch": r.key(), "epoch": r.u64(), "size": r.u64(),
                "root": r.raw(32), "code": r.raw(32), "public_key": r.raw(32)}
        signature, rest = r.raw(64), slot[28 + r.place:]
        if (head["public_key"] == public_key and not rest.strip(b"\0")
                and signature_holds(signature, slot[:164], public_key)
                and (best is None or head["counter"] > best["counter"])):
            best = head
    need(best, "head: no good slot")
    return best


# --- All of it --------------------------------------------------------------------------------------

def read_vault(path, secret, kind, head_path, show_secrets):
    with open(path, "rb") as file:
        header = file.read(100)
    need(header[:16] == b"SQLite format 3\0" and header[68:72] == b"AVLT", "not a vault")
    database = sqlite3.connect(f"file:{path.replace('%', '%25').replace('?', '%3f')}?mode=ro",
                               uri=True, isolation_level=None)
    database.execute("BEGIN")
    need(database.execute("PRAGMA user_version").fetchone()[0] == 1, "format: not 1")
    need(database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "integrity_check")
    states = database.execute("SELECT body, keyring, code FROM state").fetchall()
    need(len(states) == 1, "state: not one row")
    body, keyring, code = states[0]
    state = State(body)
    slots = read_slots(database, state)
    if kind == "passphrase" and recovery_secret(secret):
        kind, secret = "recovery", recovery_secret(secret)
    vault_key = unlock(slots, state, secret, kind)

    state_key = subkey(1, b"vltstate", vault_key)
    expected = blake2b(
        b"vault/state/1" + struct.pack(">Q", len(body)) + body + keyring, key=state_key)
    need(hmac.compare_digest(expected, code), "state: code")
    schema = b"".join(
        struct.pack(">I", len(part)) + part
        for row in database.execute(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name")
        for part in ((column or "").encode() for column in row))
    need(blake2b(schema)[:16] == state.schema, "schema")

    ring = secret_fields(open_box(
        keyring, b"vault/keyring/1" + state.vault + struct.pack(">Q", state.epoch), vault_key,
        "keyring"), "keyring")
    need(set(ring) == {1, 2, 3, 4}, "keyring: fields")
    blind, seed = ring[1], ring[3]
    public_key = ctypes.create_string_buffer(32)
    sodium.crypto_sign_ed25519_seed_keypair(public_key, ctypes.create_string_buffer(64), seed)
    public_key = public_key.raw
    policy = Reader(ring[4], "keyring, anchor")
    anchor = {"rule": policy.code({1: "adopt", 2: "required", 3: "none"}),
              "path": policy.optional(policy.text)}
    policy.end()

    def blind_key(purpose, *parts):
        joined = b"".join(struct.pack(">I", len(part)) + part
                          for part in (purpose.encode(), *parts))
        return blake2b(joined, blind, 16)

    rows = Rows(database, state, vault_key)
    accounts, labels = [], {}
    for key, _, r, sealed in rows.table(1):
        account = read_account(r)
        need(base32(key) == account["id"] and sealed is None, f"{r.what}: key")
        id, type = key, account["type"].encode()
        wanted = [blind_key("label/username", type, account["username"].encode()),
                  blind_key("label/name", account["username"].encode())]
        if account["user_id"] is not None:
            wanted.append(blind_key("label/user-id", type, account["user_id"].encode()))
        for label in wanted:
            labels.setdefault(label, set()).add(id)
        account["credentials"] = []
        accounts.append(account)
    for key, _, r, sealed in rows.table(2):
        r.version()
        bearers = r.list(r.key)
        r.end()
        need(len(set(bearers)) == len(bearers) and labels.pop(key, None) == set(bearers)
             and sealed is None, f"{r.what}: not the accounts that bear it")
    need(not labels, "label: one is missing")

    renewals = {}
    for key, numbers, r, sealed in rows.table(9):
        renewals[key] = read_renewal(r)
        need(sealed is None and numbers[3] == renewals[key].pop("hour"), f"{r.what}: its hour")
    credentials = {key: (numbers, r, sealed) for key, numbers, r, sealed in rows.table(3)}
    for account in accounts:
        for client in account["clients"]:
            id = base64.b32decode(account["id"].upper() + "======")
            key = blind_key("credential", id, client.encode())
            found, renewal = credentials.pop(key, None), renewals.pop(key, None)
            need(renewal is None or (renewal["account"], renewal["client_id"])
                 == (account["id"], client), f"renewal of {account['id']}: whose it is")
            need(found, f"credential of {account['id']}: missing")
            numbers, r, sealed = found
            credential = read_credential(r)
            need(credential["client_id"] == client and sealed is not None, f"{r.what}: client")
            fields = secret_fields(unpadded(sealed, 256, r.what), r.what)
            need(1 in fields and set(fields) <= {1, 2, 3, 4}
                 and (2 in fields) == credential["has_refresh_token"], f"{r.what}: secret")
            credential["due_hour"] = numbers[3]
            current = renewal is not None and renewal["generation"] == credential["generation"]
            credential["renewal"] = renewal if current else None
            if show_secrets:
                for tag, name in ((1, "access_token"), (2, "refresh_token"), (3, "token_secret")):
                    credential[name] = fields[tag].decode() if tag in fields else None
            account["credentials"].append(credential)
    need(not credentials, "credential: one that no account names")
    need(not renewals, "renewal: one of no credential")

    clients = []
    for key, _, r, sealed in rows.table(4):
        client = read_client(r)
        need(key == blind_key("client", client["type"].encode(), client["client_id"].encode())
             and (sealed is not None) == client["has_secret"], f"{r.what}: key")
        if sealed is not None:
            plain = unpadded(sealed, 256, r.what)
            client["secret"] = plain.decode() if show_secrets else None
        clients.append(client)
    apps = []
    for key, _, r, sealed in rows.table(5):
        app = read_app(r)
        need(key == blind_key("app", app["id"].encode()) and sealed is None, f"{r.what}: key")
        app["key_hash"] = app["key_hash"].hex() if app["key_hash"] else None
        apps.append(app)
    grants = []
    for key, _, r, sealed in rows.table(6):
        app, account, standings = read_standing(r)
        need(key == blind_key("standing", app.encode(), account) and sealed is None,
             f"{r.what}: key")
        grants += standings
    asks = []
    for key, _, r, sealed in rows.table(7):
        asks.append(read_ask(r))
        need(base32(key) == asks[-1]["id"] and sealed is None, f"{r.what}: key")
    definitions = []
    for key, _, r, sealed in rows.table(8):
        r.version()
        definitions.append(json.loads(r.text()))
        r.end()
        need(key == blind_key("definition", definitions[-1]["id"].encode()) and sealed is None,
             f"{r.what}: key")
    paces = []
    for key, _, r, sealed in rows.table(11):
        paces.append(read_pace(r))
        need(sealed is None and key == blind_key(
            "pace", paces[-1]["type"].encode(), paces[-1]["client_id"].encode()), f"{r.what}: key")
    revocations = []
    for key, _, r, sealed in rows.table(10):
        revocations.append(read_revocation(r))
        need(base32(key) == revocations[-1]["id"] and sealed is not None, f"{r.what}: key")
        outer = secret_fields(unpadded(sealed, 256, r.what), r.what)
        need(1 in outer and set(outer) <= {1, 2}, f"{r.what}: secret")
        inner = secret_fields(unpadded(outer[1], 256, r.what), r.what)
        need(1 in inner and set(inner) <= {1, 2, 3, 4}
             and (2 in inner) == revocations[-1]["has_refresh_token"], f"{r.what}: secret")
    rows.check_nodes()

    head = read_head(head_path, state, public_key) if head_path else None
    history, roots = read_ledger(database, state, vault_key, {head["size"]} if head else set())
    if head:
        need(head["counter"] <= state.counter, "head: newer than the file, which was put back")
        need(head["counter"] < state.counter or head["code"] == code, "head: another state")
        need(roots.get(head["size"]) == head["root"], "head: another history")
    for grant in grants:
        entry = history[grant["entry"]]
        need(entry["app"] == grant["app"] and entry["account"] == grant["account"]
             and grant["permission"] in entry["permissions"],
             f"grant of {grant['permission']} to {grant['app']}: not what its entry decided")
    return {
        "vault": base32(state.vault), "branch": base32(state.branch), "counter": state.counter,
        "key_epoch": state.epoch, "created_day": state.day,
        "tables": {TABLES[t]: {"rows": state.tables[t][0], "depth": state.tables[t][1]}
                   for t in TABLES},
        "keys": [{name: slot[name] for name in ("number", "kind", "day", "passes", "memory")}
                 for slot in slots],
        "anchor": anchor, "public_key": base64.b64encode(public_key).decode(),
        "accounts": accounts, "clients": clients, "apps": apps, "grants": grants, "asks": asks,
        "definitions": definitions, "paces": paces, "history": history,
        "root": base64.b64encode(state.root).decode(), "head": head["counter"] if head else None,
    }


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("vault")
    secret = options.add_mutually_exclusive_group(required=True)
    secret.add_argument("--key-file")
    secret.add_argument("--passphrase-file")
    options.add_argument("--head")
    options.add_argument("--show-secrets", action="store_true")
    given = options.parse_args()
    with open(given.key_file or given.passphrase_file, "rb") as file:
        content = file.read()
    kind = "key_file" if given.key_file else "passphrase"
    try:
        if kind == "key_file":
            need(len(content) == 32, "a key file has 32 bytes")
        else:
            content = content.removesuffix(b"\n")
        found = read_vault(os.path.abspath(given.vault), content, kind, given.head,
                           given.show_secrets)
    except (Damaged, sqlite3.DatabaseError, struct.error, IndexError) as error:
        print(f"read_vault: {error}", file=sys.stderr)
        return 65
    json.dump(found, sys.stdout, ensure_ascii=False, indent=1)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
