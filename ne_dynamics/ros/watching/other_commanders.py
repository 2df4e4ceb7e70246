"""Who publishes on a topic: the commands beside this node, the joint states beside the driver."""

from __future__ import annotations

import time
from typing import Any

from ne_dynamics.ros.thresholds import NODE


class OtherCommanders:
    """Looks for other publishers of the commands than that of this node.

    Looking takes 0.1 ms where there are some: it is not for the control path.
    """

    def __init__(self, node: Any, publisher: Any) -> None:
        self._node = node
        self.topic: str = publisher.topic_name
        self._own: str = node.get_fully_qualified_name()
        self._since = time.monotonic()

    def find(self) -> list[str]:
        """Return the full names of the nodes that publish commands beside this one, sorted.

        A node is there as often as it has publishers: another one of the same name is found.
        """
        if self._node.count_publishers(self.topic) < 2:
            return []
        found = list_publishers(self._node, self.topic)
        if self._own in found:
            found.remove(self._own)
        return found

    def wait_for_discovery(self) -> None:
        """Wait until the publishers that are there are known."""
        time.sleep(max(0.0, self._since + NODE.discovery_time - time.monotonic()))

    def describe(self, names: list[str]) -> str:
        """Return a sentence that names them."""
        return (
            f'{self.topic}: {", ".join(names)} publishes commands too: two nodes that command one '
            'arm act against each other'
        )


def list_publishers(node: Any, topic: str) -> list[str]:
    """Return the full names of the nodes that publish on a topic, once each publisher, sorted."""
    # Who is no node of ROS, or is not known yet, has a name that says so.
    return sorted(
        f'{info.node_namespace.rstrip("/")}/{info.node_name}'
        for info in node.get_publishers_info_by_topic(topic)
    )
