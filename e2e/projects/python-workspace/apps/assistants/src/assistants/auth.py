"""Users by their tokens, and what is whose, as the documentation of LangGraph has it."""

from langgraph_sdk import Auth

auth = Auth()
TOKENS = {"ada-token": {"id": "ada", "name": "Ada"}, "bob-token": {"id": "bob", "name": "Bob"}}


@auth.authenticate
async def authenticate(authorization: str | None) -> Auth.types.MinimalUserDict:
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or token not in TOKENS:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Invalid token")
    user = TOKENS[token]
    return {"identity": user["id"], "display_name": user["name"], "is_authenticated": True}


@auth.on
async def add_owner(ctx: Auth.types.AuthContext, value: dict):
    filters = {"owner": ctx.user.identity}
    metadata = value.setdefault("metadata", {})
    metadata.update(filters)
    return filters


@auth.on.assistants
async def read_assistants(ctx: Auth.types.AuthContext, value: dict):
    if ctx.action not in ("read", "search"):
        raise Auth.exceptions.HTTPException(status_code=403, detail="Assistants are made by their authors")


@auth.on.store()
async def own_namespace(ctx: Auth.types.AuthContext, value: dict):
    assert value["namespace"][:1] == (ctx.user.identity,), "Not authorized"
