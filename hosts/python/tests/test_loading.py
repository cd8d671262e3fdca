"""What a project may export as a graph, and what its author hears when that does not work."""

import asyncio
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from runyard_graph_host.loading.load_failure import describe_run_failure
from runyard_graph_host.loading.load_graphs import load_graphs
from runyard_graph_host.loading.loaded_graph import GraphUse, LoadedGraph
from runyard_graph_host.loading.project_source import module_name
from runyard_graph_host.protocol.errors import GraphLoadError

PROJECTS = Path(__file__).parent / "projects"
GRAPHS = (PROJECTS / "loading.py").read_text()
needs_runtime = pytest.mark.skipif(find_spec("langgraph_sdk.runtime") is None, reason="the SDK has no runtime yet")


def project(folder: Path, **graphs: str) -> dict[str, Any]:
    documents = [
        {"graphId": name, "file": str(folder / "agent.py"), "symbol": symbol} for name, symbol in graphs.items()
    ]
    return {"directory": str(folder), "graphs": documents}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agent.py").write_text(GRAPHS)
    return tmp_path


async def load_one(folder: Path, symbol: str, warnings: list[str] | None = None) -> LoadedGraph:
    graphs = await load_graphs(project(folder, agent=symbol), ([] if warnings is None else warnings).append)
    return graphs["agent"]


def use_of(access: Any = "threads.create_run") -> GraphUse:
    return GraphUse(access, {"configurable": {"thread_id": "t"}}, InMemoryStore(), context={"a": 1})


def seen_by(graph: LoadedGraph) -> list[Any]:
    seen: list[Any] = graph.source.import_module().seen
    return seen


@pytest.mark.parametrize("symbol", ["graph", "builder", "functional", "with_saver"])
async def test_a_graph_a_builder_and_an_entrypoint_are_graphs_that_all_uses_share(folder: Path, symbol: str) -> None:
    loaded = await load_one(folder, symbol)
    assert not loaded.is_factory
    async with loaded.use(use_of()) as first, loaded.use(use_of()) as second:
        assert first is second
        assert first.checkpointer is None


@pytest.mark.parametrize(
    "symbol",
    [
        "plain",
        "takes_config",
        *(pytest.param(name, marks=needs_runtime) for name in ("takes_runtime", "takes_text_runtime", "takes_both")),
        "opens",
        "opens_plainly",
    ],
)
async def test_a_factory_makes_the_graph_for_each_use(folder: Path, symbol: str) -> None:
    loaded = await load_one(folder, symbol)
    assert loaded.is_factory
    async with loaded.use(use_of()) as graph:
        assert graph.name == "agent"
    async with loaded.use(use_of()):
        assert len(seen_by(loaded)) >= 2


@needs_runtime
async def test_a_factory_gets_what_its_parameters_ask_for(folder: Path) -> None:
    config = await load_one(folder, "takes_config")
    async with config.use(use_of()):
        assert seen_by(config)[-1] == {"configurable": {"thread_id": "t"}}
    runtime = await load_one(folder, "takes_runtime")
    async with runtime.use(use_of()):
        assert seen_by(runtime)[-1].execution_runtime.context == {"a": 1}
    async with runtime.use(use_of("assistants.read")):
        assert seen_by(runtime)[-1].execution_runtime is None
    both = await load_one(folder, "takes_both")
    async with both.use(use_of()):
        given, config_of_both = seen_by(both)[-1]
        assert (given.access_context, config_of_both["configurable"]) == ("threads.create_run", {"thread_id": "t"})


@pytest.mark.parametrize("symbol", ["opens", "opens_plainly"])
async def test_what_a_factory_opens_is_closed_after_the_use(folder: Path, symbol: str) -> None:
    loaded = await load_one(folder, symbol)
    async with loaded.use(use_of()):
        assert seen_by(loaded) == ["open"]
    assert seen_by(loaded) == ["open", "closed"]


async def test_a_saver_of_the_graphs_own_is_told_about_once(folder: Path) -> None:
    warnings: list[str] = []
    await load_one(folder, "with_saver", warnings)
    assert len(warnings) == 1
    assert "own checkpointer" in warnings[0]


@pytest.mark.parametrize(
    ("symbol", "sentence"),
    [
        ("grph", 'agent.py has no "grph"; it has "graph" (a CompiledStateGraph). Did you mean that?'),
        ("text", 'the export "text" is a str, not a graph, a builder or a function that returns one.'),
        ("takes_three", 'the export "takes_three" takes 3 parameters'),
        ("takes_two", "a factory takes the config, the runtime, both or none."),
    ],
)
async def test_an_author_reads_in_one_sentence_what_is_wrong(folder: Path, symbol: str, sentence: str) -> None:
    with pytest.raises(GraphLoadError) as raised:
        await load_one(folder, symbol)
    assert str(raised.value).startswith('Graph "agent" did not load: ')
    assert sentence in str(raised.value)
    assert raised.value.graph_id == "agent"


async def test_an_error_of_the_file_itself_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("x = 1\nraise ValueError('no luck')\n")
    with pytest.raises(GraphLoadError, match=r'ValueError: no luck\n  File "agent.py", line 2'):
        await load_one(tmp_path, "graph")


async def test_a_syntax_error_names_its_line(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("x = 1\ndef agent(:\n")
    with pytest.raises(GraphLoadError, match=r'did not load: SyntaxError: [\s\S]*File "agent.py", line 2'):
        await load_one(tmp_path, "graph")


@pytest.mark.parametrize("ending", ["sys.exit('no key')", "raise SystemExit('no key')"])
async def test_a_file_that_ends_the_process_did_not_load(tmp_path: Path, ending: str) -> None:
    (tmp_path / "agent.py").write_text(f"import sys\n{ending}\n")
    with pytest.raises(GraphLoadError, match=r'SystemExit: no key\n  File "agent.py", line 2'):
        await load_one(tmp_path, "graph")


async def test_a_missing_package_is_named(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import langchain_of_nobody\n")
    with pytest.raises(GraphLoadError, match="langchain_of_nobody is not installed"):
        await load_one(tmp_path, "graph")


async def test_the_event_loop_turns_while_a_file_is_imported(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import threading\nimport sys\nsys.modules['__gate'].wait(30)\n" + GRAPHS)
    import sys
    import threading

    gate = threading.Event()
    sys.modules["__gate"] = gate  # type: ignore[assignment] # The file finds it there.
    loading = asyncio.create_task(load_one(tmp_path, "graph"))
    await asyncio.sleep(0)
    gate.set()
    assert (await loading).graph_id == "agent"


@pytest.mark.parametrize("place", ["/one/folder", "/another"])
def test_the_name_of_a_module_does_not_contain_the_folder_of_the_project(place: str) -> None:
    assert module_name(Path(place) / "src/my agent.py", Path(place)) == "__src__my_agent"


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise SystemExit(1)


def test_a_run_that_fails_is_described_whatever_was_raised_so_that_it_is_settled(folder: Path) -> None:
    assert describe_run_failure(UnprintableError(), folder) == "The run failed with something that cannot be shown."
    text = describe_run_failure(ValueError("x" * 1_000_000), folder)
    assert text.startswith("The run failed: ValueError: xxx")
    assert len(text) < 20_000
