"""Asks the encryption object of a project for contexts, and to encrypt and decrypt."""

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_sdk.encryption.types import EncryptionContext

from ..loading.project_user import ProjectUser
from ..protocol.errors import GraphLoadError

# The most bytes of what handlers make of a data key, and the most characters of a context.
_SIZE_MAX = 16 * 1024


class ProjectEncryption:
    def __init__(self, exported: Any, symbol: str) -> None:
        self._encrypt = getattr(exported, "_blob_encryptor", None)
        self._decrypt = getattr(exported, "_blob_decryptor", None)
        self._json = {
            "encrypt": getattr(exported, "_json_encryptor", None),
            "decrypt": getattr(exported, "_json_decryptor", None),
        }
        self._context = getattr(exported, "_context_handler", None)
        if self._encrypt is None or self._decrypt is None:
            raise GraphLoadError(f'the export "{symbol}" needs handlers for encrypt.blob and decrypt.blob.')
        if (self._json["encrypt"] is None) != (self._json["decrypt"] is None):
            raise GraphLoadError("it needs both handlers encrypt.json and decrypt.json, or none.")

    @property
    def has_json(self) -> bool:
        return self._json["encrypt"] is not None

    @property
    def has_context(self) -> bool:
        return self._context is not None

    async def context_of(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self._context is None:
            return {}
        user = request.get("user")
        given = None if user is None else ProjectUser(user)
        found = await _call(self._context, given, EncryptionContext(model=None, field=None, metadata={}))
        if not isinstance(found, Mapping):
            raise TypeError("context returned no dict")
        if len(str(found)) > _SIZE_MAX:
            raise TypeError(f"context is larger than {_SIZE_MAX} characters")
        return dict(found)

    async def encrypt(self, metadata: Mapping[str, Any], data: bytes) -> bytes:
        return _require_bytes(await _call(self._encrypt, _context_of_key(metadata), data), "encrypt.blob")

    async def decrypt(self, metadata: Mapping[str, Any], data: bytes) -> tuple[bytes, bytes | None]:
        """Returns the plaintext, and a replacement when the handler wants one stored."""
        found = await _call(self._decrypt, _context_of_key(metadata), data)
        if not hasattr(found, "plaintext"):
            return _require_bytes(found, "decrypt.blob"), None
        plaintext = _require_bytes(found.plaintext, "the plaintext of decrypt.blob")
        if found.replacement is None:
            return plaintext, None
        return plaintext, _require_bytes(found.replacement, "the replacement of decrypt.blob")

    async def json(
        self, action: str, metadata: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Returns an answer for each object, in their order: a handler that fails at one may encrypt the others."""
        return list(await asyncio.gather(*(self._crypt_one(action, metadata, each) for each in objects)))

    async def _crypt_one(self, action: str, metadata: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
        context = EncryptionContext(model=part["model"], field=part["field"], metadata=dict(metadata))
        try:
            found = await _call(self._json[action], context, dict(part["data"]))
            found = getattr(found, "plaintext", found)
            if not isinstance(found, Mapping):
                raise TypeError(f"{action}.json returned no dict")
            return {"data": dict(found)}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}


async def _call(handler: Any, *args: Any) -> Any:
    found = handler(*args)
    return await found if inspect.isawaitable(found) else found


def _context_of_key(metadata: Mapping[str, Any]) -> EncryptionContext:
    """Handlers encrypt data keys alone, which are of no model of the API."""
    return EncryptionContext(model="data_key", field="key", metadata=dict(metadata))


def _require_bytes(value: Any, name: str) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise TypeError(f"{name} is no bytes")
    data = bytes(value)
    if not data or len(data) > _SIZE_MAX:
        raise TypeError(f"{name} has {len(data)} bytes")
    return data
