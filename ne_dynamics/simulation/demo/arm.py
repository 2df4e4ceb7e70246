"""The arm of a demo: its model, and gains that are fair to compare."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ne_dynamics.control import Mode
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.model.files import load_model
from ne_dynamics.model.model_source import ModelSource
from ne_dynamics.model.robot import Robot
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.motion import WaypointMotion

SHIPPED_MODEL = 'six_axis_arm.urdf'
SHIPPED_TIP = 'tcp'
SENSOR_LINK = 'ft_sensor'
"""Taken for the last link on the arm's side of a wrist sensor where a model has it."""

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')
"""Parts of the model that the node can leave out, one by one."""


@dataclass(frozen=True, eq=False)
class DemoArm:
    """A model as node and simulated robot read it.

    Attributes
    ----------
    model_file : str
        Absolute path.
    base, tip : str
        First and last link as they were asked for; empty: the model's.
    robot : Robot
    """

    model_file: str
    base: str
    tip: str
    robot: Robot

    @classmethod
    def read(cls, model_file: str | None, base: str | None, tip: str | None) -> DemoArm:
        """Read a model; without a file, the shipped six-axis arm.

        Raises
        ------
        NeDynamicsError
            When it cannot be read or has no joint that moves.
        """
        path = str(Path(model_file).resolve() if model_file else shipped_file(SHIPPED_MODEL))
        chosen_tip = tip or (None if model_file else SHIPPED_TIP)
        robot = load_model(path, base, chosen_tip)
        return cls(path, base or '', chosen_tip or '', robot)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters by which node and simulated robot read the model."""
        return {'model_file': self.model_file, 'base_link': self.base, 'tip_link': self.tip}

    def default_sensor_link(self) -> str:
        """Return the link that usually carries a wrist sensor, otherwise the tip.

        Raises
        ------
        ModelError
            When the robot has no tip.
        """
        named = any(link.name == SENSOR_LINK for link in self.robot.links)
        return SENSOR_LINK if named else self.robot.tip.name

    def with_gear_friction(self, share: float, folder: Path) -> DemoArm:
        """Return the arm with Coulomb friction in its joints, as gears have it.

        Parameters
        ----------
        share : float
            Of each joint's effort limit; joints without one, and joints that have Coulomb
            friction already, stay as they are.
        folder : path
            Where the model with friction is written.

        Returns
        -------
        DemoArm
            This one when the model is not a URDF.
        """
        from ne_dynamics.identification.writing.written_model import make_written_model

        source = ModelSource(self.model_file)
        if not source.is_urdf:
            return self
        coulomb = self.robot.joint_values('coulomb_friction')
        limits = self.robot.limits('effort_limit')
        gets = (coulomb == 0.0) & (limits > 0.0) & (limits < np.inf)
        rubbing = self.robot.with_joint_values(
            'coulomb_friction', np.where(gets, share * limits, coulomb)
        )
        file = folder / f'{Path(self.model_file).stem}_with_friction.urdf'
        make_written_model(source, rubbing).write(file)
        return DemoArm.read(str(file), self.base or None, self.tip or None)


def law_parameters(mode: Mode | str, terms: tuple[str, ...] = TERMS) -> dict[str, Any]:
    """Return the node's parameters for a control law with some terms of the model."""
    return {'mode': Mode(mode).value, **{f'terms.{term}': term in terms for term in TERMS}}


def fair_gains(
    robot: Robot, motion: WaypointMotion, kp: float, kv: float
) -> tuple[list[float], list[float]]:
    """Return the PD gains of the bandwidth that computed torque has with `kp` and `kv`.

    Those are accelerations per error [1/s^2, 1/s]; the lists, of length n, are efforts per error
    [N m/rad, N m s/rad or N/m, N s/m], by the mass matrix at the first waypoint of the motion.
    """
    diagonal = np.diag(Dynamics(robot).mass_matrix(motion.positions[0]))
    return (kp * diagonal).tolist(), (kv * diagonal).tolist()


def gain_parameters(robot: Robot, motion: WaypointMotion, kp: float, kv: float) -> dict[str, Any]:
    """Return the node's parameters for computed torque and for PD by :func:`fair_gains`."""
    pd_kp, pd_kv = fair_gains(robot, motion, kp, kv)
    return {
        'computed_torque.kp': [kp],
        'computed_torque.kv': [kv],
        'feedforward_pd.kp': pd_kp,
        'feedforward_pd.kv': pd_kv,
    }
