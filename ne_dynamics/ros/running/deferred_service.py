"""A service whose answer may come later than its callback returns.

A coroutine that waits will not do for it: while one waits rclpy's executor serves little else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

Reply = Callable[[Any], None]
"""Sends the response. Called once, in the thread of the executor."""


class DeferredService:
    """A service of a node, of a type such as std_srvs.srv.Trigger, that answers when it can.

    `callback` is called with the request and a :data:`Reply`.
    """

    def __init__(
        self, node: Any, kind: Any, name: str, callback: Callable[[Any, Reply], None]
    ) -> None:
        self._callback = callback
        self._request: Any = None
        service = node.create_service(kind, name, self._on_request)
        self._send = service.send_response
        # rclpy calls it right after the callback, with the header that says whom to answer.
        service.send_response = self._on_header

    def _on_request(self, request: Any, response: Any) -> Any:
        self._request = request
        return response

    def _on_header(self, response: Any, header: Any) -> None:
        request, self._request = self._request, None
        self._callback(request, partial(self._reply, header))

    def _reply(self, header: Any, response: Any) -> None:
        self._send(response, header)
