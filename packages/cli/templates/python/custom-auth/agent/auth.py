"""Who may call this server, and what is whose.

The server asks `authenticate` about every request, and the other handlers about everything that is read or written.

The two tokens are for trying this out. Before anybody else reaches the server, verify here what your identity provider
signs, such as a JWT.
"""

from langgraph_sdk import Auth

USERS = {
    "ada-token": {"identity": "ada", "display_name": "Ada", "is_authenticated": True},
    "bob-token": {"identity": "bob", "display_name": "Bob", "is_authenticated": True},
}

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> Auth.types.MinimalUserDict:
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer" or token not in USERS:
        detail = "Send one of the tokens of agent/auth.py as a bearer token."
        raise Auth.exceptions.HTTPException(status_code=401, detail=detail)
    return USERS[token]


@auth.on
async def own(ctx: Auth.types.AuthContext, value: dict):
    """Threads, runs and crons carry the name of who made them, and nobody else sees them."""
    owner = {"owner": ctx.user.identity}
    value["metadata"] = {**(value.get("metadata") or {}), **owner}
    return owner


@auth.on.assistants
async def read_assistants(ctx: Auth.types.AuthContext, value: dict):
    """Everybody uses the assistants of this project, and nobody changes them."""
    return ctx.action in ("read", "search")


@auth.on.store()
async def own_items(ctx: Auth.types.AuthContext, value: dict):
    """Each has the part of the store that begins with the own name."""
    return tuple(value.get("namespace") or ())[:1] == (ctx.user.identity,)
