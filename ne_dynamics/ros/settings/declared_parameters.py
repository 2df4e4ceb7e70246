"""Parameters of a node, declared and checked by a :class:`ParameterTable` of its settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, Generic

import numpy as np
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from ne_dynamics.errors import NeDynamicsError, ParameterError
from ne_dynamics.settings import Changes, ParameterSpec, ParameterTable, Settings, Value

PARAMETER_TYPES = {
    'bool': Parameter.Type.BOOL,
    'double': Parameter.Type.DOUBLE,
    'string': Parameter.Type.STRING,
    'double[]': Parameter.Type.DOUBLE_ARRAY,
    'string[]': Parameter.Type.STRING_ARRAY,
}

_OF_OTHERS = ('qos_overrides.',)
"""First words of parameters that rclpy declares later, or never."""


class DeclaredParameters(Generic[Settings]):
    """The settings of a node, which are its parameters.

    Parameters
    ----------
    node : rclpy.node.Node
    table : ParameterTable
    declared_later : callable, optional
        Returns whether somebody else will declare a parameter of that name.

    Attributes
    ----------
    settings : dataclass
        Of the table; every value is checked.
    faults : dict of str to str
        Parameters that were given a value which cannot be, and why; they have their default.
    """

    def __init__(
        self,
        node: Any,
        table: ParameterTable[Settings],
        declared_later: Callable[[str], bool] = lambda name: False,
    ) -> None:
        self._node = node
        self._declared_later = declared_later
        self._table = table
        self.settings = table.defaults
        self.faults: dict[str, str] = {}

    def declare(self) -> None:
        """Declare all, with the values that were given, and warn of names that there are not."""
        node = self._node
        for spec in self._table:
            # Any type first: a value of the wrong one is to be reported, not to end the process.
            given = node.declare_parameter(
                spec.name, None, ParameterDescriptor(dynamic_typing=True)
            ).value
            node.undeclare_parameter(spec.name)
            if given is not None:
                try:
                    self.settings = spec.write(self.settings, spec.check(given))
                except ParameterError as error:
                    self.faults[spec.name] = str(error)
                    node.get_logger().error(str(error))
            self._declare(spec)
        for remark in self._table.find_unknown(self._names_nobody_declared()):
            node.get_logger().warning(f'parameter {remark}: it is not used')

    def _names_nobody_declared(self) -> Iterable[str]:
        return (
            name
            for name in self._node._parameter_overrides
            if not self._node.has_parameter(name)
            and not name.startswith(_OF_OTHERS)
            and not self._declared_later(name)
        )

    def _declare(self, spec: ParameterSpec) -> None:
        node = self._node
        unit = f' [{spec.unit}]' if spec.unit else ''
        constraints = [part for part in (spec.bounds, f'set {spec.changes.value}') if part]
        descriptor = ParameterDescriptor(
            description=spec.description + unit,
            additional_constraints='; '.join(constraints),
            read_only=spec.read_only and spec.name not in self.faults,
        )
        if spec.type == 'double' and (spec.minimum > -np.inf or spec.maximum < np.inf):
            descriptor.floating_point_range = [
                FloatingPointRange(from_value=spec.minimum, to_value=spec.maximum)
            ]
        value = spec.read(self.settings)
        if not isinstance(value, tuple):
            node.declare_parameter(spec.name, value, descriptor, ignore_override=True)
            return
        # rclpy takes an empty list for one of bytes: declare by type, then set.
        kind = PARAMETER_TYPES[spec.type]
        open_descriptor = copy(descriptor)
        open_descriptor.read_only = False
        node.declare_parameter(spec.name, kind, open_descriptor, ignore_override=True)
        Node.set_parameters_atomically(node, [Parameter(spec.name, kind, list(value))])
        descriptor.type = open_descriptor.type
        node.set_descriptor(spec.name, descriptor)

    def change(
        self,
        parameters: Sequence[Parameter],
        state: str,
        prepare: Callable[[Settings], Callable[[], None]],
    ) -> SetParametersResult:
        """Set all of some parameters of the node, or none; return whether that was done.

        Parameters
        ----------
        parameters : sequence of Parameter
        state : str
            'unconfigured', or the state in which fewer parameters may be set.
        prepare : callable
            Takes the settings as they would be, raises an error where they cannot be, and returns
            what is called once they count.
        """
        try:
            settings, checked = self._check_all(parameters, state)
            adopt = prepare(settings)
        except NeDynamicsError as error:
            return SetParametersResult(successful=False, reason=str(error))
        result = Node.set_parameters_atomically(self._node, checked)
        if result.successful:
            self.settings = settings
            for parameter in checked:
                self.faults.pop(parameter.name, None)
            adopt()
        return result

    def _check_all(
        self, parameters: Sequence[Parameter], state: str
    ) -> tuple[Settings, list[Parameter]]:
        """Return the settings as they would be, and the parameters in their types."""
        settings, checked = self.settings, []
        for parameter in parameters:
            if parameter.name not in self._table.by_name and self._node.has_parameter(
                parameter.name
            ):
                checked.append(parameter)
                continue
            spec = self._table.find(parameter.name)
            value = self._check(spec, parameter.value, state)
            settings = spec.write(settings, value)
            kind = PARAMETER_TYPES[spec.type]
            checked.append(
                Parameter(spec.name, kind, list(value) if isinstance(value, tuple) else value)
            )
        return settings, checked

    def _check(self, spec: ParameterSpec, value: Any, state: str) -> Value:
        if value is None:
            raise ParameterError(f'{spec.name}: expected {spec.type}, got nothing')
        checked = spec.check(value)
        if spec.name in self.faults or checked == spec.read(self.settings):
            return checked
        if spec.changes is Changes.START:
            raise ParameterError(f'{spec.name}: can be set at the start only')
        if spec.changes is Changes.UNCONFIGURED and state != 'unconfigured':
            raise ParameterError(
                f'{spec.name}: can be set while unconfigured only; the node is {state}: '
                'deactivate and clean up first'
            )
        return checked
