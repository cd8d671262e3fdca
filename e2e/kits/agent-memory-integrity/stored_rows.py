"""Rows of a database as JSON, read and written behind the platform's back."""

import json

import psycopg


class StoredRows:
    def __init__(self, url):
        self._connection = psycopg.connect(url, autocommit=True)
        # Whoever administers the database is kept off by no trigger, and by no foreign key.
        self._connection.execute("SET session_replication_role = replica")

    def query(self, text, values=()):
        return self._connection.execute(text, values).fetchall()

    def execute(self, text, values=()):
        self._connection.execute(text, values)

    def insert(self, table, row):
        """Inserts a row that has the form of `to_jsonb`."""
        self.execute(
            f"INSERT INTO {table} SELECT (jsonb_populate_record(NULL::{table}, %s::jsonb)).*", [json.dumps(row)]
        )

    def copy(self, tables, where, values):
        """Returns the rows of tables as they are, for `restore`."""
        return {
            table: [row for (row,) in self.query(f"SELECT to_jsonb(t) FROM {table} t WHERE {where}", values)]
            for table in tables
        }

    def restore(self, copy, where, values):
        for table, rows in copy.items():
            self.execute(f"DELETE FROM {table} WHERE {where}", values)
            for row in rows:
                self.insert(table, row)
