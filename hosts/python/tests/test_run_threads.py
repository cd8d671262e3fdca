"""Which functions of an attempt are left when it ends."""

import asyncio
import threading

from runyard_graph_host.process.current_run import RunIds, RunningCode, running_code
from runyard_graph_host.process.run_threads import RunThreads


async def test_an_attempt_has_its_own_functions_left_though_another_of_its_run_works_beside_it() -> None:
    threads, go_on = RunThreads(), threading.Event()
    first, second = (RunningCode(RunIds("run", "thread", "graph"), None, {"identity": "ada"}) for _ in range(2))
    for code in (first, second):
        running_code.set(code)
        threads.submit(go_on.wait)
    running_code.set(None)
    left = threads.take_left(first)
    assert len(left) == 1
    assert threads.take_left(first) == []
    still = threads.take_left(second)
    assert len(still) == 1
    go_on.set()
    await asyncio.wait([*left, *still])


async def test_what_has_ended_is_forgotten() -> None:
    threads, code = RunThreads(), RunningCode(RunIds("run", "thread", "graph"))
    running_code.set(code)
    future = threads.submit(lambda: None)
    running_code.set(None)
    await asyncio.wait([asyncio.wrap_future(future)])
    threads.shutdown(wait=True)
    assert not threads._working
