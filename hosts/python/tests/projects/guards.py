"""Objects of a project that decide who calls, encrypt and embed."""

from typing import Annotated

from fastapi import Depends, Header, HTTPException
from langgraph_sdk import Auth, Encryption
from langgraph_sdk.encryption.types import EncryptionContext

auth = Auth()
encryption = Encryption()


@auth.authenticate
async def authenticate(authorization: str | None, headers: dict[bytes, bytes], method: str, path: str):
    if authorization is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail="no key", headers={"x-why": "none"})
    if authorization == "broken":
        raise ValueError("the key server is away")
    name = authorization.removeprefix("Bearer ")
    return {"identity": name, "permissions": ["read"], "team": headers.get(b"x-team", b"").decode()}


@auth.on
async def deny_rest(ctx: Auth.types.AuthContext, value: dict):
    return False


@auth.on.threads
async def own_threads(ctx: Auth.types.AuthContext, value: dict):
    return {"owner": ctx.user.identity}


@auth.on.threads.create
async def mark_thread(ctx: Auth.types.AuthContext, value: dict):
    assert ctx.user["team"] != "none", "teams alone"
    value.setdefault("metadata", {})["id_is"] = type(value["thread_id"]).__name__
    return {"owner": ctx.user.identity}


@auth.on.store()
async def own_namespace(ctx: Auth.types.AuthContext, value: dict):
    if value["namespace"] is None:
        value["namespace"] = (ctx.user.identity,)
    assert value["namespace"][:1] == (ctx.user.identity,), "the namespace of another"


@encryption.context
async def context(user, ctx: EncryptionContext):
    return {"of": user.identity}


@encryption.encrypt.blob
async def encrypt(ctx: EncryptionContext, blob: bytes) -> bytes:
    return ctx.metadata["of"].encode() + b":" + blob[::-1]


@encryption.decrypt.blob
async def decrypt(ctx: EncryptionContext, blob: bytes) -> bytes:
    return blob.split(b":", 1)[1][::-1]


@encryption.encrypt.json
async def encrypt_json(ctx: EncryptionContext, data: dict) -> dict:
    return {key: f"secret {value}" for key, value in data.items()}


@encryption.decrypt.json
async def decrypt_json(ctx: EncryptionContext, data: dict) -> dict:
    return {key: value.removeprefix("secret ") for key, value in data.items()}


def embed(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 0.5] for text in texts]


no_auth = "text"
unknown_parameter = Auth()


@unknown_parameter.authenticate
async def needs_token(token: str):
    return token


opened: list[str] = []


async def open_directory():
    opened.append("open")
    yield {"token-1": "ada"}
    opened.append("closed")


async def find_person(directory: Annotated[dict, Depends(open_directory)], x_token: Annotated[str, Header()]) -> str:
    if x_token not in directory:
        raise HTTPException(403, "nobody has this token")
    return directory[x_token]


depending = Auth()


@depending.authenticate
async def authenticate_by_dependency(
    method: str,
    person: Annotated[str, Depends(find_person)],
    team=Depends(lambda: "x"),  # noqa: B008 - FastAPI's own form
):
    return {"identity": person, "team": team, "method": method, "directory": list(opened)}
