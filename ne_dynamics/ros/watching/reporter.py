"""What the node says of messages that it does not use, and what it counts."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from rclpy.logging import LoggingSeverity as Severity

from ne_dynamics.ros.thresholds import NODE
from ne_dynamics.ros.watching.diagnostics import Statistics


def shorten(text: str) -> str:
    """Return a text without the middle of what is too long for a log: names are others' words."""
    if len(text) <= NODE.longest_line:
        return text
    half = NODE.longest_line // 2
    return f'{text[:half]} ... {text[-half:]}'


class Reporter:
    """Logs, seldom, and counts.

    Attributes
    ----------
    statistics : Statistics
    """

    def __init__(self, logger: Any) -> None:
        self.logger = logger
        self.statistics = Statistics()
        self._last_line: dict[str, float] = {}

    def drop(self, topic: str, field: str, reason: str) -> None:
        """Log and count a message that is not used.

        `field` of it is at fault; `reason` says what was expected, and what was found.
        """
        key = f'{topic}.{field}'
        count = self.statistics.drop(key)
        so_far = f' ({count} so far)' if count > 1 else ''
        self.say(key, f'{topic} dropped: {reason}{so_far}')

    def tell(self, text: str) -> None:
        """Log a warning that cannot come often: always."""
        self.logger.warning(shorten(text))

    def remark(self, remarks: Sequence[str]) -> None:
        """Log what is allowed of a trajectory, but may not be meant."""
        if remarks:
            self.say('annotated', f'annotated: {"; ".join(remarks)}', Severity.INFO)

    def say(self, key: str, text: str, severity: Severity = Severity.WARN) -> None:
        """Log a line of a kind, `key`, of which there may be many: seldom, and not a long one."""
        now = time.monotonic()
        if now - self._last_line.get(key, -np.inf) < NODE.warning_period:
            return
        self._last_line[key] = now
        line = shorten(text)
        # A place in the code logs with one severity: rclpy insists.
        if severity is Severity.ERROR:
            self.logger.error(line)
        elif severity is Severity.WARN:
            self.logger.warning(line)
        else:
            self.logger.info(line)
