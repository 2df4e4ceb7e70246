"""The shipped arm on the demo's motion: a controller as the node has it by default, and an arm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from planted_loop import NodeAnswers

from ne_dynamics import Dynamics, Robot, load_model
from ne_dynamics.control.controller import Controller
from ne_dynamics.control.feedback_gains import Gains
from ne_dynamics.control.guards.motion_limits import FollowingLimits
from ne_dynamics.control.guards.state_guard import Fault, StateLimits
from ne_dynamics.control.laws import ControlLaw, Mode, Terms
from ne_dynamics.control.sensors.velocity_source import VelocitySettings
from ne_dynamics.control.tuning import Tuning
from ne_dynamics.ros.settings.configuration import make_controller, make_tuning
from ne_dynamics.ros.settings.controlled_arm import ControlledArm, controlled_arm
from ne_dynamics.ros.settings.parameters import PARAMETERS, NodeSettings
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.demo.arm import fair_gains
from ne_dynamics.simulation.demo.motion import WaypointMotion, excitation
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop

PERIOD = 0.002
SETTLE = 0.1
"""The arm is held for so long before it sets out [s]."""

ARMS: dict[Any, tuple[Robot, ControlledArm]] = {}
"""Arms whose equations are there already, by what makes them: nothing changes them."""


class Run(NamedTuple):
    """What became of it; rows are times.

    Attributes
    ----------
    time : array, shape (m,)
        [s]
    speed, error : array, shape (m, n)
        True, absolute [rad/s, rad]; of the error only the rows of states that were answered.
    fault : Fault or None
        The first.
    fault_time : float
        [s]
    """

    time: np.ndarray
    speed: np.ndarray
    error: np.ndarray
    fault: Fault | None
    fault_time: float


def shipped_arm() -> Robot:
    """Return the six-axis arm."""
    return load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp')


def with_coulomb(robot: Robot, share: float) -> Robot:
    """Return a robot with Coulomb friction of a share of its effort limits."""
    return robot.with_joint_values('coulomb_friction', share * robot.limits('effort_limit'))


def demo_motion(robot: Robot, duration: float = 2.0) -> WaypointMotion:
    """Return the motion of the demo, with its load of 3 kg in mind."""
    loaded = Dynamics(with_hung_mass(robot, 3.0, np.zeros(3)), backend='python')
    return excitation(robot, duration, loaded.inverse_dynamics)


def known_arm(model: Robot, **changes: object) -> tuple[NodeSettings, ControlledArm]:
    """Return settings of the node, some of them changed, and the arm as it knows it by them."""
    chosen = PARAMETERS.changed({'backend': 'auto', **changes})
    key = id(model), chosen.gravity, chosen.backend, chosen.joints, chosen.wrench, chosen.imu
    if key not in ARMS:
        ARMS[key] = model, controlled_arm(chosen, model)
    return chosen, ARMS[key][1]


def node_tuning(model: Robot, **changes: object) -> Tuning:
    """Return the tuning that the node makes of its parameters, some of them changed."""
    return make_tuning(*known_arm(model, **changes))[0]


def node_controller(model: Robot, **changes: object) -> Controller:
    """Return the controller that the node makes of its parameters, some of them changed."""
    return make_controller(known_arm(model, **changes)[1], node_tuning(model, **changes))


class HeldArmLoop(OneProcessLoop):
    """The controller that the node makes of its parameters, and an arm that rests.

    Parameters
    ----------
    model : Robot
        What is known.
    start : array-like, shape (n,)
        Where the arm is [rad or m].
    parameters : mapping of str to object
        Of the node, where they are not the defaults.
    plant : Robot, optional
        The arm that there is, where it is another.
    body : mapping of str to object
        Options of :class:`MujocoArm`; the period is `PERIOD` unless it is among them.
    **options
        Of the loop.
    """

    def __init__(
        self,
        model: Robot,
        start: Any,
        parameters: Mapping[str, object] | None = None,
        *,
        plant: Robot | None = None,
        body: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.model, self.parameters = model, dict(parameters or {})
        self.controller = node_controller(model, **self.parameters)
        arm = MujocoArm(plant or model, **{'period': PERIOD, **(body or {})})
        arm.reset(start)
        super().__init__(arm, self.controller, **options)

    def adopt(self, **changes: object) -> None:
        """Set parameters on the way."""
        self.parameters.update(changes)
        self.controller.adopt(node_tuning(self.model, **self.parameters))


class MotionLoop(OneProcessLoop):
    """A controller as the node has it by default, and an arm at the beginning of a motion.

    Parameters
    ----------
    robot : Robot
    motion : WaypointMotion
    plant : Robot, optional
        The arm that there is, where it is another.
    mode, terms, kp, kv
        Of the law; gains in 1/s^2 and 1/s, for PD times the diagonal of the mass matrix.
    limits : dict, optional
        `following` and `velocity` of the tuning; those that the node derives unless given.
    period : float
        [s]
    backend : str
        Of the dynamics that the law has.
    **options
        Of the loop.
    """

    def __init__(
        self,
        robot: Robot,
        motion: WaypointMotion,
        *,
        plant: Robot | None = None,
        mode: Mode = Mode.COMPUTED_TORQUE,
        terms: Terms | None = None,
        kp: float = 100.0,
        kv: float = 20.0,
        limits: dict | None = None,
        period: float = PERIOD,
        backend: str = 'auto',
        **options,
    ) -> None:
        self.motion = motion
        dynamics = Dynamics(robot, backend=backend)
        gains = fair_gains(robot, motion, kp, kv) if mode is Mode.FEEDFORWARD_PD else (kp, kv)
        if limits is None:
            limits = {
                'following': FollowingLimits.derived(robot.joints, 1.0),
                'velocity': VelocitySettings(),
            }
        self.controller = Controller(
            Tuning(
                ControlLaw(dynamics, mode, Gains.from_values(*gains, robot.n), terms),
                ControlLaw(dynamics, Mode.GRAVITY_COMPENSATION, terms=terms),
                robot.limits('effort_limit'),
                np.zeros(0),
                states=StateLimits(0.1, 2.0 * robot.limits('velocity_limit'), 10.0),
                **limits,
            )
        )
        arm = MujocoArm(plant or robot, period=period, integrator='implicitfast')
        arm.reset(motion.positions[0])
        gravity = dynamics.gravity_torque(motion.positions[0])
        self.answers = NodeAnswers(self.controller, gravity)
        super().__init__(arm, self.answers, **options)

    def follow(self) -> None:
        """Let the motion begin."""
        self.controller.motion.follow(self.motion.waypoints())

    def watch(self, seconds: float, *, start: bool = True) -> Run:
        """Run for a while, from `SETTLE` on along the motion if asked to."""
        first, faults, begin = len(self._rows), len(self.answers.faults), self.arm.time
        if start:
            self.run(SETTLE)
            self.follow()
        self.run(seconds - (SETTLE if start else 0.0))
        found = self.recording(first)
        time, fault = next(iter(self.answers.faults[faults:]), (np.inf, None))
        is_answered = np.isfinite(found.desired).all(axis=1)
        error = np.abs(found.error[is_answered])
        return Run(found.time - begin, np.abs(found.velocity), error, fault, time - begin)
