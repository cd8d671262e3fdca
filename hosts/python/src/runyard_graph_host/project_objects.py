"""Answers requests to objects of the project beside its graphs: its app, users, encryption and embeddings."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .answers import AnswerWithBytes
from .auth.project_auth import ProjectAuth
from .clients.loopback import LoopbackTransport
from .embeddings.project_embeddings import TextEmbedder, open_embeddings, pack_vectors
from .encryption.project_encryption import ProjectEncryption
from .loading.load_failure import describe_load_failure
from .loading.project_source import ProjectSource
from .protocol.errors import GraphLoadError, Header
from .serialization.wire_json import to_wire_json

if TYPE_CHECKING:
    from .app.project_app import ProjectApp

T = TypeVar("T")
_APP = 'The app of "http.app"'

Work = Callable[[Header, memoryview], Awaitable[Any]]


class ProjectObjects:
    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        # The folder of langgraph.json, once it is known.
        self.directory = ""
        # The deployment's own server, once it is known.
        self.loopback: LoopbackTransport | None = None
        self._apps: dict[str, ProjectApp] = {}
        self._app = _OnceLoaded(self._load_app, _APP)
        self._auth = _OnceLoaded(self._load_auth, 'The handler of "auth.path"')
        self._encryption = _OnceLoaded(self._load_encryption, 'The object of "encryption.path"')
        self._embeddings = _OnceLoaded(self._load_embeddings, 'What "store.index.embed" names')
        self.requests: dict[str, Work] = {
            "app.serve": self._serve_app,
            "auth.load": self._describe_auth,
            "auth.authenticate": self._authenticate,
            "auth.authorize": self._authorize,
            "encryption.load": self._describe_encryption,
            "encryption.context": self._encryption_context,
            "encryption.encrypt": self._encrypt,
            "encryption.decrypt": self._decrypt,
            "encryption.json": self._encrypt_json,
            "embed.texts": self._embed,
        }

    async def close(self) -> None:
        await asyncio.gather(*(app.close() for app in self._apps.values()))

    async def _serve_app(self, header: Header, _: memoryview) -> Any:
        app = await self._app.get(header["app"], self.directory)
        try:
            await app.open()
        except Exception as cause:
            raise GraphLoadError(describe_load_failure(_APP, cause, Path(self.directory))) from cause
        self._apps[json.dumps(header["app"])] = app
        if header["socketPath"] is not None:
            await app.listen(header["socketPath"])
        return app.description

    async def _describe_auth(self, header: Header, _: memoryview) -> dict[str, Any]:
        auth = await self._auth.get(header["source"], self.directory)
        return {"events": auth.events}

    async def _authenticate(self, header: Header, _: memoryview) -> dict[str, Any]:
        auth = await self._auth.get(header["source"], self.directory)
        return await auth.authenticator.authenticate(header["request"])

    async def _authorize(self, header: Header, raw: memoryview) -> Any:
        auth = await self._auth.get(header["source"], self.directory)
        answer, value = await auth.authorize(header["request"], json.loads(bytes(raw)))
        return AnswerWithBytes(answer, [to_wire_json(value)]) if answer["kind"] == "allowed" else answer

    async def _describe_encryption(self, header: Header, _: memoryview) -> dict[str, Any]:
        encryption = await self._encryption.get(header["source"], self.directory)
        return {"hasJson": encryption.has_json, "hasContext": encryption.has_context}

    async def _encryption_context(self, header: Header, _: memoryview) -> dict[str, Any]:
        encryption = await self._encryption.get(header["source"], self.directory)
        return await encryption.context_of(header["request"])

    async def _encrypt(self, header: Header, raw: memoryview) -> AnswerWithBytes:
        encryption = await self._encryption.get(header["source"], self.directory)
        data = await encryption.encrypt(header["metadata"], bytes(raw))
        return AnswerWithBytes(len(data), [data])

    async def _decrypt(self, header: Header, raw: memoryview) -> AnswerWithBytes:
        encryption = await self._encryption.get(header["source"], self.directory)
        plaintext, replacement = await encryption.decrypt(header["metadata"], bytes(raw))
        return AnswerWithBytes(len(plaintext), [plaintext] if replacement is None else [plaintext, replacement])

    async def _encrypt_json(self, header: Header, raw: memoryview) -> AnswerWithBytes:
        encryption = await self._encryption.get(header["source"], self.directory)
        answers = await encryption.json(header["action"], header["metadata"], json.loads(bytes(raw)))
        return AnswerWithBytes(None, [to_wire_json(answers)])

    async def _embed(self, header: Header, _: memoryview) -> AnswerWithBytes:
        embed = await self._embeddings.get(header["source"], self.directory)
        vectors = await embed(header["texts"], header["as"])
        lengths, parts = pack_vectors(vectors)
        return AnswerWithBytes(lengths, parts)

    def _load_app(self, source: Mapping[str, Any]) -> "ProjectApp":
        found = ProjectSource.of(source, self.directory)
        exported = found.import_symbol()
        if self.loopback is None:
            raise GraphLoadError("an app needs a server that it can pass requests on to.")
        try:
            from .app.project_app import to_project_app
        except ImportError as error:
            kind = type(exported).__name__
            raise GraphLoadError(f'"{found.symbol}" is a {kind}, not a Starlette or FastAPI app.') from error
        return to_project_app(exported, found.symbol, self.loopback, self._warn)

    def _load_auth(self, source: Mapping[str, Any]) -> ProjectAuth:
        return ProjectAuth(ProjectSource.of(source, self.directory).import_symbol(), source["symbol"])

    def _load_encryption(self, source: Mapping[str, Any]) -> ProjectEncryption:
        return ProjectEncryption(ProjectSource.of(source, self.directory).import_symbol(), source["symbol"])

    def _load_embeddings(self, source: Mapping[str, Any]) -> TextEmbedder:
        return open_embeddings(source, self.directory)


class _OnceLoaded(Generic[T]):
    """Loads what a source names once, in a thread, and again after a failure."""

    def __init__(self, load: Callable[[Mapping[str, Any]], T], subject: str) -> None:
        self._load = load
        self._subject = subject
        self._loading: dict[str, asyncio.Task[T]] = {}

    async def get(self, source: Mapping[str, Any], directory: str) -> T:
        name = json.dumps(source)
        loading = self._loading.get(name)
        if loading is None:
            loading = asyncio.create_task(asyncio.to_thread(self._load_now, source, directory))
            self._loading[name] = loading
        try:
            return await asyncio.shield(loading)
        except GraphLoadError:
            self._loading.pop(name, None)
            raise

    def _load_now(self, source: Mapping[str, Any], directory: str) -> T:
        try:
            return self._load(source)
        except BaseException as cause:
            raise GraphLoadError(describe_load_failure(self._subject, cause, Path(directory))) from cause
