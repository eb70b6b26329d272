"""Facts of the contract that many tests ask for."""

from __future__ import annotations

from harness import Response


def assert_problem(response: Response, status: int, slug: str) -> None:
    """The answer is problem JSON (RFC 9457) of this kind."""
    assert response.status == status, response
    assert response.header("Content-Type").split(";")[0] == "application/problem+json", response
    problem = response.json()
    assert problem["type"] == f"urn:wsbridge:problem:{slug}", problem
    assert problem["status"] == status, problem
    assert problem["title"], problem
    assert problem["detail"], problem


def assert_names_parameter(response: Response, name: str) -> None:
    """The answer refuses a parameter, and says which."""
    assert_problem(response, 400, "invalid-parameter")
    assert f"`{name}`" in response.json()["detail"]
