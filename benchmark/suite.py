"""The parts of the benchmark: what is measured, and what it is aimed to reach."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmark import competitors as who
from benchmark import jax_calls
from benchmark.competitors import require
from benchmark.fresh_process import FreshProcesses, Start, Sweep
from benchmark.further_functions import PAIRS, FurtherFunctions
from benchmark.machine import load_average, machine
from benchmark.report import SECTIONS, Figure, Limit, Report
from benchmark.timing import (
    Contender,
    DisagreementError,
    Times,
    measure,
    require_agreement,
)
from ne_dynamics.codegen.llvm.compiler import toolchain
from ne_dynamics.codegen.llvm.thread_pool import count_cores
from ne_dynamics.errors import BackendError, MissingDependencyError
from ne_dynamics.model.rigid_body import FloatArray
from ne_dynamics.papers import Case, robots
from ne_dynamics.shipped import shipped_file
from ne_dynamics.simulation.demo.ros_process import ProcessError

if TYPE_CHECKING:
    from benchmark.node_hop import Hop

MOTION = 'q, qd, qdd'
MOTION_BY_NAME = 'q=q, qd=qd, qdd=qdd'

AIMED = ('UR5', 'Panda')
"""Arms for which there are aims."""

CALL_LIMIT = Limit(0.30)
KEYWORD_LIMIT = Limit(1e-6, of='value', strict=True)
MATRIX_LIMIT = Limit(0.50)
DERIVATIVES_LIMIT = Limit(0.30)
PARAMETERS_LIMIT = Limit(2.5)
TEXTBOOK_LIMIT = Limit(1.0 / 50.0, text='1/50')
BATCH_LIMITS = {'UR5': Limit(1.0 / 60.0, text='1/60'), 'Panda': Limit(1.0 / 35.0, text='1/35')}
THREADS_LIMIT = Limit(0.60)
ARRAYS_LIMIT = Limit(1.0 / 15.0, text='1/15')
ARRAYS_COMPILATION_LIMIT = Limit(1.0 / 20.0, text='1/20')
GROWTH_LIMIT = Limit(4.4)
REGRESSOR_LIMIT = Limit(3.0)
FIRST_REGRESSOR_LIMIT = Limit(5.0, of='value')
CACHED_LIMIT = Limit(0.3, of='value')
COLD_LIMIT = Limit(3.0, of='value')
RESIDENT_LIMIT = Limit(40.0 * 1024.0, of='value', strict=True, text='40 KiB')
MAPS_LIMIT = Limit(0.5, of='value', strict=True)
HOP_LIMIT = Limit(1.05)
PROCESSOR_LIMIT = Limit(1.10)
HOLD_UP_LIMIT = Limit(2e-3, of='value', text='2 ms')

# What the best general six-joint method of the literature takes, and what a prototype of this
# package took for the UR5: (multiplications, additions).
OPERATION_LIMITS = {'UR5': (208, 172), 'Puma 560': (459, 390)}

BATCHES = (1_000, 100_000)
ARRAY_BATCH = 100_000
THREADED_BATCH = 100_000
"""Samples from which on threads are aimed to pay."""

BATCH_SAMPLE_DURATION = 0.02
"""Several calls of a large batch in a sample [s]: the one before was the same contender's."""

SHORT_SAMPLE_DURATION = 0.0003
"""Of calls of less than a microsecond [s]: what else runs interrupts few samples."""

LONG_CHAIN = 40
AIMED_REGRESSOR = 11
"""Joints from which on the regressor has an aim."""

CACHED = f'{who.COMPILED}, cached'
COLD = f'{who.COMPILED}, cold'
WARM_CACHE = 'warm'


@dataclass(frozen=True)
class Settings:
    """How thoroughly to measure.

    Attributes
    ----------
    quick : bool
        Whether this is a run for a first impression.
    rounds : int
        Samples of every contender.
    starts : int
        Processes started for every loading time.
    hop_blocks : int
        Blocks of messages for each of node and relay.
    sweep : tuple of 2 int
        Robots of the sweep, and how many of them come before the counting starts.
    batches : tuple of int
        Sizes of the batches.
    loaded_hop : tuple of 2 int
        Blocks of each node under each load, and states in a block.
    packages : tuple of path
        Other checkouts whose nodes are driven under load beside ours.
    """

    quick: bool
    rounds: int
    starts: int
    hop_blocks: int
    sweep: tuple[int, int]
    batches: tuple[int, ...] = BATCHES
    loaded_hop: tuple[int, int] = (8, 1_000)
    packages: tuple[Path, ...] = ()

    @classmethod
    def chosen(cls, quick: bool, rounds: int | None = None) -> Settings:
        """Return the settings of a quick or a thorough run; `rounds` replaces its number."""
        if quick:
            return cls(True, rounds or 20, 2, 4, (4, 2), loaded_hop=(2, 1_000))
        return cls(False, rounds or 200, 7, 60, (36, 15))


class Suite:
    """One run.

    Parameters
    ----------
    settings : Settings
    say : callable
        Called with a line of text about what is measured next.
    """

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self._settings = settings
        self._say = say
        self._report = Report(
            {**machine(), 'load_before': load_average()},
            {
                'quick': settings.quick,
                'rounds': settings.rounds,
                'starts': settings.starts,
                'hop_blocks': settings.hop_blocks,
                'sweep': list(settings.sweep),
            },
        )

    def run(self, sections: Iterable[str]) -> Report:
        """Measure some sections, keys of ``SECTIONS``, in their order."""
        chosen = set(sections)
        for section in SECTIONS:
            if section in chosen:
                getattr(self, f'_measure_{section}')()
        self._report.machine = {**self._report.machine, 'load_after': load_average()}
        return self._report

    # ---- small things

    @contextmanager
    def _optional(self, what: str) -> Iterator[None]:
        """Leave out what needs a package that is missing, differs, or gives no answer."""
        try:
            yield
        except (MissingDependencyError, DisagreementError, BackendError, ProcessError) as error:
            self._skip(what, str(error))

    def _skip(self, what: str, why: str) -> None:
        reason = why.partition('\n')[0]  # what follows is the output of a process
        if (what, reason) not in self._report.skipped:
            self._report.skipped.append((what, reason))
            self._say(f'{what} is left out: {why}')

    def _add(
        self,
        section: str,
        subject: str,
        times: dict[str, Times],
        ours: str,
        theirs: str,
        limit: Limit | None = None,
    ) -> None:
        """Add the figure of two contenders, if both took part."""
        if ours in times and theirs in times:
            self._report.figures.append(
                Figure.of_times(section, subject, times[ours], times[theirs], limit)
            )

    def _cases(self, names: Iterable[str]) -> Iterator[tuple[str, Case]]:
        """Yield names and arms, without those whose description is missing."""
        for name in names:
            case = self._case(name)
            if case is not None:
                yield name, case

    def _case(self, name: str) -> Case | None:
        try:
            return robots.ARMS[name]()
        except MissingDependencyError as error:
            self._skip(name, str(error))
            return None

    def _agreeing(
        self,
        contenders: list[Contender],
        maker: Callable[[], Contender],
        what: str,
        expected: FloatArray | None = None,
        friction: FloatArray | float = 0.0,
    ) -> None:
        """Add a contender if it can be had and computes what it should."""
        with self._optional(what):
            contender = maker()
            if expected is not None:
                require_agreement([contender], expected, friction)
            contenders.append(contender)

    def _backends(
        self, case: Case, inputs: who.Inputs, method: str, arguments: str
    ) -> list[Contender]:
        """Return our contenders; that of the compiled backend agrees with the interpreted one.

        Raises
        ------
        DisagreementError
            When it does not: there is nothing to measure then.
        """
        contenders = [
            who.ours(who.dynamics(case.robot, 'python'), inputs, method, arguments, who.PYTHON)
        ]
        with self._optional(who.COMPILED):
            dyn = who.dynamics(case.robot, 'compiled')
            contenders.append(who.ours(dyn, inputs, method, arguments, who.COMPILED))
        expected = contenders[0].value()
        require_agreement(contenders, expected)
        return contenders

    # ---- the sections

    def _measure_calls(self) -> None:
        for name, case in self._cases(robots.ARMS):
            self._say(f'one call, {name}')
            inputs = who.Inputs((case.robot.n,))
            contenders = self._backends(case, inputs, 'inverse_dynamics', MOTION)
            expected = contenders[0].value()
            friction = who.dynamics(case.robot, 'python').friction_torque(inputs.qd)

            makers: dict[str, Callable[[], Contender]] = {
                who.PINOCCHIO: partial(_pinocchio, case, inputs, 'rnea', MOTION),
                who.MUJOCO: partial(who.mujoco_inverse, case, inputs),
                who.TOOLBOX: partial(_toolbox, case, inputs),
                who.TOOLBOX_PYTHON: partial(_toolbox_python, case, inputs),
                who.TEXTBOOK: partial(who.textbook, case, inputs),
            }
            for what, maker in makers.items():
                self._agreeing(contenders, maker, what, expected, friction)
            times = measure(contenders, self._settings.rounds, inputs.renew)
            own = {who.PYTHON, who.COMPILED}
            others = [each.name for each in contenders if each.name not in own]
            aimed = name in AIMED
            for other in others:
                limit = CALL_LIMIT if aimed and other.startswith(who.PINOCCHIO) else None
                self._add('calls', name, times, who.COMPILED, other, limit)
            for other in (f'{who.PINOCCHIO} rnea', who.TEXTBOOK):
                limit = TEXTBOOK_LIMIT if (name, other) == ('UR5', who.TEXTBOOK) else None
                self._add('calls', name, times, who.PYTHON, other, limit)
            if name in AIMED:
                self._measure_ways_to_call(case)

    def _measure_ways_to_call(self, case: Case) -> None:
        """Add one call into an array, by keyword, and with a wrench either way."""
        with self._optional(who.COMPILED):
            inputs = who.Inputs((case.robot.n,))
            python = who.dynamics(case.robot, 'python')
            dyn = who.dynamics(case.robot, 'compiled')
            inverse = 'inverse_dynamics'
            contenders: list[Contender] = []
            for usual, others in (
                (MOTION, (f'{MOTION}, out=out', MOTION_BY_NAME)),
                (f'{MOTION}, wrench', (f'{MOTION}, wrench=wrench',)),
            ):
                group = [
                    who.ours(dyn, inputs, inverse, arguments, f'{who.COMPILED}, ({arguments})')
                    for arguments in (usual, *others)
                ]
                expected = who.ours(python, inputs, inverse, usual, who.PYTHON).value()
                require_agreement(group, expected)
                contenders += group
            times = measure(contenders, self._settings.rounds, inputs.renew)
            for ours, theirs, limit in (
                (f'{MOTION}, out=out', MOTION, None),
                (MOTION_BY_NAME, MOTION, KEYWORD_LIMIT),
                (f'{MOTION}, wrench=wrench', f'{MOTION}, wrench', KEYWORD_LIMIT),
            ):
                ours, theirs = (f'{who.COMPILED}, ({arguments})' for arguments in (ours, theirs))
                self._add('calls', case.name, times, ours, theirs, limit)

    def _measure_matrices(self) -> None:
        for name, case in self._cases(robots.ARMS):
            for method, arguments, function in (
                ('mass_matrix', 'q', 'crba'),
                ('forward_dynamics', 'q, qd, tau', 'aba'),
            ):
                self._say(f'{method}, {name}')
                inputs = who.Inputs((case.robot.n,))
                contenders = self._backends(case, inputs, method, arguments)
                self._agree_on_matrix(case, contenders, inputs, function, arguments)
                times = measure(contenders, self._settings.rounds, inputs.renew)
                limit = MATRIX_LIMIT if name in AIMED else None
                theirs = f'{who.PINOCCHIO} {function}'
                subject = f'{name}, {method.replace("_", " ")}'
                self._add('matrices', subject, times, who.COMPILED, theirs, limit)
                self._add('matrices', subject, times, who.PYTHON, theirs)

    def _agree_on_matrix(
        self,
        case: Case,
        contenders: list[Contender],
        inputs: who.Inputs,
        function: str,
        arguments: str,
    ) -> None:
        """Add Pinocchio's contender; compare it at a state without joint friction."""
        expected = contenders[0].value()
        if function == 'aba':
            dyn = who.dynamics(case.robot, 'python')
            efforts = inputs.tau + dyn.friction_torque(inputs.qd)
            expected = dyn.forward_dynamics(inputs.q, inputs.qd, efforts)
        with self._optional(who.PINOCCHIO):
            contender = _pinocchio(case, inputs, function, arguments)
            value = contender.value()
            if function == 'crba':  # some versions fill in the upper triangle alone
                value = np.triu(value) + np.triu(value, 1).T
            plain = Contender(contender.name, 'value', {'value': value})
            require_agreement([plain], expected)
            contenders.append(contender)

    def _measure_derivatives(self) -> None:
        for name, case in self._cases(AIMED):
            for method, arguments, function in (
                ('inverse_dynamics_derivatives', MOTION, 'computeRNEADerivatives'),
                ('forward_dynamics_derivatives', 'q, qd, tau', 'computeABADerivatives'),
            ):
                self._say(f'{method}, {name}')
                inputs = who.Inputs((case.robot.n,))
                contenders = self._backends(case, inputs, method, arguments)
                with self._optional(who.PINOCCHIO):
                    contender = _pinocchio(case, inputs, function, arguments)
                    value = np.array(contender.value())
                    # Some versions fill in the upper triangle alone.
                    value[2] = np.triu(value[2]) + np.triu(value[2], 1).T
                    plain = Contender(contender.name, 'value', {'value': value})
                    require_agreement([plain], _derivatives_without_friction(case, inputs, method))
                    contenders.append(contender)
                times = measure(contenders, self._settings.rounds, inputs.renew)
                theirs, subject = f'{who.PINOCCHIO} {function}', f'{name}, {method}'
                self._add('derivatives', subject, times, who.COMPILED, theirs, DERIVATIVES_LIMIT)
                self._add('derivatives', subject, times, who.PYTHON, theirs)

    def _measure_functions(self) -> None:
        for name, case in self._cases(AIMED):
            with self._optional(f'further functions, {name}'):
                functions = FurtherFunctions(case)
                for pair in PAIRS:
                    subject = f'{name}, {pair.subject or pair.method}'
                    self._say(subject)
                    with self._optional(subject):
                        ours, theirs, expected = functions.contenders(pair)
                        require_agreement([ours, theirs], expected)
                        times = measure(
                            [ours, theirs],
                            self._settings.rounds,
                            functions.renew,
                            SHORT_SAMPLE_DURATION,
                        )
                        self._add('functions', subject, times, ours.name, theirs.name)

    def _measure_parameters(self) -> None:
        for name, case in self._cases(AIMED):
            self._say(f'numbers as arguments, {name}')
            inputs = who.Inputs((case.robot.n,))
            folded = self._backends(case, inputs, 'inverse_dynamics', MOTION)
            with self._optional(who.COMPILED):
                dyn = who.dynamics(case.robot, 'compiled')
                # The second of two: the first is the one for which the program is compiled.
                first, other = (
                    dyn.with_parameters(inertial=dyn.inertial_parameters()) for _ in range(2)
                )
                first.inverse_dynamics(inputs.q, inputs.qd, inputs.qdd)
                label = f'{who.COMPILED}, with_parameters'
                contender = who.ours(other, inputs, 'inverse_dynamics', MOTION, label)
                require_agreement([contender], folded[0].value())
                times = measure([*folded[1:], contender], self._settings.rounds, inputs.renew)
                self._add('parameters', name, times, label, who.COMPILED, PARAMETERS_LIMIT)

    def _measure_batch(self) -> None:
        for name, case in self._cases(robots.ARMS):
            for size in self._settings.batches:
                self._say(f'batch of {size}, {name}')
                self._measure_one_batch(case, size)

    def _measure_one_batch(self, case: Case, size: int) -> None:
        inputs = who.Inputs((size, case.robot.n))
        sample = who.Inputs((case.robot.n,))
        contenders = self._backends(case, inputs, 'inverse_dynamics', MOTION)
        expected = contenders[0].value()
        every_core = f'{who.COMPILED}, all cores'
        one_into, every_into = f'{who.COMPILED}, out=', f'{every_core}, out='
        others = [(every_core, 0, MOTION)]
        if case.name in AIMED:
            others += [(one_into, 1, f'{MOTION}, out=out'), (every_into, 0, f'{MOTION}, out=out')]
        for name, threads, arguments in others:
            maker = partial(_ours_of_batch, case, inputs, threads, arguments, name)
            self._agreeing(contenders, maker, name, expected)
        pinocchio = f'{who.PINOCCHIO} rnea'
        with self._optional(who.PINOCCHIO):
            contenders.append(_pinocchio(case, sample, 'rnea', MOTION))
        if size <= min(self._settings.batches):  # more would take minutes
            friction = who.dynamics(case.robot, 'python').friction_torque(inputs.qd)
            self._agreeing(
                contenders,
                partial(_toolbox, case, inputs),
                who.TOOLBOX,
                expected,
                friction,
            )
        rounds = max(5, self._settings.rounds // 4)
        times = measure(contenders, rounds, sample.renew, BATCH_SAMPLE_DURATION)
        subject = f'{case.name}, {size:,} samples'
        self._add('batch', subject, times, who.COMPILED, pinocchio, BATCH_LIMITS.get(case.name))
        self._add('batch', subject, times, every_core, pinocchio)
        self._add('batch', subject, times, who.PYTHON, pinocchio)
        self._add('batch', subject, times, who.COMPILED, who.TOOLBOX)
        self._add('batch', subject, times, one_into, who.COMPILED)
        # A small batch stays with one thread, and a process of one core has no other.
        is_aimed = size >= THREADED_BATCH and count_cores() > 1
        limit = THREADS_LIMIT if is_aimed else None
        self._add('batch', subject, times, every_into, one_into, limit)

    def _measure_arrays(self) -> None:
        with self._optional('arrays under JAX'):
            jax_calls.require_jax()
            for name, case in self._cases(AIMED):
                self._say(f'{ARRAY_BATCH} samples under JAX, {name}')
                self._measure_under_jax(case)

    def _measure_under_jax(self, case: Case) -> None:
        inputs = who.Inputs((ARRAY_BATCH, case.robot.n))
        motion = inputs.q, inputs.qd, inputs.qdd
        rounds = min(self._settings.starts, 3)
        makers = {jax_calls.OURS: partial(jax_calls.compile_ours, case)}
        compilation: dict[str, Times] = {}
        with self._optional(jax_calls.ADAM):
            require('adam.jax', 'adam-robotics')
            both = {**makers, jax_calls.ADAM: partial(jax_calls.compile_adam, case)}
            compilation, calls = jax_calls.measure_compilation(both, motion, rounds)
        if not compilation:
            compilation, calls = jax_calls.measure_compilation(makers, motion, rounds)
        python = who.dynamics(case.robot, 'python')
        expected, friction = python.inverse_dynamics(*motion), python.friction_torque(inputs.qd)
        contenders: list[Contender] = []
        for name, call in calls.items():
            self._agreeing(
                contenders, partial(lambda known: known, call), name, expected, friction
            )
        compilation = {each.name: compilation[each.name] for each in contenders}
        rounds = max(3, self._settings.rounds // 20)
        times = measure(contenders, rounds, sample_duration=BATCH_SAMPLE_DURATION)
        for subject, found, limit in (
            (f'{case.name}, {ARRAY_BATCH:,} samples', times, ARRAYS_LIMIT),
            (f'{case.name}, compilation', compilation, ARRAYS_COMPILATION_LIMIT),
        ):
            self._add('arrays', subject, found, jax_calls.OURS, jax_calls.ADAM, limit)
            if jax_calls.ADAM not in found and jax_calls.OURS in found:
                ours = found[jax_calls.OURS]
                self._report.figures.append(Figure('arrays', subject, ours.name, ours.median))

    def _measure_chains(
        self, lengths: Iterable[int], method: str, function: str, skipped: int = 0
    ) -> dict[str, Times]:
        """Return the times of ours but the first so many, and of Pinocchio's, on all chains.

        Each is named with the number of joints.
        """
        contenders: list[Contender] = []
        every = []
        for n in lengths:
            case, inputs = Case(f'chain of {n}', robots.chain(n)), who.Inputs((n,))
            self._say(f'{method}, {case.name} joints')
            own = self._backends(case, inputs, method, MOTION)
            self._agreeing(
                own,
                partial(_pinocchio, case, inputs, function, MOTION),
                who.PINOCCHIO,
                own[0].value(),
            )
            contenders += [
                replace(contender, name=f'{contender.name}, {n} joints')
                for contender in own[skipped:]
            ]
            every.append(inputs)

        def renew() -> None:
            for arrays in every:
                arrays.renew()

        return measure(contenders, self._settings.rounds, renew)

    def _measure_growth(self) -> None:
        times = self._measure_chains(robots.CHAIN_LENGTHS, 'inverse_dynamics', 'rnea')
        pinocchio = f'{who.PINOCCHIO} rnea'
        for n in robots.CHAIN_LENGTHS:
            ours, theirs = f'{who.COMPILED}, {n} joints', f'{pinocchio}, {n} joints'
            self._add('growth', f'chain of {n}', times, ours, theirs)
        for name, limit in ((who.COMPILED, GROWTH_LIMIT), (who.PYTHON, None), (pinocchio, None)):
            ours, theirs = f'{name}, 40 joints', f'{name}, 10 joints'
            self._add('growth', 'chain of 40 over chain of 10', times, ours, theirs, limit)

    def _measure_regressor(self) -> None:
        function, lengths = 'computeJointTorqueRegressor', robots.REGRESSOR_LENGTHS
        # Python only says what is right: it would take most of the time here.
        times = self._measure_chains(lengths, 'regressor', function, skipped=1)
        for n in lengths:
            limit = REGRESSOR_LIMIT if n >= AIMED_REGRESSOR else None
            ours, theirs = (
                f'{name}, {n} joints' for name in (who.COMPILED, f'{who.PINOCCHIO} {function}')
            )
            self._add('regressor', f'chain of {n}', times, ours, theirs, limit)
        longest = max(lengths)
        self._say(f'first call of the regressor, chain of {longest}')
        with FreshProcesses() as processes:
            starts = self._starts(processes, _chain_tasks(longest, 'regressor'), most=3)
        for name, taken in starts.items():
            seconds = float(np.median([start.steps['first result'] for start in taken]))
            limit = FIRST_REGRESSOR_LIMIT if name == COLD else None
            subject = f'chain of {longest}: first call of the regressor'
            self._report.figures.append(Figure('regressor', subject, name, seconds, limit=limit))

    def _measure_operations(self) -> None:
        for name, case in self._cases(robots.ARMS):
            counts = who.dynamics(case.robot, 'python').operation_counts()['inverse_dynamics']
            limits = OPERATION_LIMITS.get(name)
            for index, what in enumerate(('multiplications', 'additions')):
                limit = None
                if limits is not None:
                    limit = Limit(float(limits[index]), of='value', strict=True)
                self._report.figures.append(
                    Figure('operations', name, what, counts[index], unit='operations', limit=limit)
                )

    def _measure_load(self) -> None:
        with FreshProcesses() as processes:
            for name, case in self._cases(('UR5', 'Panda')):
                self._say(f'loading, {name}')
                starts = self._starts(processes, _load_tasks(case))
                for what, seconds in (
                    ('model read to first result', lambda start: start.load),
                    ('the same, import of the library included', lambda start: start.loading),
                    ('whole process, Python and NumPy included', lambda start: start.process),
                ):
                    self._add_loads(f'{name}, {what}', starts, seconds)
            self._say(f'loading, chain of {LONG_CHAIN}')
            tasks = _chain_tasks(LONG_CHAIN, 'inverse_dynamics')
            starts = self._starts(processes, tasks, most=3)
            self._add_loads(
                f'chain of {LONG_CHAIN}, traced to first result',
                starts,
                lambda start: start.steps['first result'],
                aimed=False,
            )

    def _starts(
        self, processes: FreshProcesses, tasks: Mapping[str, Task], most: int | None = None
    ) -> dict[str, list[Start]]:
        """Start a process of every kind in turns; what cannot be imported is left out."""
        starts: dict[str, list[Start]] = {}
        for name, task in tasks.items():
            with self._optional(name):
                task.require()
                # Not counted: leaves bytecode, and in the cache folder that stays, code.
                processes.start(task.arguments, WARM_CACHE)
                starts[name] = []
        for index in range(min(self._settings.starts, most or self._settings.starts)):
            for name, taken in starts.items():
                cache = f'cold {name} {index}' if tasks[name].is_cold else WARM_CACHE
                taken.append(processes.start(tasks[name].arguments, cache))
        return starts

    def _add_loads(
        self,
        subject: str,
        starts: dict[str, list[Start]],
        seconds: Callable[[Start], float],
        aimed: bool = True,
    ) -> None:
        """Add the figures of all of ours, beside Pinocchio's where it took part."""
        times = {
            name: Times(name, np.array([seconds(start) for start in taken]))
            for name, taken in starts.items()
        }
        theirs = times.pop(who.PINOCCHIO, None)
        for name, ours in times.items():
            limit = {CACHED: CACHED_LIMIT, COLD: COLD_LIMIT}.get(name) if aimed else None
            if theirs is not None:
                figure = Figure.of_times('load', subject, ours, theirs, limit)
            else:
                figure = Figure('load', subject, name, ours.median, limit=limit)
            self._report.figures.append(figure)

    def _measure_memory(self) -> None:
        case = self._case('Panda')
        if case is None:
            return
        self._say('memory')
        ours = _ours(case, 'compiled')
        tasks = {
            'NumPy alone': Task(partial(require, 'numpy', 'numpy'), {'library': 'numpy'}),
            **_load_tasks(case),
            f'{CACHED}, and 100,000 samples': replace(
                ours, arguments={**ours.arguments, 'batch': 100_000}
            ),
        }
        with FreshProcesses() as processes:
            starts = self._starts(processes, tasks, most=3)
        peaks = {
            name: float(np.median([start.peak for start in taken]))
            for name, taken in starts.items()
        }
        theirs = peaks.pop(who.PINOCCHIO, None)
        for name, peak in peaks.items():
            self._report.figures.append(
                Figure(
                    'memory',
                    case.name,
                    name,
                    peak,
                    '' if theirs is None else who.PINOCCHIO,
                    theirs,
                    unit='B',
                )
            )

    def _measure_sweep(self) -> None:
        arm = 'six_axis_arm.urdf'
        robots_used, first = self._settings.sweep
        with self._optional('sweep'), FreshProcesses() as processes:
            toolchain()

            def run(tip_link: str, count: int, uncounted: int) -> Sweep:
                task = {
                    'urdf': str(shipped_file(arm)),
                    'tip_link': tip_link,
                    'backend': 'compiled',
                    'robots': count,
                    'first': uncounted,
                }
                return processes.sweep(task, f'sweep {tip_link}')

            self._say(f'sweep of {robots_used} robots')
            # Three joints: what a function leaves behind does not depend on its size.
            sweep = run('upper_arm', robots_used, first)
            subject = f'{arm}, first 3 joints'
            for what, value, unit, limit in (
                ('resident memory', sweep.resident, 'B', RESIDENT_LIMIT),
                ('memory maps', sweep.maps, 'maps', MAPS_LIMIT),
                ('every method compiled and called', sweep.seconds, 's', None),
            ):
                self._report.figures.append(
                    Figure('sweep', subject, what, value, unit=unit, limit=limit)
                )
            whole = run('tcp', *((1, 0) if self._settings.quick else (3, 1)))
            self._report.figures.append(
                Figure('sweep', arm, 'every method compiled and called', whole.seconds)
            )

    def _measure_node(self) -> None:
        self._say('node and relay over DDS')
        with self._optional('node'):
            from benchmark.node_hop import NODE, RELAY, measure_hop

            arm = 'six_axis_arm.urdf'
            hops = measure_hop(str(shipped_file(arm)), self._settings.hop_blocks, tip_link='tcp')
            node, relay = hops[NODE], hops[RELAY]
            for percent, limit in ((50, HOP_LIMIT), (99, None)):
                self._report.figures.append(
                    Figure.of_ratio(
                        'node',
                        f'{arm}, round trip, p{percent}',
                        (NODE, node.percentile(percent)),
                        (RELAY, relay.percentile(percent)),
                        node.ratio_to(relay, percent),
                        limit,
                    )
                )
            self._report.figures.append(
                Figure.of_times(
                    'node',
                    f'{arm}, processor time a message',
                    node.processor_times,
                    relay.processor_times,
                    PROCESSOR_LIMIT,
                )
            )
            lost = {hop.name: hop.lost for hop in hops.values()}
            self._report.settings = {**self._report.settings, 'hop_messages_lost': lost}

    def _measure_hold_up(self) -> None:
        self._say('what messages hold up the node')
        with self._optional('hold_up'):
            from benchmark.hold_up import measure_hold_up

            rounds = 5 if self._settings.quick else 50
            for found in measure_hold_up(str(shipped_file('six_axis_arm.urdf')), rounds, 'tcp'):
                low, high = np.percentile(found.turns, (25, 75)).tolist()
                median = float(np.median(found.turns))
                conversion = None
                if found.conversions is not None:
                    conversion = float(np.median(found.conversions))
                self._report.figures.append(
                    Figure(
                        'hold_up',
                        found.what,
                        'longest turn',
                        median,
                        'conversion by rclpy' if conversion is not None else '',
                        conversion,
                        quartiles=None
                        if conversion is None
                        else (low / conversion, high / conversion),
                        limit=HOLD_UP_LIMIT,
                    )
                )

    def _measure_loaded_hop(self) -> None:
        self._say('node under load over DDS')
        with self._optional('loaded_hop'):
            from benchmark.loaded_hop import POINTS, measure_loaded_hop, name_of
            from benchmark.node_hop import NODE

            arm, packages = 'six_axis_arm.urdf', self._settings.packages
            blocks, states = self._settings.loaded_hop
            hops = measure_loaded_hop(
                str(shipped_file(arm)), blocks, states, POINTS, 'tcp', packages
            )
            others = [name_of(package) for package in packages]
            for count in POINTS:
                subject = f'{count} points' if count else 'no trajectories'
                ours, theirs = hops[NODE, count], [hops[name, count] for name in others]
                for percent, what in ((50, 'p50'), (99, 'p99'), (100, 'max')):
                    self._add_hops(f'{subject}, {what}', ours, theirs, percent)
                what, largest = f'{subject}, max of a block, median', ours.largest
                self._report.figures += [
                    Figure.of_times('loaded_hop', what, largest, each.largest) for each in theirs
                ] or [Figure('loaded_hop', what, largest.name, largest.median)]
                self._add_hops(
                    f'{subject}, longest wait, states without an answer included',
                    ours.of_waits,
                    [each.of_waits for each in theirs],
                    100,
                )
                for each in (ours, *theirs):
                    what = f'{subject}, states without an answer, of {each.sent}'
                    self._report.figures.append(
                        Figure('loaded_hop', what, each.name, each.lost, unit='states')
                    )
            self._report.settings = {
                **self._report.settings,
                'loaded_hop': [
                    {
                        'node': name,
                        'points': count,
                        'trajectories': hop.trajectories,
                        'latest_state': hop.lateness,
                    }
                    for (name, count), hop in hops.items()
                ],
            }

    def _add_hops(self, subject: str, ours: Hop, theirs: Sequence[Hop], percent: float) -> None:
        """Add a percentile of ours beside that of each other checkout, or alone."""
        value = ours.percentile(percent)
        figures = [
            Figure.of_ratio(
                'loaded_hop',
                subject,
                (ours.name, value),
                (other.name, other.percentile(percent)),
                ours.ratio_to(other, percent),
            )
            for other in theirs
        ]
        self._report.figures += figures or [Figure('loaded_hop', subject, ours.name, value)]


def _pinocchio(case: Case, inputs: who.Inputs, function: str, arguments: str) -> Contender:
    return who.PinocchioModel(case).contender(inputs, function, arguments)


def _derivatives_without_friction(case: Case, inputs: who.Inputs, method: str) -> FloatArray:
    """Return the derivatives of ours at the motion that others without friction make."""
    dyn = who.dynamics(case.robot, 'python')
    viscous = np.diag(case.robot.joint_values('viscous_friction'))
    if method == 'inverse_dynamics_derivatives':
        result = dyn.inverse_dynamics_derivatives(inputs.q, inputs.qd, inputs.qdd)
        result[1] -= viscous
        return result
    efforts = inputs.tau + dyn.friction_torque(inputs.qd)
    result = dyn.forward_dynamics_derivatives(inputs.q, inputs.qd, efforts)
    result[1] += result[2] @ viscous
    return result


def _ours_of_batch(
    case: Case, inputs: who.Inputs, threads: int, arguments: str, name: str
) -> Contender:
    dyn = who.dynamics(case.robot, 'compiled', threads)
    return who.ours(dyn, inputs, 'inverse_dynamics', arguments, name)


def _toolbox(case: Case, inputs: who.Inputs) -> Contender:
    return who.ToolboxModel(case).compiled(inputs)


def _toolbox_python(case: Case, inputs: who.Inputs) -> Contender:
    return who.ToolboxModel(case).python(inputs)


@dataclass(frozen=True)
class Task:
    """What a fresh process does.

    Attributes
    ----------
    require : callable
        Raises MissingDependencyError or BackendError when what it takes cannot be had.
    arguments : mapping
        See :mod:`benchmark.load_probe`.
    is_cold : bool
        Whether it finds an empty cache of compiled code.
    """

    require: Callable[[], object]
    arguments: Mapping[str, object]
    is_cold: bool = False


def _ours(case: Case, backend: str, is_cold: bool = False) -> Task:
    arguments = {
        'library': 'ne_dynamics',
        'backend': backend,
        'urdf': case.urdf,
        'tip_link': case.tip_link,
    }
    needed = toolchain if backend == 'compiled' else partial(require, 'numpy', 'numpy')
    return Task(needed, arguments, is_cold)


def _load_tasks(case: Case) -> dict[str, Task]:
    pinocchio = {'library': 'pinocchio', 'urdf': case.urdf, 'locked': case.locked}
    return {
        CACHED: _ours(case, 'compiled'),
        COLD: _ours(case, 'compiled', is_cold=True),
        who.PYTHON: _ours(case, 'python'),
        who.PINOCCHIO: Task(partial(require, 'pinocchio', 'pin'), pinocchio),
    }


def _chain_tasks(joints: int, method: str) -> dict[str, Task]:
    arguments = {
        'library': 'ne_dynamics',
        'backend': 'compiled',
        'chain': joints,
        'method': method,
    }
    return {
        CACHED: Task(toolchain, arguments),
        COLD: Task(toolchain, arguments, is_cold=True),
    }
