"""``ne_dynamics demo``: an arm follows a trajectory in closed loop, one control law after another.

The node and a simulated robot run as two processes over DDS, in lockstep; this process sends the
trajectory, records, and compares. All laws get the same bandwidth: what computed torque takes as
accelerations, Kp and Kv, the PD controllers take as efforts, scaled joint by joint by the
diagonal of the mass matrix at the start of the motion, about which the motion swings.

Every run starts at rest at the motion's first waypoint, under brakes that are released when the
motion begins. So the error of PD alone contains the arm's sagging into its gains.

With ``--scenario`` it tells one of four other stories, each a comparison with and without what
the node has for it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ne_dynamics.control.laws import Mode
from ne_dynamics.errors import InputError
from ne_dynamics.simulation.demo_arm import (
    SENSOR_LINK,
    TERMS,
    DemoArm,
    gain_parameters,
    law_parameters,
)
from ne_dynamics.simulation.demo_tables import ProgressBar, figure, shortened

if TYPE_CHECKING:
    from ne_dynamics.simulation.demo_motion import Motion
    from ne_dynamics.simulation.demo_session import ClosedLoop
    from ne_dynamics.simulation.recording import SessionRecording

SCENARIOS = {
    'tool-load': 'a tool heavier than the wrist is picked up: unknown, felt, told',
    'tilted-base': 'the base stands askew, then rocks: without and with an imu',
    'model-error': 'wrong masses, unknown friction: computed torque beside PD',
    'sensor-loss': 'joint states stop mid-motion, then the wrench: with and without a watchdog',
}
"""With the line that ``--help`` prints for each."""

LOAD = 3.0
DURATION = 4.0
SHORT_DURATION = 2.0
SHORT_MODES = ('pd', 'computed_torque')


@dataclass(frozen=True)
class Law:
    """One of the compared control laws.

    Attributes
    ----------
    label : str
    mode : Mode
    terms : tuple of str
        Parts of the model that are used.
    colour, width, dashes : str, float, tuple of float
        In the plots.
    """

    label: str
    mode: Mode
    terms: tuple[str, ...]
    colour: str
    width: float = 1.3
    dashes: tuple[float, ...] = ()


LAWS = {
    'pd': Law('PD alone', Mode.FEEDFORWARD_PD, (), '#8c8c8c'),
    'pd_gravity': Law('PD + gravity', Mode.FEEDFORWARD_PD, ('gravity',), '#e69f00'),
    'feedforward_pd': Law(
        'feed-forward + PD', Mode.FEEDFORWARD_PD, TERMS, '#0072b2', 1.4, (4.0, 3.0)
    ),
    'computed_torque': Law('computed torque', Mode.COMPUTED_TORQUE, TERMS, '#d1495b', 2.6),
}
"""In the order in which they run."""

LOAD_RUNS = {
    'without_wrench': ('computed torque, load unknown', '#8c8c8c', 1.3),
    'with_wrench': ('computed torque + wrist wrench', '#d1495b', 2.6),
}


def add_parser(subparsers: Any) -> argparse.ArgumentParser:
    """Add the subcommand and its arguments."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        'demo',
        help='follow a trajectory in simulation, one control law after the other, and compare',
        description='Follow a trajectory with a simulated arm over ROS 2, by PD alone, PD with '
        'gravity, feed-forward with PD, and computed torque; then with a load on the tool, '
        'without and with the wrench of a wrist sensor. Prints tables, writes plots.',
        epilog='scenarios:\n'
        + '\n'.join(f'  {name:<14}{story}' for name, story in SCENARIOS.items()),
        formatter_class=_Formatter,
    )
    parser.add_argument(
        '--scenario', choices=tuple(SCENARIOS), metavar='NAME', help='one of the stories below'
    )
    model = parser.add_mutually_exclusive_group()
    model.add_argument('--urdf', metavar='FILE', help='URDF of your arm (default: one of our own)')
    model.add_argument('--model', metavar='FILE', help='URDF or DH file of your arm')
    parser.add_argument('--base', metavar='LINK', help='first link of the arm (URDF)')
    parser.add_argument('--tip', metavar='LINK', help='last link of the arm (URDF)')
    parser.add_argument(
        '--sensor',
        metavar='LINK',
        help="last link on the arm's side of the wrist sensor (default: "
        f'{SENSOR_LINK} where the model has it, otherwise the tip)',
    )
    parser.add_argument(
        '--duration',
        type=_positive,
        metavar='S',
        help=f'of the motion [s] (default: {DURATION:g}; model-error: 2)',
    )
    parser.add_argument(
        '--rate', type=_positive, default=500.0, metavar='HZ', help='control rate (default: 500)'
    )
    parser.add_argument(
        '--kp', type=_positive, default=400.0, help='position gain [1/s^2] (default: 400)'
    )
    parser.add_argument(
        '--kv', type=_positive, default=40.0, help='velocity gain [1/s] (default: 40)'
    )
    parser.add_argument(
        '--load',
        type=_not_negative,
        metavar='KG',
        help=f'hung on the tip (default: {LOAD:g}; 0: leave these runs out; tool-load: 6)',
    )
    parser.add_argument(
        '--modes',
        nargs='+',
        choices=tuple(LAWS),
        metavar='LAW',
        help=f'of {", ".join(LAWS)}; not with --scenario',
    )
    parser.add_argument(
        '--short',
        action='store_true',
        help=f'{SHORT_DURATION:g} s, {" and ".join(SHORT_MODES)}; with --scenario: fewer runs',
    )
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('demo_output'),
        metavar='DIR',
        help='folder for the plots (default: demo_output)',
    )
    parser.add_argument('--json', action='store_true', help='print the results as JSON')
    parser.set_defaults(run=run)
    return parser


class _Formatter(argparse.HelpFormatter):
    """Keeps the lines of the epilog as they are."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith('scenarios:') else super()._fill_text(text, width, indent)


def _positive(text: str) -> float:
    value = float(text)
    if not (np.isfinite(value) and value > 0.0):
        raise argparse.ArgumentTypeError(f'expected a number > 0, got {text}')
    return value


def _not_negative(text: str) -> float:
    value = float(text)
    if not (np.isfinite(value) and value >= 0.0):
        raise argparse.ArgumentTypeError(f'expected a number >= 0, got {text}')
    return value


def run(args: argparse.Namespace) -> int:
    """Run the demo; return 0 when all runs completed.

    Raises
    ------
    NeDynamicsError
        When the arm cannot be read or moved, a dependency is missing (the message names the
        extra that brings it), or a run did not complete.
    """
    # Imported here: the help must not need ROS, MuJoCo and matplotlib; all of them before the
    # first run: what is missing must not show up at the end.
    import ne_dynamics.simulation.demo_plots
    import ne_dynamics.simulation.mujoco_model  # noqa: F401
    from ne_dynamics.simulation.demo_session import ClosedLoop

    if args.scenario is not None:
        return _run_scenario(args)
    demo = _Demo.prepared(args)
    quiet = args.json
    if not quiet:
        print(demo.introduction())
    with (
        _terminated_in_order(),
        ClosedLoop(args.rate, demo.node_parameters(), demo.robot_parameters()) as loop,
    ):
        demo.run_laws(loop)
        demo.run_load(loop)
    demo.plot(args.output)
    print(json.dumps(demo.results(), indent=2) if quiet else demo.report())
    return 0


def _run_scenario(args: argparse.Namespace) -> int:
    from ne_dynamics.simulation.demo_scenarios import Options, perform

    if args.modes is not None:
        raise InputError('--modes: expected none with --scenario, which brings its own laws')
    options = Options(
        args.urdf or args.model,
        args.base,
        args.tip,
        args.sensor,
        args.duration,
        args.rate,
        args.kp,
        args.kv,
        args.load,
        args.short,
    )
    announce = (lambda text: None) if args.json else print
    with _terminated_in_order():
        results, report = perform(args.scenario, options, args.output, announce)
    print(json.dumps(results, indent=2) if args.json else report)
    return 0


@contextlib.contextmanager
def _terminated_in_order() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does, so that no child is left behind."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    previous = {number: signal.signal(number, interrupt) for number in _signals()}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _signals() -> tuple[signal.Signals, ...]:
    return (signal.SIGTERM, signal.SIGHUP) if hasattr(signal, 'SIGHUP') else (signal.SIGTERM,)


@dataclass(eq=False)
class _Demo:
    """What is run, and what came of it."""

    args: argparse.Namespace
    load: float
    arm: DemoArm
    motion: Motion
    sensor_link: str | None
    laws: tuple[str, ...]
    gains: dict[str, Any]
    runs: dict[str, SessionRecording] = field(default_factory=dict)
    load_runs: dict[str, SessionRecording] = field(default_factory=dict)
    plots: list[Path] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def prepared(cls, args: argparse.Namespace) -> _Demo:
        """Read the model and plan the motion."""
        from ne_dynamics.dynamics import Dynamics
        from ne_dynamics.simulation.demo_motion import excitation
        from ne_dynamics.simulation.mujoco_model import with_hung_mass

        arm = DemoArm.read(args.urdf or args.model, args.base, args.tip)
        robot = loaded = arm.robot
        sensor_link: str | None = None
        load = LOAD if args.load is None else args.load
        if load > 0.0 and robot.tip_link is not None:
            sensor_link = args.sensor or arm.default_sensor_link()
            robot.cut_beyond(sensor_link)  # raises when joints are beyond it
            loaded = with_hung_mass(robot, load, np.zeros(3))
        duration = args.duration or (SHORT_DURATION if args.short else DURATION)
        motion = excitation(robot, duration, Dynamics(loaded).inverse_dynamics)
        laws = tuple(
            key for key in LAWS if key in (args.modes or (SHORT_MODES if args.short else LAWS))
        )
        gains = gain_parameters(robot, motion, args.kp, args.kv)
        return cls(args, load, arm, motion, sensor_link, laws, gains)

    # -- running ----------------------------------------------------------------------------

    def node_parameters(self) -> dict[str, Any]:
        """Return the node's parameters that all runs share."""
        return {
            **self.arm.parameters(),
            'joint_states_reliability': 'reliable',
            **self.gains,
        }

    def robot_parameters(self) -> dict[str, Any]:
        """Return the simulated robot's parameters that all runs share."""
        return self.arm.parameters()

    def run_laws(self, loop: ClosedLoop) -> None:
        """Follow the motion by every law."""
        for key in self.laws:
            law = LAWS[key]
            self.runs[key] = self._run(loop, law.label, law_parameters(law.mode, law.terms), {})

    def run_load(self, loop: ClosedLoop) -> None:
        """Follow the motion with the load, without and with the wrench."""
        if self.sensor_link is None:
            return
        for key, (label, _, _) in LOAD_RUNS.items():
            self.load_runs[key] = self._run(
                loop,
                label,
                {
                    'mode': 'computed_torque',
                    'wrench.enabled': key == 'with_wrench',
                    'wrench.sensor_link': self.sensor_link,
                    'wrench.measures': 'on_tool',
                },
                {
                    'payload.mass': self.load,
                    'payload.link': self.arm.robot.tip_link,
                    'wrench.sensor_link': self.sensor_link,
                    'wrench.measures': 'on_tool',
                },
            )

    def _run(
        self, loop: ClosedLoop, label: str, node: dict[str, Any], robot: dict[str, Any]
    ) -> SessionRecording:
        bar = ProgressBar(label, self.motion.duration)
        try:
            return loop.run(self.motion, node, robot, bar.show)
        finally:
            bar.close()

    # -- telling ----------------------------------------------------------------------------

    def introduction(self) -> str:
        """Return what is going to be done."""
        robot, motion = self.arm.robot, self.motion
        text = (
            f'{robot.name}: {robot.n} joints, {motion.duration:g} s at {self.args.rate:g} Hz, '
            f'Kp = {self.args.kp:g}/s^2, Kv = {self.args.kv:g}/s (PD: times the diagonal of the '
            'mass matrix)'
        )
        if self.sensor_link is not None:
            text += f'; then {self.load:g} kg on {robot.tip_link}'
        elif self.load > 0.0:
            text += '; no load, because the model has no tip: name it with --tip'
        return text

    def plot(self, folder: Path) -> None:
        """Draw the runs."""
        from ne_dynamics.simulation.demo_plots import Style, plot_efforts, plot_errors

        folder.mkdir(parents=True, exist_ok=True)
        styles = {
            key: Style(law.label, law.colour, law.width, law.dashes) for key, law in LAWS.items()
        } | {key: Style(label, colour, width) for key, (label, colour, width) in LOAD_RUNS.items()}
        name = self.arm.robot.name
        load = f'{name} with {self.load:g} kg on the tool'
        for prefix, runs, title in (('', self.runs, name), ('load_', self.load_runs, load)):
            if runs:
                error, effort = folder / f'{prefix}error.png', folder / f'{prefix}torque.png'
                plot_errors(error, self.arm.robot, runs, styles, f'{title}: tracking error')
                plot_efforts(
                    effort, self.arm.robot, runs, styles, f'{title}: effort of the motors'
                )
                self.plots += [error, effort]

    def report(self) -> str:
        """Return tables and what stands out."""
        blocks = []
        if self.runs:
            blocks.append(
                self._table({LAWS[key].label: recording for key, recording in self.runs.items()})
            )
            if 'pd' in self.runs and 'computed_torque' in self.runs:
                ratio = (
                    self.runs['pd'].overall_rms_error
                    / self.runs['computed_torque'].overall_rms_error
                )
                blocks[-1] += f'\nRMS error of computed torque: 1/{ratio:.0f} of PD alone'
        if self.load_runs:
            blocks.append(
                f'With {self.load:g} kg on {self.arm.robot.tip_link}, unknown to the model; '
                f'sensor at {self.sensor_link}:\n'
                + self._table(
                    {LOAD_RUNS[key][0]: recording for key, recording in self.load_runs.items()}
                )
            )
            ratio = (
                self.load_runs['without_wrench'].overall_rms_error
                / self.load_runs['with_wrench'].overall_rms_error
            )
            blocks[-1] += f'\nRMS error with the wrench: 1/{ratio:.0f} of that without'
        blocks.append('Plots: ' + ', '.join(str(path) for path in self.plots))
        blocks.append(f'{time.monotonic() - self.began:.0f} s in all')
        return '\n' + '\n\n'.join(blocks)

    def _table(self, runs: dict[str, SessionRecording]) -> str:
        columns = [
            (shortened(joint.name), '[mm]' if joint.type.is_prismatic else '[mrad]')
            for joint in self.arm.robot.joints
        ]
        widths = [max(9, len(name) + 2) for name, _ in columns]
        label_width = max(len(label) for label in runs) + 2
        lines = [
            ' ' * (label_width + 5)
            + ''.join(f'{cell:>{width}}' for cell, width in zip(row, widths, strict=True))
            for row in zip(*columns, strict=True)
        ]
        for what, key in (('RMS', 'rms_error'), ('peak', 'peak_error')):
            for label, recording in runs.items():
                values = 1e3 * getattr(recording, key)
                lines.append(
                    f'{label:<{label_width}}{what:<5}'
                    + ''.join(
                        f'{figure(value):>{width}}'
                        for value, width in zip(values, widths, strict=True)
                    )
                )
        return '\n'.join(lines)

    def results(self) -> dict[str, Any]:
        """Return everything that was measured, in SI units."""

        def told(runs: dict[str, SessionRecording]) -> dict[str, Any]:
            return {
                key: {
                    'rms_error': _by_joint(recording, 'rms_error'),
                    'peak_error': _by_joint(recording, 'peak_error'),
                    'overall_rms_error': recording.overall_rms_error,
                    'states': len(recording.time),
                    'cycles_per_second': recording.cycles_per_second,
                }
                for key, recording in runs.items()
            }

        return {
            'robot': self.arm.robot.name,
            'model_file': self.arm.model_file,
            'joints': list(self.arm.robot.joint_names),
            'duration': self.motion.duration,
            'rate': self.args.rate,
            'kp': self.args.kp,
            'kv': self.args.kv,
            'pd_kp': self.gains['feedforward_pd.kp'],
            'pd_kv': self.gains['feedforward_pd.kv'],
            'runs': told(self.runs),
            'load': {
                'mass': self.load,
                'link': self.arm.robot.tip_link,
                'sensor_link': self.sensor_link,
                'runs': told(self.load_runs),
            }
            if self.load_runs
            else None,
            'plots': [str(path) for path in self.plots],
            'seconds': time.monotonic() - self.began,
        }


def _by_joint(recording: SessionRecording, key: str) -> dict[str, float]:
    return dict(zip(recording.joint_names, getattr(recording, key).tolist(), strict=True))
