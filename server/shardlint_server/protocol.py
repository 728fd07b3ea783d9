"""The protocol, where it is kinder than pygls': a request that cannot be read is answered."""

from __future__ import annotations

from typing import Any

from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol


class Protocol(LanguageServerProtocol):
    """Answers requests whose parameters are of the wrong kind: -32602, as JSON-RPC says."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return a message as an object. Raises JsonRpcException, after answering it if it is a request."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            number = data.get("id")
            if isinstance(number, str | int) and "method" in data:
                self._send_response(number, None, error.to_response_error())
            raise
