"""Server of the page on the loopback address, for tables that are too long for a file.

The page draws a sample of a long table. The server counts and samples the rows of the whole table,
and sends selected rows as a file. Only programs on this machine can connect, and they need the key
in the address. The Host header is checked, so that pages of other sites cannot reach the server by
another host name (RFC 9110 section 7.2).
"""

import json
import secrets
import shutil
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import polars as pl

from longhaul._engine import LonghaulError
from longhaul.explore.blobs import Blobs
from longhaul.explore.large import Large
from longhaul.explore.page import Head, html
from longhaul.explore.sources import collect, open_source

# Rows of a sample, for which a page updates a selection within 100 ms.
SAMPLE = 100_000
LOOPBACK = "127.0.0.1"
JSON = "application/json"
KINDS = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
# Maximum size of a POST request's body: filters, and at most the row numbers of a sample.
MOST_ASKED_BYTES = 4_000_000


class Server(ThreadingHTTPServer):
    """HTTP server of one page, and of the rows and counts that the page requests."""

    daemon_threads = True

    def __init__(self, paths: Sequence[str | Path], port: int = 0, sample: int = SAMPLE) -> None:
        """Open the tables to explore, and listen on `port`; 0 means any free port.

        `sample` is the maximum number of rows of a sample.
        """
        sources = [open_source(Path(path)) for path in paths]
        content = collect(sources, sample)
        self.tables: dict[str, Large] = content.large
        self.page = html(content, Head.of(sources), served=True).encode()
        # Cached, since a page that is opened by a link repeats the requests of the linked page.
        self.closer = lru_cache(maxsize=16)(self._closer)
        self.key = secrets.token_urlsafe(16)
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise LonghaulError(f"port {port} of {LOOPBACK}: {error}") from None

    def _closer(self, table: str, filters: str) -> bytes:
        """Return a sample of the rows that satisfy the filters, as JSON for the page."""
        blobs = Blobs()
        entry = self.tables[table].entry(blobs, json.loads(filters))
        return json.dumps({"entry": entry, "blobs": blobs.texts}).encode()

    @property
    def address(self) -> str:
        """URL of the page, with the key that requests need."""
        return f"http://{self.host}/{self.key}/"

    @property
    def host(self) -> str:
        """Host and port that requests must have in their Host header."""
        return f"{LOOPBACK}:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        """Send the page, or a file of the selected rows."""
        parts = urlsplit(self.path)
        match self._asked(parts.path):
            case "":
                self._send(self.server.page, "text/html; charset=utf-8")
            case "selected.csv" | "selected.parquet" as name:
                asked = parse_qs(parts.query).get("q", [""])[0]
                self._answer(lambda: self._write(_parsed(asked.encode()), name))
            case _:
                self.send_error(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Send the number of rows that satisfy the filters, or a sample of these rows."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_ASKED_BYTES:
            self.send_error(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            return
        body = self.rfile.read(length)
        match self._asked(self.path):
            case "count":
                self._answer(lambda: self._count(_parsed(body)))
            case "closer":
                self._answer(lambda: self._closer(_parsed(body)))
            case _:
                self.send_error(HTTPStatus.NOT_FOUND)

    def _asked(self, path: str) -> str | None:
        """Return the service NAME that a request with the path `/KEY/NAME` asks for.

        Return None if the Host header is wrong, or if KEY is not the server's secret key.
        """
        if self.headers.get("Host") != self.server.host:
            return None
        key, _, name = path.lstrip("/").partition("/")
        return name if secrets.compare_digest(key, self.server.key) else None

    def _answer(self, answer: Any) -> None:  # noqa: ANN401
        try:
            answer()
        except (LonghaulError, pl.exceptions.PolarsError, KeyError, TypeError, ValueError) as error:
            self.send_error(HTTPStatus.BAD_REQUEST, explain=f"{type(error).__name__}: {error}")
        except (BrokenPipeError, ConnectionResetError):
            # The page sends a new request for every selection and drops earlier ones.
            self.close_connection = True

    def _count(self, asked: dict[str, Any]) -> None:
        table = self.server.tables[asked["table"]]
        self._send(json.dumps({"rows": table.count(asked["filters"])}).encode(), JSON)

    def _closer(self, asked: dict[str, Any]) -> None:
        self._send(self.server.closer(asked["table"], json.dumps(asked["filters"])), JSON)

    def _write(self, asked: dict[str, Any], name: str) -> None:
        with tempfile.TemporaryDirectory(prefix="longhaul-") as folder:
            file = Path(folder, name)
            self.server.tables[asked["table"]].write(asked["filters"], file)
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", KINDS[file.suffix[1:]])
            self.send_header("Content-Length", str(file.stat().st_size))
            self.send_header("Content-Disposition", f'attachment; filename="{name}"')
            self.end_headers()
            with file.open("rb") as content:
                shutil.copyfileobj(content, self.wfile)

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: requests are not logged."""


def _parsed(text: bytes) -> dict[str, Any]:
    asked = json.loads(text)
    if not isinstance(asked, dict) or not isinstance(asked.get("filters"), list):
        raise LonghaulError("expected a table and filters")
    return asked
