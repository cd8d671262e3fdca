"""Routes beside those of the server: who calls, and how many memories that user has."""

from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI, Request
from langgraph_sdk import get_client
from pydantic import BaseModel


class Summary(BaseModel):
    user: str
    memories: int


@asynccontextmanager
async def lifespan(app: FastAPI):
    app.state.client = get_client()
    yield


router = APIRouter(prefix="/memories", tags=["memories"])


@router.get("/summary")
async def summarize(request: Request) -> Summary:
    headers = {"authorization": request.headers["authorization"]}
    user = request.user.identity
    found = await request.app.state.client.store.search_items((user, "memories"), headers=headers)
    return Summary(user=request.user.display_name, memories=len(found["items"]))


app = FastAPI(lifespan=lifespan)
app.include_router(router)
