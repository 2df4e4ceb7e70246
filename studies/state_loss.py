"""An arm whose joint states stop while it moves: what becomes of it until 1 s later.

Controller and MuJoCo's arm in one process, without ROS. The table of doc/scenarios.md is that of

    python -m studies.state_loss [MOTIONS]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ne_dynamics import Robot, load_model
from ne_dynamics.control import Controller, FaultKind
from ne_dynamics.ros import PARAMETERS, controlled_arm, make_controller, make_tuning
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.altered_robot import scale_masses, with_hung_mass
from ne_dynamics.simulation.demo.motion import rest_to_rest
from ne_dynamics.simulation.mujoco_model import MujocoArm
from ne_dynamics.simulation.one_process_loop import OneProcessLoop, Sensor
from ne_dynamics.tables import markdown_table

PERIOD = 0.002
"""Of the loop [s]."""

TIMEOUT = 0.1
"""The watchdog's [s]."""

WATCHED = 1.0
"""After the last state [s]."""

REACH = 2.0
"""Motions are from pose to pose within this of zero, each joint [rad]."""

PEAK = 1.875
"""Peak velocity of a quintic polynomial from rest to rest, by the mean one."""


ARM = load_model(shipped_file('six_axis_arm.urdf'), tip_link='tcp')
FREE = ARM.without_friction()
GEARS = 0.05 * ARM.limits('effort_limit')
"""Coulomb friction as gears have it."""

GEARED = ARM.with_joint_values('coulomb_friction', GEARS)
CASES = {
    'gear friction, model exact': (GEARED, GEARED),
    'gear friction, masses +10 %': (GEARED, scale_masses(GEARED, 1.1)),
    'gear friction, 3 kg unknown': (
        GEARED,
        with_hung_mass(GEARED, 3.0, np.zeros(3)),
    ),
    'gear friction unknown': (ARM, GEARED),
    "gear friction half of the model's": (
        ARM.with_joint_values('coulomb_friction', 2.0 * GEARS),
        GEARED,
    ),
    'damping as shipped, model exact': (ARM, ARM),
    'no friction, model exact': (FREE, FREE),
    'no friction, masses +10 %': (FREE, scale_masses(FREE, 1.1)),
    'no friction, masses -10 %': (FREE, scale_masses(FREE, 0.9)),
}
"""By name: the model, and the arm that there is."""


class Loss(NamedTuple):
    """What became of the arm.

    Attributes
    ----------
    at_fault : float
        Speed of the fastest joint when the watchdog acts [rad/s].
    speed : float
        ... 1 s after the last state [rad/s].
    moved : float
        How far the joint that went farthest is from the last state then [rad].
    command_step : float
        Largest step from one command to the next, by the effort limit of the joint.
    is_braked : bool
        Whether there was more than the ramp against gravity.
    """

    at_fault: float
    speed: float
    moved: float
    command_step: float
    is_braked: bool


def make_loss_controller(model: Robot, choice: str) -> Controller:
    """Return a controller with the node's defaults, that follows whatever it is told."""
    unwatched = {
        'following_error.position': (0.0,),
        'following_error.velocity': (0.0,),
        'saturation.timeout': 0.0,
        'trajectory.when_infeasible': 'follow',
    }
    settings = PARAMETERS.changed({**unwatched, 'backend': 'python', 'on_state_loss': choice})
    arm = controlled_arm(settings, model)
    return make_controller(arm, make_tuning(settings, arm)[0])


def lose_states(
    model: Robot,
    plant: Robot,
    choice: str,
    seed: int,
    *,
    sensors: Sequence[Sensor] = (),
) -> Loss:
    """Let the states of an arm stop somewhere on its way from one pose to another.

    Parameters
    ----------
    model, plant : Robot
        What is known, and what there is.
    choice : str
        `on_state_loss`.
    seed : int
        Of poses, speed, and when it happens.
    sensors : sequence of Sensor
    """
    rng = np.random.default_rng(seed)
    begin, end = rng.uniform(-REACH, REACH, (2, model.n))
    fastest = (PEAK * np.abs(end - begin) / model.limits('velocity_limit')).max()
    duration = fastest / rng.uniform(0.4, 1.0)
    lost_at = rng.uniform(0.25, 0.75) * duration

    controller = make_loss_controller(model, choice)
    controller.motion.follow(rest_to_rest(model, begin, end, duration).waypoints())
    arm = MujocoArm(plant, period=PERIOD, integrator='implicitfast')
    arm.reset(begin)

    loop = OneProcessLoop(arm, controller, sensors=sensors)
    while arm.time < lost_at:
        last = loop.step().effort
    found = loop.recording().position[-1]
    for _ in range(round(TIMEOUT / PERIOD) - 1):
        arm.step(last)
    at_fault = np.abs(arm.velocity).max()
    controller.trip(FaultKind.STOPPED, 'simulated')
    braking = controller.machine.braking_commands(TIMEOUT)
    commands = [last, *(controller.machine.last_commands() if braking is None else braking)]
    for index in range(round((WATCHED - TIMEOUT) / PERIOD)):
        arm.step(commands[min(index + 1, len(commands) - 1)])
    steps = np.abs(np.diff(commands, axis=0)) / model.limits('effort_limit')
    return Loss(
        float(at_fault),
        float(np.abs(arm.velocity).max()),
        float(np.abs(arm.position - found).max()),
        float(steps.max()),
        braking is not None,
    )


def main() -> None:
    """Print what becomes of the arm in every case, with both choices."""
    motions = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    heading = ['arm and model', '`gravity`: distance', 'speed', '`brake`: distance', 'speed']
    rows = []
    for name, (model, plant) in CASES.items():
        cells = [name]
        for choice in ('gravity', 'brake'):
            runs = [lose_states(model, plant, choice, seed) for seed in range(motions)]
            for values in ([run.moved for run in runs], [run.speed for run in runs]):
                found = np.round(np.quantile(values, (0.5, 0.9, 1.0)), 3)
                rounded = [f'{value:.0f}' if value >= 10.0 else f'{value:.2g}' for value in found]
                cells.append(', '.join(rounded))
        rows.append(cells)
    print(markdown_table(heading, rows))


if __name__ == '__main__':
    main()
