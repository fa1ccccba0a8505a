"""A limit on the size of an answer: boto3 reads whatever comes, to its end."""

from __future__ import annotations

from typing import Any

__all__ = ["LARGEST", "limit_answers"]

LARGEST = 64 * 1024 * 1024


def limit_answers(client: Any, *, largest: int = LARGEST) -> None:
    """Let a boto3 client read no more than so many bytes of an answer; a larger one cannot be read, and is let go.

    Clients compress nothing that comes, so the bytes on the line are those in memory.
    """
    from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

    class TooLargeError(BotoCoreError):  # type: ignore[misc]
        fmt = "the answer is larger than {largest} bytes"

    def send(request: Any, **_: Any) -> Any:
        # With this flag the session hands the answer over unread.
        request.stream_output = True
        answer = client._endpoint.http_session.send(request)
        parts, size = [], 0
        for part in answer.raw.stream(65_536):
            parts.append(part)
            size += len(part)
            if size > largest:
                answer.raw.close()
                raise TooLargeError(largest=f"{largest:,}")
        answer._content = b"".join(parts)
        return answer

    client.meta.events.register("before-send.mturk", send)
