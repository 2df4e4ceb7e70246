"""A controller of ros2_control for one arm, as a package: what its files are filled with.

The equations are C, the rest is C++ that is the same for every arm: what differs is in `arm.hpp`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, isfinite, radians
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ne_dynamics import __version__
from ne_dynamics.bring_up.arm import check_package_name, find_joints_without_effort
from ne_dynamics.bring_up.package import make_environment, render_templates
from ne_dynamics.codegen.c.c_project import make_prefix
from ne_dynamics.codegen.description import MARK as C_MARK
from ne_dynamics.control import (
    GUARD_LIMITS,
    Gains,
    Mode,
    check_gains_and_drives,
    find_drive_inertias,
    phase_margin,
)
from ne_dynamics.errors import ParameterError
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.model.robot import Joint, JointType, Robot
from ne_dynamics.motion import MOTION, position_limits, sample_positions, usual_velocities
from ne_dynamics.ros import (
    PARAMETERS,
    ControlledArm,
    NodeSettings,
    controlled_arm,
    make_tuning,
)

TEMPLATES = Path(__file__).with_name('controller_templates')

MARK = 'Written by `ne_dynamics controller`.'

FUNCTIONS = ('control_effort', 'control_effort_in_full')
"""What the controller calls."""

PER_JOINT = (
    'computed_torque.kp',
    'computed_torque.kv',
    'feedforward_pd.kp',
    'feedforward_pd.kv',
    'effort_limits',
    'effort_rate_limit',
    'jump_velocity',
)
SHARED = (
    'mode',
    'terms.gravity',
    'terms.coriolis',
    'terms.inertia',
    'terms.friction',
    'friction.smoothing_velocity',
    'payload.mass',
    'payload.com',
    'payload.inertia',
    'transition_time',
    'state_effort',
    'on_deactivate',
    'wrench.measures',
)
"""Parameters of the node that the controller has."""

DECLARED = (*PER_JOINT, *SHARED, 'wrench.enabled')
"""With the names and defaults of the node."""

OF_THE_MODEL = (
    'model_file',
    'robot_description',
    'model_extras_file',
    'base_link',
    'tip_link',
    'locked_joints.names',
    'locked_joints.positions',
    'joints',
    'gravity',
    'gain_joints',
    'payload.link',
    'wrench.enabled',
    'wrench.sensor_link',
    'wrench.includes_tool',
)
"""Those that count when the package is written, or say of what it is written."""


TAKEN = (
    *('joint_trajectory_controller', 'joint_state_broadcaster', 'controller_manager'),
    *('controller_interface', 'hardware_interface', 'pluginlib', 'rclcpp_lifecycle'),
    *('ament_cmake', 'launch', 'launch_ros', 'rclcpp'),
    *('all', 'clean', 'help', 'install', 'package', 'test', 'uninstall'),
)
"""No names of a package: those beside or below it, and targets of CMake."""


@dataclass(frozen=True, eq=False)
class ArmController:
    """The controller of an arm, as the files of its package name it.

    Attributes
    ----------
    package : str
        Name of the ROS package.
    arm : ControlledArm
        What is compensated: cut at the wrist sensor where there is one.
    settings : NodeSettings
        Parameters with which it is written.
    rate : int
        Of the controller manager [Hz].
    sensor : str
        Name of the wrist sensor's interfaces; '' for none.
    remarks : tuple of str
        What is doubtful.
    """

    package: str
    arm: ControlledArm
    settings: NodeSettings
    rate: int
    sensor: str
    remarks: tuple[str, ...]

    largest_rate: ClassVar[int] = 100_000
    """No controller manager is as fast [Hz]."""

    @classmethod
    def of_model(
        cls,
        package: str,
        model: ModelSource,
        robot: Robot,
        values: Mapping[str, Any],
        rate: int,
        sensor: str = '',
    ) -> ArmController:
        """Return the controller of a robot of a model, as :meth:`from_settings`.

        The values are parameters of the node by name. What of them is not for the controller is a
        remark, and so are joints that have no effort in the URDF.
        """
        values = {**values, 'wrench.enabled': bool(sensor)}
        remarks = [f'not of the controller: {name}' for name in find_others(values)]
        for kind in ('command_interface', 'state_interface') if model.is_urdf else ():
            names = find_joints_without_effort(model.text, robot.joint_names, kind)
            if names:
                remarks.append(f'no {kind} effort in <ros2_control>: {", ".join(names)}')
                if kind == 'state_interface':
                    values.setdefault('state_effort', 'ignore')
        made = cls.from_settings(package, robot, PARAMETERS.changed(values), rate, sensor)
        return replace(made, remarks=(*remarks, *made.remarks))

    @classmethod
    def from_settings(
        cls, package: str, robot: Robot, settings: NodeSettings, rate: int, sensor: str = ''
    ) -> ArmController:
        """Return the controller of a robot, with parameters that were checked.

        Parameters
        ----------
        package, rate, sensor
            As the attributes.
        robot : Robot
            With a tip link.
        settings : NodeSettings

        Raises
        ------
        NeDynamicsError
            When the name is none of a package, or a parameter does not fit the arm, is not for
            the controller, or makes a loop that is not stable at this rate.
        """
        check_package_name(package)
        if package in TAKEN:
            raise ParameterError(f'package name: expected one that is not taken, got {package!r}')
        if not 1 <= rate <= cls.largest_rate:
            expected = f'a number > 0 and of at most {cls.largest_rate}'
            raise ParameterError(f'rate: expected {expected} [Hz], got {rate}')
        link, tip = settings.payload.link, robot.tip.name
        if link not in ('', tip):
            raise ParameterError(f'payload.link: expected the tip, {tip!r}, got {link!r}')
        arm = controlled_arm(settings, robot)
        tuning, remarks = make_tuning(settings, arm)
        for name in PER_JOINT:
            size = np.size(PARAMETERS.find(name).read(settings))
            if size not in (0, 1, arm.robot.n):
                raise ParameterError(f'{name}: expected one number for each joint, got {size}')
        if settings.mode is Mode.FEEDFORWARD:
            raise ParameterError(
                'mode: the controller has computed_torque, feedforward_pd and '
                'gravity_compensation, got feedforward'
            )
        if tuning.law.gains is not None:
            remarks += _judge_gains(settings.mode, tuning.law.gains, arm, 1.0 / rate)
        if any(joint.friction.has_hysteresis for joint in arm.robot.joints):
            remarks.append('the hysteresis of friction is left out of the controller')
        return cls(package, arm, settings, rate, sensor, tuple(remarks))

    @property
    def prefix(self) -> str:
        """Of the C functions: two packages in one program have different ones."""
        return make_prefix(self.package)

    @cached_property
    def least_inertias(self) -> FloatArray:
        """Least inertia of each joint by itself, drives included, shape (n,) [kg m^2 or kg]."""
        return 1.0 / self.arm.inverse_inertia + find_drive_inertias(self.arm.robot.joints)

    @property
    def largest_kv(self) -> float:
        """Velocity gain of computed torque beyond which the controller refuses it [1/s]."""
        return GUARD_LIMITS.largest_product * self.rate / GUARD_LIMITS.periods_of_delay

    def find_largest_kp(self, kv: float) -> float:
        """Return the position gain beyond which the controller refuses it [1/s^2], by kv [1/s]."""
        delay, least = GUARD_LIMITS.periods_of_delay / self.rate, GUARD_LIMITS.least_phase_margin
        low, high = 0.0, 1.0 / delay**2
        for _ in range(60):
            middle = 0.5 * (low + high)
            is_stable = phase_margin(middle, kv, delay) >= least
            low, high = (middle, high) if is_stable else (low, middle)
        return low

    def find_values(self) -> dict[str, Any]:
        """Return the parameters, by name, those of joints in the order of the model."""
        found: dict[str, Any] = {}
        for name in (*PER_JOINT, *SHARED):
            value = PARAMETERS.find(name).read(self.settings)
            if name in PER_JOINT:
                value = self.arm.to_model_order(np.array(value, dtype=float)).tolist()
            found[name] = value
        return found


def find_others(names: Iterable[str]) -> list[str]:
    """Return those of the node's parameters that the controller does not have."""
    return sorted(set(names) - {*PER_JOINT, *SHARED, *OF_THE_MODEL})


def render_controller(controller: ArmController) -> dict[str, str]:
    """Return the texts of all files, by their paths in the package.

    Parameters
    ----------
    controller : ArmController
    """
    environment = make_environment(TEMPLATES)
    environment.filters |= {
        'cpp': _cpp,
        'cpp_default': _cpp_default,
        'cpp_texts': _cpp_texts,
        'yaml': _yaml,
    }
    texts = render_templates(environment, _values(controller))
    texts[f'{controller.package}.xml'] = texts.pop('plugin.xml')
    equations = controller.arm.dynamics.source_files('c', controller.prefix, FUNCTIONS)
    del equations['CMakeLists.txt']
    return texts | {
        f'dynamics/{name}': text.replace(C_MARK, MARK) for name, text in equations.items()
    }


def _judge_gains(mode: Mode, gains: Gains, arm: ControlledArm, period: float) -> list[str]:
    """Return remarks on the gains of the mode in any pose.

    Raises
    ------
    ParameterError
        When the loop is not stable in some pose.
    """
    drives = find_drive_inertias(arm.robot.joints)
    remarks: list[str] = []
    poses = sample_positions(arm.robot, GUARD_LIMITS.random_poses)
    for q in poses if mode is Mode.FEEDFORWARD_PD else [np.zeros(arm.robot.n)]:
        verdict = check_gains_and_drives(
            mode, gains, partial(arm.dynamics.mass_matrix, q), drives, period
        )
        if verdict.refusals:
            raise ParameterError(verdict.refusals[0])
        remarks = remarks or [*verdict.remarks]
    return remarks


def _values(controller: ArmController) -> dict[str, Any]:
    """Return what the templates name."""
    arm, limits = controller.arm, GUARD_LIMITS
    joints, values = arm.robot.joints, controller.find_values()
    kv = max(values['computed_torque.kv'])
    counts = arm.dynamics.operation_counts(FUNCTIONS)
    return {
        'mark': MARK,
        'version': __version__,
        'package': controller.package,
        # No keyword, and no name of the C library.
        'namespace': f'{controller.package}_plugin',
        'prefix': controller.prefix,
        'robot_name': ' '.join(arm.robot.name.split()),
        'base_link': arm.robot.base_link,
        'tip_link': arm.robot.tip.name,
        'joints': joints,
        'names': [joint.name for joint in joints],
        'references': [f'{controller.package}/{joint.name}' for joint in joints],
        'counts': {
            name: f'{products} multiplications, {sums} additions'
            for name, (products, sums) in counts.items()
        },
        'rate': controller.rate,
        'sensor': controller.sensor,
        'values': values,
        'defaults': {name: PARAMETERS.find(name).default for name in DECLARED},
        'largest_kv': controller.largest_kv,
        'kv_of_bound': kv,
        'largest_kp': controller.find_largest_kp(kv),
        'largest_effort_kv': [
            float(f'{controller.largest_kv * inertia:.4g}')
            for inertia in controller.least_inertias.tolist()
        ],
        'is_continuous': [joint.type is JointType.CONTINUOUS for joint in joints],
        **_limit_values(joints),
        'least_inertias': controller.least_inertias.tolist(),
        'gravity': arm.dynamics.gravity.tolist(),
        'can_leave_friction': not any(joint.friction.friction_offset for joint in joints),
        'can_leave_gravity': not any(joint.friction.depends_on_load for joint in joints),
        'has_hysteresis': any(joint.friction.has_hysteresis for joint in joints),
        'periods_of_delay': limits.periods_of_delay,
        'largest_product': limits.largest_product,
        'least_phase_margin': radians(limits.least_phase_margin),
        'reach': limits.position_slack,
        'stopping_time': MOTION.usual_stop_time,
        'shortest_stop': MOTION.shortest_forced_stop,
    }


def _cpp(value: Any) -> str:
    """Return a number, a truth value, or a list of these, as C++ has it."""
    if isinstance(value, list):
        return '{' + ', '.join(map(_cpp, value)) + '}'
    if isinstance(value, bool):
        return 'true' if value else 'false'
    return repr(float(value)) if isfinite(value) else ('INF' if value > 0 else '-INF')


def _cpp_default(value: Any) -> str:
    """Return the default of a parameter as C++ has it."""
    if isinstance(value, tuple):
        return f'Numbers{_cpp(list(value))}'
    return f'std::string("{value}")' if isinstance(value, str) else _cpp(value)


def _cpp_texts(texts: list[str]) -> str:
    """Return names as C++ has them: whatever is no plain character by its bytes."""
    quoted = [
        ''.join(
            chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f'\\{byte:03o}'
            for byte in text.encode()
        )
        for text in texts
    ]
    return '{' + ', '.join(f'"{text}"' for text in quoted) + '}'


def _yaml(value: Any) -> str:
    """Return a number or a list of numbers as YAML has it."""
    if isinstance(value, list):
        return f'[{", ".join(map(_yaml, value))}]'
    return repr(float(value)) if isfinite(value) else '.inf'


def _limit_values(joints: Sequence[Joint]) -> dict[str, Any]:
    """Return what the templates name of the joints' limits."""
    lower, upper = position_limits(joints)
    return {
        'effort_limits': [joint.effort_limit or inf for joint in joints],
        'lower_limits': lower.tolist(),
        'upper_limits': upper.tolist(),
        'usual_velocities': usual_velocities(joints).tolist(),
        'velocity_limits': [joint.velocity_limit or inf for joint in joints],
    }
