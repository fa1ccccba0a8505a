"""schemathesis throws what the OpenAPI document allows, and what it does not, at every call: nothing breaks.

Checked: no server error, every status and body as the document says, what is allowed is not refused as wrong, what is
not allowed is refused, no call is answered without a key.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
import schemathesis
from board_house import open_board
from hypothesis import HealthCheck, Phase, assume, given, settings
from jsonschema import Draft202012Validator
from schemathesis import GenerationMode

from hmc_crowd.board._openapi import openapi_document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from board_house import Board

DOCUMENT = openapi_document()
CALLS = [(path, method.upper()) for path, calls in DOCUMENT["paths"].items() for method in calls]
# Made by a worker, who may; all else by the owner.
BY_WORKERS = {"/claim", "/give-back"}


@pytest.fixture(scope="module")
def board(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = shutil.copytree(played, tmp_path_factory.mktemp("fuzz") / "board")
    with open_board(folder, sign_ins_per_minute=10**6, door_per_minute=10**6) as opened:
        yield opened


def breaks(path: str, body: Any) -> bool:
    """Say whether a body is other than the document allows."""
    if not isinstance(body, (dict, list, str, int, float, bool, type(None))):
        return True  # no JSON at all
    asked = DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    whole = {**asked, "components": DOCUMENT["components"]}
    return not Draft202012Validator(whole).is_valid(body)


def fuzz(board: Board, path: str, method: str, mode: Any, examples: int) -> set[int]:
    """Send requests of a mode and check each reply; return which statuses there were."""
    operation = schemathesis.openapi.from_asgi("/api/openapi.json", board.app)[path][method]
    key = board.key("worker" if path in BY_WORKERS else "owner")
    seen = set()

    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode, headers={"Authorization": f"Bearer {key}"}))
    def check(case: Any) -> None:
        # Asked to break the schema, the generator now and then makes a body that keeps it.
        assume(mode is not GenerationMode.NEGATIVE or method == "GET" or breaks(path, case.body))
        reply = case.call()
        seen.add(reply.status_code)
        case.validate_response(reply)

    check()
    return seen


@pytest.mark.parametrize(("path", "method"), CALLS)
@pytest.mark.parametrize("examples", [15, pytest.param(300, marks=pytest.mark.slow)])
def test_what_the_document_allows_is_answered(board: Board, path: str, method: str, examples: int) -> None:
    seen = fuzz(board, path, method, GenerationMode.POSITIVE, examples)
    assert seen
    assert seen <= {200, 409}


@pytest.mark.parametrize(("path", "method"), [call for call in CALLS if call[1] == "POST"] + [("/queue", "GET")])
@pytest.mark.parametrize("examples", [15, pytest.param(300, marks=pytest.mark.slow)])
def test_what_it_does_not_allow_is_refused(board: Board, path: str, method: str, examples: int) -> None:
    seen = fuzz(board, path, method, GenerationMode.NEGATIVE, examples)
    assert not seen & {200, 500}
