from datetime import datetime, timedelta, timezone

import pytest
from langgraph_sdk.errors import NotFoundError, UnprocessableEntityError

HI = {"messages": [{"role": "user", "content": "hi"}]}


def test_a_cron_is_created_found_changed_and_deleted(client, mark):
    cron = client.crons.create("echo", schedule="0 9 * * *", timezone="America/New_York", input=HI, metadata={"mark": mark})
    cron_id = cron["cron_id"]
    due = datetime.fromisoformat(cron["next_run_date"])
    assert due > datetime.now(timezone.utc)
    assert due.minute == 0
    assert [each["cron_id"] for each in client.crons.search(metadata={"mark": mark})] == [cron_id]
    assert client.crons.count(metadata={"mark": mark}) == 1

    changed = client.crons.update(cron_id, schedule="30 9 * * *", enabled=False, metadata={"more": 1})
    assert changed["enabled"] is False
    assert datetime.fromisoformat(changed["next_run_date"] or "2000-01-01T00:30").minute == 30
    assert {"mark": mark, "more": 1}.items() <= changed["metadata"].items()

    client.crons.delete(cron_id)
    with pytest.raises(NotFoundError):
        client.crons.delete(cron_id)


def test_a_cron_of_a_thread_belongs_to_it(client, thread_id):
    end = datetime.now(timezone.utc) + timedelta(days=1)
    cron = client.crons.create_for_thread(thread_id, "echo", schedule="*/5 * * * *", input=HI, end_time=end)
    assert cron["thread_id"] == thread_id
    assert [each["cron_id"] for each in client.crons.search(thread_id=thread_id)] == [cron["cron_id"]]
    client.crons.delete(cron["cron_id"])


def test_a_schedule_that_means_nothing_is_refused(client):
    with pytest.raises(UnprocessableEntityError, match="Invalid cron schedule"):
        client.crons.create("echo", schedule="nope", input=HI)
