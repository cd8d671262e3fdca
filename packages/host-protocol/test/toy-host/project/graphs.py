def add_one(state):
    return {"count": state.get("count", 0) + 1}


echo = [lambda state: {"text": "echo " + state["text"]}]
count = [add_one, add_one, add_one]
