"""A scenario of the demo: runs of one motion in closed loop, a table, and pictures.

Node and simulated robot run as two processes over DDS, in lockstep; this process sends the
trajectory, records, and compares. Every run starts at rest at the motion's first waypoint, under
brakes that are released when the motion begins. This module needs neither ROS nor MuJoCo nor
matplotlib before :func:`perform` is called.
"""

from __future__ import annotations

import abc
import math
import tempfile
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ne_dynamics.control import Mode
from ne_dynamics.dynamics import Dynamics
from ne_dynamics.errors import InputError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.progress_bar import show_time
from ne_dynamics.simulation.altered_robot import with_hung_mass
from ne_dynamics.simulation.demo.arm import DemoArm, gain_parameters, law_parameters
from ne_dynamics.simulation.demo.motion import InverseDynamics, WaypointMotion, excitation
from ne_dynamics.simulation.demo.pictures.run_style import Drawn
from ne_dynamics.simulation.demo.scenario_run import ScenarioRun
from ne_dynamics.simulation.recording import SessionRecording

COMPUTED_TORQUE = law_parameters(Mode.COMPUTED_TORQUE)


@dataclass(frozen=True)
class Options:
    """What the command line asked for.

    Attributes
    ----------
    model_file, base, tip, sensor : str, optional
        As for :meth:`DemoArm.read`, and the last link on the arm's side of the wrist sensor.
    duration : float, optional
        Of the motion [s].
    rate : float
        Control rate [Hz].
    kp : float
        Position gain of computed torque [1/s^2].
    kv : float
        Velocity gain [1/s].
    load : float, optional
        [kg]
    is_short : bool
        The fewest runs that tell the story, of a shorter motion.
    laws : tuple of str
        Keys of the control laws that are compared; empty: those of the scenario.
    """

    model_file: str | None = None
    base: str | None = None
    tip: str | None = None
    sensor: str | None = None
    duration: float | None = None
    rate: float = 500.0
    kp: float = 400.0
    kv: float = 40.0
    load: float | None = None
    is_short: bool = False
    laws: tuple[str, ...] = ()


class Scenario(abc.ABC):
    """A story told by some runs.

    Parameters
    ----------
    options : Options
    folder : path
        For models that are made for the scenario.

    Attributes
    ----------
    name, story : str
        As the command line has them.
    arm : DemoArm
    model_file : str
        As it was given; that of `arm` may have friction added.
    motion : WaypointMotion
    gains : mapping
        Parameters of the node.
    runs : tuple of ScenarioRun
    recordings : dict of str to SessionRecording
        By the runs' keys, filled by :meth:`perform`.
    """

    name: ClassVar[str]
    story: ClassVar[str]
    duration: ClassVar[float] = 4.0
    short_duration: ClassVar[float] = 2.0
    gear_friction: ClassVar[float] = 0.0
    default_load: ClassVar[float] = 3.0

    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        arm = DemoArm.read(options.model_file, options.base, options.tip)
        self.arm = (
            arm.with_gear_friction(self.gear_friction, folder) if self.gear_friction else arm
        )
        self._has_gear_friction = self.arm is not arm
        self.model_file = arm.model_file
        self.dynamics = Dynamics(self.arm.robot)
        duration = options.duration or (self.short_duration if options.is_short else self.duration)
        self.motion: WaypointMotion = excitation(self.arm.robot, duration, self.inverse_dynamics())
        self.gains = gain_parameters(self.arm.robot, self.motion, options.kp, options.kv)
        self.runs = self.planned_runs()
        self.recordings: dict[str, SessionRecording] = {}

    # -- what a scenario says of itself -----------------------------------------------------

    @property
    def is_loaded(self) -> bool:
        """Whether the motion must leave room for the load."""
        return False

    def inverse_dynamics(self) -> InverseDynamics:
        """Return the efforts that the motion must leave room for."""
        if not self.is_loaded:
            return self.dynamics.inverse_dynamics
        return Dynamics(with_hung_mass(self.arm.robot, self.load, np.zeros(3))).inverse_dynamics

    @abc.abstractmethod
    def planned_runs(self) -> tuple[ScenarioRun, ...]:
        """Return the runs; the motion is known."""

    @abc.abstractmethod
    def introduction(self) -> str:
        """Return what is going to be done."""

    @abc.abstractmethod
    def report(self) -> str:
        """Return a table and what stands out."""

    @abc.abstractmethod
    def findings(self) -> dict[str, Any]:
        """Return the figures of the report, in SI units."""

    @abc.abstractmethod
    def plot(self, folder: Path) -> list[Path]:
        """Draw all pictures into a folder and return their files."""

    # -- the same for all -------------------------------------------------------------------

    def perform(self) -> None:
        """Run all runs."""
        from ne_dynamics.simulation.demo.session import NodeLoop

        node = {
            **self.arm.parameters(),
            'joint_states_reliability': 'reliable',
            **self.gains,
            **COMPUTED_TORQUE,
        }
        with NodeLoop(self.options.rate, node, self.arm.parameters()) as loop:
            for run in self.runs:
                motion = run.motion or self.motion
                with show_time(run.style.label, motion.duration + run.rest) as show:
                    self.recordings[run.key] = loop.run(motion, run, show)

    def results(self) -> dict[str, Any]:
        """Return everything that was measured, in SI units."""
        runs = {
            run.key: {'label': run.style.label, **figures_of(recording)}
            for run, recording in self.finished()
        }
        return {
            'scenario': self.name,
            **self.conditions(),
            'runs': runs,
            'findings': self.findings(),
        }

    def conditions(self) -> dict[str, Any]:
        """Return arm, motion and gains."""
        return {
            'robot': self.arm.robot.name,
            'model_file': self.model_file,
            'joints': list(self.arm.robot.joint_names),
            'duration': self.motion.duration,
            'rate': self.options.rate,
            'kp': self.options.kp,
            'kv': self.options.kv,
        }

    def friction_note(self) -> str:
        """Return what friction the joints of the scenario have."""
        if self._has_gear_friction:
            share = f'{self.gear_friction:.0%} of their effort limits'
            return f'joints with Coulomb friction of {share}, as gears have it'
        return 'joints with the friction of the model'

    def finished(self) -> list[tuple[ScenarioRun, SessionRecording]]:
        """Return the runs with their recordings."""
        return [(run, self.recordings[run.key]) for run in self.runs]

    def drawn(self, keys: Collection[str] = ()) -> Drawn:
        """Return what is drawn of the runs, of all or of those of these keys."""
        return [(run.style, item) for run, item in self.finished() if not keys or run.key in keys]

    def picture_path(self, folder: Path) -> Path:
        """Return the file of a scenario's only picture."""
        return folder / f'{self.name.replace("-", "_")}.png'

    def load_parameters(self) -> dict[str, Any]:
        """Return the parameters of a simulated robot with the load and a wrist sensor."""
        return {
            'payload.mass': self.load,
            'payload.link': self.arm.robot.tip_link,
            'wrench.sensor_link': self.sensor,
        }

    def heading(self) -> str:
        """Return arm, motion and gains in a line."""
        options = self.options
        return (
            f'{self.arm.robot.name}: {self.motion.duration:g} s at {options.rate:g} Hz, '
            f'Kp = {options.kp:g}/s^2, Kv = {options.kv:g}/s'
        )

    @cached_property
    def load(self) -> float:
        """The load that was asked for [kg], otherwise the scenario's own.

        Raises
        ------
        InputError
            When it is 0, or the robot has no tip to hang it on.
        """
        load = self.default_load if self.options.load is None else self.options.load
        if not load > 0.0:
            raise InputError(f'load [kg]: scenario {self.name} expects one > 0, got {load:g}')
        if self.arm.robot.tip_link is None:
            raise InputError(
                f'tip: scenario {self.name} expects a robot with a tip, {self.arm.robot.name!r} '
                'has several ends: name one with --tip'
            )
        return load

    @cached_property
    def sensor(self) -> str:
        """The last link on the arm's side of the wrist sensor."""
        link = self.options.sensor or self.arm.default_sensor_link()
        self.arm.robot.cut_beyond(link)  # raises when joints are beyond it
        return link


def figures_of(recording: SessionRecording) -> dict[str, Any]:
    """Return what a run came to, in SI units."""

    def by_joint(values: FloatArray) -> dict[str, float]:
        return dict(zip(recording.joint_names, values.tolist(), strict=True))

    return {
        'rms_error': by_joint(recording.rms_error),
        'peak_error': by_joint(recording.peak_error),
        'overall_rms_error': recording.overall_rms_error,
        'states': len(recording.time),
        'cycles_per_second': recording.cycles_per_second,
    }


def rms(recording: SessionRecording, start: float = 0.0, end: float = math.inf) -> float:
    """Return the RMS error of all joints over a part of the run, start <= time < end [rad, m]."""
    part = (recording.time >= start) & (recording.time < end)
    return float(np.sqrt(np.mean(recording.error[part] ** 2))) if part.any() else math.nan


def perform(
    scenario_type: type[Scenario],
    options: Options,
    output: Path,
    announce: Callable[[str], None],
) -> tuple[dict[str, Any], str]:
    """Run a scenario and draw its pictures.

    Parameters
    ----------
    scenario_type : type
    options : Options
    output : path
        Folder for the pictures; made when it is missing.
    announce : callable
        Called with the introduction, before the first run.

    Returns
    -------
    tuple of dict and str
        Everything that was measured, in SI units, and a report to read.

    Raises
    ------
    NeDynamicsError
        When the arm cannot be read or moved, a dependency is missing (the message names the
        extra that brings it), or a run did not complete.
    """
    # Before the first run: what is missing must not show up at the end.
    import ne_dynamics.simulation.demo.pictures.demo_plots
    import ne_dynamics.simulation.demo.session
    import ne_dynamics.simulation.mujoco_model  # noqa: F401

    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix='ne_dynamics_scenario_') as folder:
        scenario = scenario_type(options, Path(folder))
        announce(scenario.introduction())
        scenario.perform()
    plots = [str(path) for path in scenario.plot(output)]
    seconds = time.monotonic() - began
    results = {**scenario.results(), 'plots': plots, 'seconds': seconds}
    files = f'Plot{"s" if len(plots) > 1 else ""}: {", ".join(plots)}'
    return results, f'\n{scenario.report()}\n\n{files}\n\n{seconds:.0f} s in all'
