"""Tolerances of single joints, by the parameter names of joint_trajectory_controller.

`constraints.<joint>.trajectory` and `constraints.<joint>.goal` are there once the joints are
known: from configuring to cleaning up. Where one is set it counts before the lists for all joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor

from ne_dynamics.control.guards.goal import Tolerances
from ne_dynamics.errors import ParameterError
from ne_dynamics.settings import ParameterSpec

PREFIX = 'constraints.'
STAGES = {'trajectory': 'path_position', 'goal': 'goal_position'}
"""Last words of the names, and the tolerances that they are."""

AS_LISTED = -1.0
"""The value for which the list for all joints counts."""

DESCRIPTION = (
    'Largest position error of this joint {where}; 0: any; -1: as constraints.{stage} has it.'
)
WHERE = {'trajectory': 'while a trajectory is followed', 'goal': 'at the end of a trajectory'}


def is_of_a_joint(name: str) -> bool:
    """Return whether a parameter's name is of this form, whatever the joint."""
    joint, _, stage = name.removeprefix(PREFIX).rpartition('.')
    return name.startswith(PREFIX) and bool(joint) and stage in STAGES


class JointConstraints:
    """The parameters of an arm's joints.

    Parameters
    ----------
    node : rclpy.node.Node
    joint_names : sequence of str
        In the order of the model.

    Raises
    ------
    ParameterError
        When one was given a value that cannot be, or there is no such joint.
    """

    def __init__(self, node: Any, joint_names: Sequence[str]) -> None:
        self._node = node
        self._names = {
            stage: [f'{PREFIX}{joint}.{stage}' for joint in joint_names] for stage in STAGES
        }
        try:
            self._declare()
        except ParameterError:
            self.destroy()
            raise

    def _declare(self) -> None:
        node = self._node
        limits = FloatingPointRange(from_value=AS_LISTED, to_value=float('inf'))
        for stage, names in self._names.items():
            text = DESCRIPTION.format(where=WHERE[stage], stage=stage)
            descriptor = ParameterDescriptor(
                description=f'{text} [rad or m]', floating_point_range=[limits]
            )
            for name in names:
                value = self._given(name)
                node.declare_parameter(name, value, descriptor, ignore_override=True)
        unknown = [
            name
            for name in node._parameter_overrides
            if is_of_a_joint(name) and not node.has_parameter(name)
        ]
        if unknown:
            raise ParameterError(f'{unknown[0]}: no such joint')

    def _given(self, name: str) -> float:
        """Return the value that a parameter was given at the start; an integer will do."""
        given = self._node._parameter_overrides.get(name)
        if given is None:
            return AS_LISTED
        spec = ParameterSpec(name, 'double', AS_LISTED, '', minimum=AS_LISTED, allow_infinity=True)
        value: Any = spec.check(given.value)
        return float(value)

    def destroy(self) -> None:
        """Take the parameters away."""
        for names in self._names.values():
            for name in names:
                if self._node.has_parameter(name):
                    self._node.undeclare_parameter(name)

    def applied_to(self, tolerances: Tolerances) -> Tolerances:
        """Return tolerances with those of single joints in place of the lists'."""
        changes = {}
        for stage, field in STAGES.items():
            values = getattr(tolerances, field).copy()
            for index, name in enumerate(self._names[stage]):
                own = self._node.get_parameter(name).value
                # NaN is as listed, too.
                if own >= 0.0:
                    values[index] = own
            changes[field] = values
        return replace(tolerances, **changes)
