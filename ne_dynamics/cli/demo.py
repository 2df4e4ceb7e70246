"""``ne_dynamics demo``: an arm follows a trajectory in closed loop, one control law after another.

The node and a simulated robot run as two processes over DDS, in lockstep; this process sends the
trajectory, records, and compares. All laws get the same bandwidth: what computed torque takes as
accelerations, Kp and Kv, the PD controllers take as efforts, scaled joint by joint by the
diagonal of the mass matrix at the start of the motion, about which the motion swings.

Every run starts at rest at the motion's first waypoint, under brakes that are released when the
motion begins. So the error of PD alone contains the arm's sagging into its gains.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ne_dynamics.errors import InputError
from ne_dynamics.shipped import shipped_file

if TYPE_CHECKING:
    from ne_dynamics.model.robot import Robot
    from ne_dynamics.simulation.demo_motion import Motion
    from ne_dynamics.simulation.demo_session import ClosedLoop, Recording

SHIPPED_MODEL = 'six_axis_arm.urdf'
SHIPPED_TIP = 'tcp'
SENSOR_LINK = 'ft_sensor'
"""Taken for the last link on the arm's side of a wrist sensor where a model has it."""

TERMS = ('gravity', 'coriolis', 'inertia', 'friction')

SHORT_DURATION = 2.0
SHORT_MODES = ('pd', 'computed_torque')

BAR_WIDTH = 24


@dataclass(frozen=True)
class Law:
    """One of the compared control laws.

    Attributes
    ----------
    label : str
    mode : str
        The node's parameter `mode`.
    terms : tuple of str
        Parts of the model that are used.
    colour, width, dashes : str, float, tuple of float
        In the plots.
    """

    label: str
    mode: str
    terms: tuple[str, ...]
    colour: str
    width: float = 1.3
    dashes: tuple[float, ...] = ()


LAWS = {
    'pd': Law('PD alone', 'feedforward_pd', (), '#8c8c8c'),
    'pd_gravity': Law('PD + gravity', 'feedforward_pd', ('gravity',), '#e69f00'),
    'feedforward_pd': Law(
        'feed-forward + PD', 'feedforward_pd', TERMS, '#0072b2', 1.4, (4.0, 3.0)
    ),
    'computed_torque': Law('computed torque', 'computed_torque', TERMS, '#d1495b', 2.6),
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
        '--duration', type=_positive, metavar='S', help='of the motion [s] (default: 4)'
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
        default=3.0,
        metavar='KG',
        help='hung on the tip (default: 3; 0: leave these runs out)',
    )
    parser.add_argument(
        '--modes', nargs='+', choices=tuple(LAWS), metavar='LAW', help=f'of {", ".join(LAWS)}'
    )
    parser.add_argument(
        '--short', action='store_true', help=f'{SHORT_DURATION:g} s, {" and ".join(SHORT_MODES)}'
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


def fair_gains(
    robot: Robot, motion: Motion, kp: float, kv: float
) -> tuple[list[float], list[float]]:
    """Return the PD gains of the bandwidth that computed torque has with `kp` and `kv`.

    Parameters
    ----------
    robot : Robot
    motion : Motion
        The mass matrix is that at its first waypoint.
    kp, kv : float
        Accelerations per error [1/s^2, 1/s].

    Returns
    -------
    tuple of two lists of float, length n
        Efforts per error [N m/rad, N m s/rad or N/m, N s/m].
    """
    from ne_dynamics.dynamics import Dynamics

    diagonal = np.diag(Dynamics(robot).mass_matrix(motion.positions[0]))
    return (kp * diagonal).tolist(), (kv * diagonal).tolist()


@dataclass(eq=False)
class _Demo:
    """What is run, and what came of it."""

    args: argparse.Namespace
    model_file: str
    tip: str | None
    robot: Robot
    motion: Motion
    sensor_link: str | None
    laws: tuple[str, ...]
    pd_gains: tuple[list[float], list[float]]
    runs: dict[str, Recording] = field(default_factory=dict)
    load_runs: dict[str, Recording] = field(default_factory=dict)
    plots: list[Path] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @classmethod
    def prepared(cls, args: argparse.Namespace) -> _Demo:
        """Read the model and plan the motion."""
        from ne_dynamics.dynamics import Dynamics
        from ne_dynamics.model.files import load_model
        from ne_dynamics.simulation.demo_motion import excitation
        from ne_dynamics.simulation.mujoco_model import with_hung_mass

        given = args.urdf or args.model
        model_file = str(Path(given).resolve() if given else shipped_file(SHIPPED_MODEL))
        tip = args.tip or (None if given else SHIPPED_TIP)
        robot = load_model(model_file, args.base, tip)
        if robot.n == 0:
            raise InputError(f'{model_file}: expected joints that move, got none')
        sensor_link: str | None = None
        loaded = robot
        if args.load > 0.0 and robot.tip_link is not None:
            sensor_link = args.sensor or _sensor_link(robot)
            robot.cut_beyond(sensor_link)  # raises when joints are beyond it
            loaded = with_hung_mass(robot, args.load, np.zeros(3))
        duration = args.duration or (SHORT_DURATION if args.short else 4.0)
        motion = excitation(robot, duration, Dynamics(loaded).inverse_dynamics)
        laws = tuple(
            key for key in LAWS if key in (args.modes or (SHORT_MODES if args.short else LAWS))
        )
        return cls(
            args,
            model_file,
            tip,
            robot,
            motion,
            sensor_link,
            laws,
            fair_gains(robot, motion, args.kp, args.kv),
        )

    # -- running ----------------------------------------------------------------------------

    def _model_parameters(self) -> dict[str, Any]:
        return {
            'model_file': self.model_file,
            'base_link': self.args.base or '',
            'tip_link': self.tip or '',
        }

    def node_parameters(self) -> dict[str, Any]:
        """Return the node's parameters that all runs share."""
        kp, kv = self.pd_gains
        return {
            **self._model_parameters(),
            'joint_states_reliability': 'reliable',
            'computed_torque.kp': [self.args.kp],
            'computed_torque.kv': [self.args.kv],
            'feedforward_pd.kp': kp,
            'feedforward_pd.kv': kv,
        }

    def robot_parameters(self) -> dict[str, Any]:
        """Return the simulated robot's parameters that all runs share."""
        return self._model_parameters()

    def run_laws(self, loop: ClosedLoop) -> None:
        """Follow the motion by every law."""
        for key in self.laws:
            law = LAWS[key]
            self.runs[key] = self._run(
                loop,
                law.label,
                {
                    'mode': law.mode,
                    **{f'terms.{term}': term in law.terms for term in TERMS},
                },
                {},
            )

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
                    'payload.mass': self.args.load,
                    'payload.link': self.robot.tip_link,
                    'wrench.sensor_link': self.sensor_link,
                    'wrench.measures': 'on_tool',
                },
            )

    def _run(
        self, loop: ClosedLoop, label: str, node: dict[str, Any], robot: dict[str, Any]
    ) -> Recording:
        bar = _ProgressBar(label, self.motion.duration)
        try:
            return loop.run(self.motion, node, robot, bar.show)
        finally:
            bar.close()

    # -- telling ----------------------------------------------------------------------------

    def introduction(self) -> str:
        """Return what is going to be done."""
        robot, motion = self.robot, self.motion
        text = (
            f'{robot.name}: {robot.n} joints, {motion.duration:g} s at {self.args.rate:g} Hz, '
            f'Kp = {self.args.kp:g}/s^2, Kv = {self.args.kv:g}/s (PD: times the diagonal of the '
            'mass matrix)'
        )
        if self.sensor_link is not None:
            text += f'; then {self.args.load:g} kg on {robot.tip_link}'
        elif self.args.load > 0.0:
            text += '; no load, because the model has no tip: name it with --tip'
        return text

    def plot(self, folder: Path) -> None:
        """Draw the runs."""
        from ne_dynamics.simulation.demo_plots import Style, plot_efforts, plot_errors

        folder.mkdir(parents=True, exist_ok=True)
        styles = {
            key: Style(law.label, law.colour, law.width, law.dashes) for key, law in LAWS.items()
        } | {key: Style(label, colour, width) for key, (label, colour, width) in LOAD_RUNS.items()}
        name = self.robot.name
        load = f'{name} with {self.args.load:g} kg on the tool'
        for prefix, runs, title in (('', self.runs, name), ('load_', self.load_runs, load)):
            if runs:
                error, effort = folder / f'{prefix}error.png', folder / f'{prefix}torque.png'
                plot_errors(error, self.robot, runs, styles, f'{title}: tracking error')
                plot_efforts(effort, self.robot, runs, styles, f'{title}: effort of the motors')
                self.plots += [error, effort]

    def report(self) -> str:
        """Return tables and what stands out."""
        blocks = []
        if self.runs:
            blocks.append(
                self._table({LAWS[key].label: recording for key, recording in self.runs.items()})
            )
            if 'pd' in self.runs and 'computed_torque' in self.runs:
                ratio = _overall(self.runs['pd']) / _overall(self.runs['computed_torque'])
                blocks[-1] += f'\nRMS error of computed torque: 1/{ratio:.0f} of PD alone'
        if self.load_runs:
            blocks.append(
                f'With {self.args.load:g} kg on {self.robot.tip_link}, unknown to the model; '
                f'sensor at {self.sensor_link}:\n'
                + self._table(
                    {LOAD_RUNS[key][0]: recording for key, recording in self.load_runs.items()}
                )
            )
            ratio = _overall(self.load_runs['without_wrench']) / _overall(
                self.load_runs['with_wrench']
            )
            blocks[-1] += f'\nRMS error with the wrench: 1/{ratio:.0f} of that without'
        blocks.append('Plots: ' + ', '.join(str(path) for path in self.plots))
        blocks.append(f'{time.monotonic() - self.began:.0f} s in all')
        return '\n' + '\n\n'.join(blocks)

    def _table(self, runs: dict[str, Recording]) -> str:
        columns = [
            (_shortened(joint.name), '[mm]' if joint.type.is_prismatic else '[mrad]')
            for joint in self.robot.joints
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
                        f'{_figure(value):>{width}}'
                        for value, width in zip(values, widths, strict=True)
                    )
                )
        return '\n'.join(lines)

    def results(self) -> dict[str, Any]:
        """Return everything that was measured, in SI units."""

        def told(runs: dict[str, Recording]) -> dict[str, Any]:
            return {
                key: {
                    'rms_error': _by_joint(recording, 'rms_error'),
                    'peak_error': _by_joint(recording, 'peak_error'),
                    'overall_rms_error': _overall(recording),
                    'states': len(recording.time),
                    'cycles_per_second': recording.cycles_per_second,
                }
                for key, recording in runs.items()
            }

        return {
            'robot': self.robot.name,
            'model_file': self.model_file,
            'joints': list(self.robot.joint_names),
            'duration': self.motion.duration,
            'rate': self.args.rate,
            'kp': self.args.kp,
            'kv': self.args.kv,
            'pd_kp': self.pd_gains[0],
            'pd_kv': self.pd_gains[1],
            'runs': told(self.runs),
            'load': {
                'mass': self.args.load,
                'link': self.robot.tip_link,
                'sensor_link': self.sensor_link,
                'runs': told(self.load_runs),
            }
            if self.load_runs
            else None,
            'plots': [str(path) for path in self.plots],
            'seconds': time.monotonic() - self.began,
        }


def _sensor_link(robot: Robot) -> str:
    named = any(link.name == SENSOR_LINK for link in robot.links)
    assert robot.tip_link is not None  # the caller looked
    return SENSOR_LINK if named else robot.tip_link


def _overall(recording: Recording) -> float:
    """Return the RMS error over all joints [rad, m]."""
    return float(np.sqrt(np.mean(recording.error**2)))


def _by_joint(recording: Recording, key: str) -> dict[str, float]:
    return dict(zip(recording.joint_names, getattr(recording, key).tolist(), strict=True))


def _figure(value: float) -> str:
    """Return a number with three significant digits, never in powers of ten."""
    if value >= 100.0:
        return f'{value:.0f}'
    return f'{value:.1f}' if value >= 10.0 else f'{value:.2f}' if value >= 1.0 else f'{value:.3f}'


def _shortened(name: str, longest: int = 16) -> str:
    return name if len(name) <= longest else f'{name[: longest - 2]}..'


class _ProgressBar:
    """A line on stderr that grows with the time reached; on no terminal, only its end."""

    def __init__(self, label: str, duration: float) -> None:
        self._label = label
        self._duration = duration
        self._reached = 0.0
        self._is_terminal = sys.stderr.isatty()
        self._last_shown = -1.0
        self._began = time.monotonic()
        self.show(0.0)

    def show(self, reached: float) -> None:
        self._reached = reached
        now = time.monotonic()
        if self._is_terminal and (now - self._last_shown > 0.1):
            self._last_shown = now
            self._write()

    def _write(self) -> None:
        done = min(self._reached / self._duration, 1.0)
        filled = round(BAR_WIDTH * done)
        bar = '#' * filled + '.' * (BAR_WIDTH - filled)
        elapsed = time.monotonic() - self._began
        sys.stderr.write(
            f'\r{self._label:<31}{bar} {self._reached:4.1f}/{self._duration:.1f} s '
            f'({elapsed:.0f} s)\x1b[K'
        )
        sys.stderr.flush()

    def close(self) -> None:
        if self._is_terminal:
            self._write()
            sys.stderr.write('\n')
        else:
            sys.stderr.write(
                f'{self._label}: {self._reached:.1f} of {self._duration:.1f} s, '
                f'{time.monotonic() - self._began:.1f} s real time\n'
            )
        sys.stderr.flush()
