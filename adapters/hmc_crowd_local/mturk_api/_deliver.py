"""Where events go: a queue, a topic, or an address of the requester's, in the background and tried again.

Events are hints: whoever misses one polls and sees the same. So a request never waits for a delivery, and what could
not be delivered after the last try is dropped and counted. Only hosts that the workplace's owner names are sent to.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import queue
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hmc_crowd.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from urllib.parse import SplitResult

    import httpx

    from hmc_crowd._base.clock import Clock

__all__ = ["Deliverer"]

_LOG = logging.getLogger("hmc_crowd_local.mturk_api")
_WAITING = 10_000
_SILENCE_S = 10.0
_Parcel = tuple["Mapping[str, Any]", "Mapping[str, Any]"]


class Deliverer:
    """Delivers events; pass it as ``deliver`` of `Settings`.

    Parameters
    ----------
    hosts : collection of str
        ``host`` or ``host:port`` that may be sent to by HTTP; https, or http on this machine.
    secret : bytes
        Signs what is sent by HTTP: ``X-Hmc-Signature`` is the hex HMAC-SHA256 of ``X-Hmc-Timestamp``, a full stop and
        the body.
    clock : Clock
        Stamps what is signed.
    sqs, sns : boto3 clients, optional
        For destinations that are queues and topics of theirs; without one such a destination is sent to by HTTP, in
        the form that a subscription of the topic would send.
    attempts : int, default 5
        How often a delivery is tried.
    first_pause_s : float, default 1
        Pause after the first failure; it doubles with each.

    Attributes
    ----------
    delivered, dropped : int
        How many were.
    """

    def __init__(
        self,
        hosts: Collection[str],
        *,
        secret: bytes,
        clock: Clock,
        sqs: Any = None,
        sns: Any = None,
        attempts: int = 5,
        first_pause_s: float = 1.0,
    ) -> None:
        if attempts < 1 or not secret:
            raise InputError(f"attempts is {attempts}, or the secret is empty; give 1 or more and a secret")
        self._hosts = frozenset(hosts)
        self._secret = secret
        self._clock = clock
        self._sqs, self._sns = sqs, sns
        self._attempts, self._first_pause_s = attempts, first_pause_s
        self.delivered = self.dropped = 0
        self._queue: queue.Queue[_Parcel | None] = queue.Queue(_WAITING)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mturk-notifications", daemon=True)
        self._thread.start()

    def check(self, notification: Mapping[str, Any]) -> None:
        """Refuse a destination that nothing could be delivered to.

        Raises
        ------
        InputError
            Mail, or a host that the owner did not name.
        """
        transport, destination = notification["Transport"], notification["Destination"]
        if transport == "Email":
            raise InputError("this workplace sends no mail; give a queue, a topic or an https address")
        if self._is_aws(transport, destination):
            return
        parts = _address(destination)
        is_loopback = parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"}
        if parts.netloc not in self._hosts or not (parts.scheme == "https" or is_loopback):
            raise InputError("this workplace does not deliver to that address; ask its owner to name the host")

    def __call__(self, notification: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        """Take a message for delivery and return at once."""
        try:
            self._queue.put_nowait((notification, message))
        except queue.Full:
            self.dropped += 1

    def close(self, *, wait_s: float = 10.0) -> None:
        """Deliver what waits, each tried once more, and stop."""
        self._stopping.set()
        self._queue.put(None)
        self._thread.join(timeout=wait_s)

    def _is_aws(self, transport: str, destination: str) -> bool:
        """Whether a client that we were given carries it: a topic by its name, a queue by the client's own host."""
        if transport == "SNS":
            return self._sns is not None and destination.startswith("arn:")
        if self._sqs is None:
            return False
        return _address(destination).netloc == urlsplit(str(self._sqs.meta.endpoint_url)).netloc

    def _run(self) -> None:
        import httpx

        with httpx.Client(timeout=_SILENCE_S, follow_redirects=False, trust_env=False) as client:
            while (parcel := self._queue.get()) is not None:
                if self._try(client, parcel):
                    self.delivered += 1
                else:
                    self.dropped += 1
                    _LOG.warning("a notification was dropped after %d tries", self._attempts)

    def _try(self, client: httpx.Client, parcel: _Parcel) -> bool:
        pause = self._first_pause_s
        for attempt in range(self._attempts):
            if attempt and (self._stopping.wait(pause)):
                return False
            try:
                self._send(client, *parcel)
            except Exception as error:  # noqa: BLE001 because whatever a queue or an address does, the next event must still go
                _LOG.info("delivery %d failed: %s", attempt + 1, type(error).__name__)
                pause *= 2
            else:
                return True
        return False

    def _send(self, client: httpx.Client, notification: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        destination, body = notification["Destination"], json.dumps(message)
        transport = notification["Transport"]
        if self._is_aws(transport, destination):
            if transport == "SNS":
                self._sns.publish(TopicArn=destination, Message=body)
            else:
                self._sqs.send_message(QueueUrl=destination, MessageBody=body)
            return
        if transport == "SNS":
            body = json.dumps({"Type": "Notification", "MessageId": message["EventDocId"], "Message": body})
        stamp = self._clock.now().isoformat()
        mark = hmac.new(self._secret, f"{stamp}.{body}".encode(), hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "X-Hmc-Timestamp": stamp, "X-Hmc-Signature": mark}
        # Its status is all that counts: what a receiver writes is not read, however long it is.
        with client.stream("POST", destination, content=body.encode(), headers=headers) as reply:
            reply.raise_for_status()


def _address(destination: str) -> SplitResult:
    """Return the parts of an address, or refuse what is none."""
    try:
        return urlsplit(destination)
    except ValueError:
        raise InputError(f"destination {destination[:200]!r} is no address") from None
