"""What needs types of `control_msgs`, a package that is optional."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def make_if_typed(kind: Any, node: Any, *rest: Any) -> Any:
    """Return a part of a node; None, and a line in its log, where its types are missing.

    Parameters
    ----------
    kind : type
        Of the part. Its `OFFER` is what there is not without it, its `TYPES` are types of
        control_msgs, such as `msg.JointTolerance`.
    node : rclpy.node.Node
    *rest
        With what it is made, after the node and these types.
    """
    try:
        found = [
            getattr(import_module(f'control_msgs.{module}'), name)
            for module, name in (each.split('.') for each in kind.TYPES)
        ]
    except (ImportError, AttributeError) as error:
        node.get_logger().info(f'no {kind.OFFER}: it needs control_msgs ({error})')
        return None
    return kind(node, *found, *rest)
