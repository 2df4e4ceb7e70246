"""What dynamics are made of: the robot, the settings, the evaluator; how they are copied."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ne_dynamics.algorithms.mechanism import DEFAULT_TOLERANCE
from ne_dynamics.arguments import check_vector
from ne_dynamics.codegen.entry_call import Owner
from ne_dynamics.codegen.evaluator import Evaluator
from ne_dynamics.codegen.given_parameters import GivenParameters
from ne_dynamics.codegen.subject import Subject
from ne_dynamics.dynamics.backends import choose_backend
from ne_dynamics.errors import InputError, ModelError
from ne_dynamics.model.robot import FloatArray, Robot

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)
"""Acceleration of gravity in base axes [m/s^2], z up."""

MOST_THREADS = 1024
"""Threads that can be asked for."""

SETTINGS = (
    '_backend',
    '_subject',
    '_evaluator',
    '_with_entry',
    '_nominal',
)
"""Attributes that a stand-in shares; `_with_entry` are the rows whose entries were installed."""

MADE_LATER = ('_parametric', '_folded', '_frictionless')
"""Attributes that are made when they are needed."""

_Kind = TypeVar('_Kind', bound='DynamicsCore')


class DynamicsCore:
    """The robot, its settings, its evaluator; construction and copies.

    Parameters
    ----------
    robot, gravity, backend, tolerance, threads
        As :class:`~ne_dynamics.dynamics.dynamics.Dynamics` documents them.
    """

    def __init__(
        self,
        robot: Robot,
        gravity: ArrayLike = STANDARD_GRAVITY,
        backend: str = 'auto',
        tolerance: float = DEFAULT_TOLERANCE,
        threads: int = 1,
    ) -> None:
        if not isinstance(robot, Robot):
            raise InputError(
                f'robot: expected a Robot (see load_urdf, load_dh), got {type(robot).__name__}'
            )
        if robot.n == 0:
            raise ModelError(
                f'robot {robot.name!r}: expected at least one joint that moves, got none'
            )
        if not _is_number(tolerance) or not 0.0 <= tolerance < 1e-2:
            raise InputError(f'tolerance: expected 0 <= tolerance < 0.01, got {tolerance!r}')
        is_whole = isinstance(threads, (int, np.integer)) and not isinstance(threads, bool)
        if not is_whole or not 0 <= threads <= MOST_THREADS:
            raise InputError(
                f'threads: expected a whole number from 0 to {MOST_THREADS}, got {threads!r}'
            )
        x, y, z = (float(value) for value in check_vector(gravity, 'gravity', 3))
        self._backend = choose_backend(backend)
        self._subject = Subject(robot, (x, y, z), float(tolerance))
        _ = self._subject.mechanism  # errors of the model belong here
        cores = int(threads) or _count_cores()
        self._evaluator = Evaluator(self._subject, self._backend == 'compiled', cores)
        self._with_entry: set[str] = set()
        self._nominal: DynamicsCore | None = None
        self._facade: weakref.ref[Any] | None = None

    def __repr__(self) -> str:
        return f'<Dynamics of {self._structure.name!r}, {self.n} joints, backend {self.backend!r}>'

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by construction: machine code stays behind, a subclass does not."""
        shown = self._facade() if self._facade is not None else self
        if shown is not None and shown is not self:
            return shown.__reduce__()
        own, slots = self._own_state()
        state = (own, slots) if own or slots else None
        if self._nominal is not None:
            given = self._subject.given
            return _rebuild_with_parameters, (type(self), self._nominal, given), state
        arguments = (
            self.robot,
            self._subject.gravity,
            self.backend,
            self.tolerance,
            self.threads,
        )
        return _rebuild, (type(self), arguments), state

    def _own_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a subclass or a user added: attributes, and the values of slots."""
        own = {key: value for key, value in self.__dict__.items() if not _is_rebuilt(key, value)}
        slots = {
            name: getattr(self, name)
            for kind in type(self).__mro__
            for name in _list_slots(kind)
            if hasattr(self, name)
        }
        return own, slots

    # What the equations were made for: an assignment is an error, and other dynamics are made.

    @property
    def robot(self) -> Robot:
        """The robot. For the result of :meth:`with_parameters` it is created at first use."""
        return self._subject.robot

    @property
    def _structure(self) -> Robot:
        """A robot of these joints, links, frames and names, perhaps with other numbers."""
        return self._subject.structure

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self._subject.structure.joints)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of every joint array."""
        return self._structure.joint_names

    @property
    def gravity(self) -> FloatArray:
        """Acceleration of gravity in base axes [m/s^2], shape (3,), read-only."""
        gravity = np.array(self._subject.gravity)
        gravity.setflags(write=False)
        return gravity

    @property
    def backend(self) -> str:
        """The backend in use: 'python' or 'compiled'."""
        return self._backend

    @property
    def has_entries(self) -> bool:
        """Whether machine code, instead of Python, checks the arguments of calls."""
        if self._backend != 'compiled':
            return False
        from ne_dynamics.codegen.llvm.compiler import toolchain

        return toolchain().has_entry

    @property
    def tolerance(self) -> float:
        """Part of each joint's largest effort that rounding the model's constants may change."""
        return self._subject.tolerance

    @property
    def threads(self) -> int:
        """Largest number of threads for a batch."""
        return self._evaluator.threads

    @property
    def _folded_evaluator(self) -> Evaluator:
        """What has all numbers in the equations."""
        if self._nominal is None:
            return self._evaluator
        if '_folded' not in self.__dict__:
            self.__dict__['_folded'] = Evaluator(self._subject, False, 1)
        found: Evaluator = self.__dict__['_folded']
        return found

    def _with_parameters(self, kind: type[_Kind], given: GivenParameters) -> _Kind:
        """Return dynamics with other inertias and friction than the first ones have."""
        nominal = self._nominal or self
        shared = nominal.__dict__.get('_parametric')
        if shared is None:
            subject = nominal._subject.with_run_time_parameters()
            shared = Evaluator(subject, nominal.backend == 'compiled', nominal.threads)
            shared = nominal.__dict__.setdefault('_parametric', shared)
        subject = nominal._subject.with_parameters(given)
        result = object.__new__(kind)
        result.__dict__.update(
            _backend=nominal.backend,
            _subject=subject,
            _evaluator=shared.bind(subject),
            _with_entry=set(),
            _nominal=nominal,
            _facade=None,
        )
        own, slots = self._own_state()
        result.__dict__.update(own)
        for name, value in slots.items():
            setattr(result, name, value)
        return result


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _count_cores() -> int:
    from ne_dynamics.codegen.llvm.thread_pool import count_cores

    return count_cores()


def _is_rebuilt(key: str, value: object) -> bool:
    """Return whether an attribute comes back by construction."""
    return key in (*SETTINGS, '_facade', *MADE_LATER) or is_entry(value)


def is_entry(value: object) -> bool:
    """Return whether a value is a compiled entry."""
    return isinstance(getattr(value, '__self__', None), Owner)


def _list_slots(kind: type) -> list[str]:
    """Return the names of a class's own slots, as its instances have them."""
    slots = kind.__dict__.get('__slots__', ())
    names = [slots] if isinstance(slots, str) else list(slots)
    prefix = f'_{kind.__name__.lstrip("_")}'
    return [
        prefix + name if name.startswith('__') and not name.endswith('__') else name
        for name in names
        if name not in ('__dict__', '__weakref__')
    ]


def _rebuild(kind: type[_Kind], arguments: tuple[Any, ...]) -> _Kind:
    """Return dynamics of a class, whatever its own constructor takes."""
    dynamics = object.__new__(kind)
    DynamicsCore.__init__(dynamics, *arguments)
    return dynamics


def _rebuild_with_parameters(
    kind: type[_Kind], nominal: DynamicsCore, given: GivenParameters
) -> _Kind:
    """Return dynamics made by :meth:`~ne_dynamics.dynamics.dynamics.Dynamics.with_parameters`."""
    return nominal._with_parameters(kind, given)
