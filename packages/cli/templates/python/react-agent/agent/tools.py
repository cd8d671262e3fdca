"""The tools of the agent. The model chooses by their names and descriptions."""

from typing import Literal

from langchain.tools import tool


@tool
def calculator(left: float, operator: Literal["+", "-", "*", "/"], right: float) -> str:
    """Does one step of arithmetic."""
    if operator == "+":
        return f"{left + right:g}"
    if operator == "-":
        return f"{left - right:g}"
    if operator == "*":
        return f"{left * right:g}"
    return f"{left / right:g}" if right else "undefined: division by zero"


@tool
def send_email(to: str, subject: str) -> str:
    """Sends an email (here it only says so)."""
    return f'The email "{subject}" was sent to {to}.'
