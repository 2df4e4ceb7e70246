"""What a form costs as a formula in the number of joints, measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ne_dynamics.codegen.symbols import OperationCount
from ne_dynamics.errors import InputError
from ne_dynamics.papers.counting.costs import Cost, fit_cost
from ne_dynamics.papers.counting.counting_arm import make_counting_arm
from ne_dynamics.papers.counting.counting_scalars import Tally, count_operations
from ne_dynamics.papers.forms import FORMULATIONS, computed_torque_law, strobing
from ne_dynamics.papers.forms.formulation import InverseDynamicsFunction


@dataclass(frozen=True)
class CountSetting:
    """How a form is run to be counted.

    Attributes
    ----------
    formulation : str
        Name of the form.
    principal_axes : bool
        Whether inertia tensors are diagonal.
    as_published : bool
        Whether the tip wrench, and positions and velocities where the form gives them, count.
    sliding : bool
        Whether all joints slide; else they turn.
    relative_acceleration : str
        Of :data:`~ne_dynamics.papers.forms.relative_acceleration.WAYS`; '' for the form's own.
    """

    formulation: str
    principal_axes: bool = False
    as_published: bool = False
    sliding: bool = False
    relative_acceleration: str = ''

    def text(self) -> str:
        """Return the form's name and what is special."""
        special = [
            words
            for words, given in (
                ('principal axes', self.principal_axes),
                ('as published', self.as_published),
                ('sliding joints', self.sliding),
                (self.relative_acceleration.replace('_', ' '), self.relative_acceleration),
            )
            if given
        ]
        return self.formulation + (f' ({", ".join(special)})' if special else '')

    def run(self, n: int, skip_trivial: bool) -> Tally:
        """Return the tally of one inverse dynamics of n joints."""
        form = FORMULATIONS[self.formulation]
        function: InverseDynamicsFunction = form.inverse_dynamics
        if self.as_published and self.formulation == 'angeles':
            function = partial(function, with_positions=True)
        if self.relative_acceleration:
            function = partial(function, relative_acceleration=self.relative_acceleration)
        return count_operations(
            function,
            make_counting_arm(form.covers, n, self.principal_axes, self.sliding),
            wrench=self.as_published,
            skip_trivial=skip_trivial,
        )


class CostMeter:
    """Counts what the forms cost, once for each arm and way of counting.

    Parameters
    ----------
    largest : int
        Number of joints up to which formulas are fitted.
    """

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self._tallies: dict[tuple[CountSetting, int, bool], Tally] = {}

    def take_tally(self, setting: CountSetting, n: int, skip_trivial: bool = False) -> Tally:
        """Return the tally of one inverse dynamics of n joints; the flag as in :class:`Tally`."""
        key = (setting, n, skip_trivial)
        if key not in self._tallies:
            self._tallies[key] = setting.run(n, skip_trivial)
        return self._tallies[key]

    def count(self, name: str, n: int, skip_trivial: bool = False) -> OperationCount:
        """Return all operations of one inverse dynamics of a form, see :meth:`take_tally`."""
        return self.take_tally(CountSetting(name), n, skip_trivial).total

    def fit_cost(self, setting: CountSetting, terms: Sequence[str] = ()) -> Cost:
        """Return formulas that meet the counts of every number of joints.

        Parameters
        ----------
        setting : CountSetting
        terms : sequence of str
            Of the form, summed; empty for all of them.

        Raises
        ------
        InputError
            When the form has no term of a name, or no polynomial meets the counts.
        """

        def count(n: int) -> OperationCount:
            tally = self.take_tally(setting, n)
            missing = [term for term in terms if term not in tally.terms]
            if missing:
                raise InputError(
                    f'{setting.formulation}: expected terms of {", ".join(tally.terms)}, '
                    f'got {", ".join(missing)}'
                )
            if not terms:
                return tally.total
            return sum((tally.terms[term] for term in terms), OperationCount())

        return fit_cost(count, self.largest)


def measure_gains(largest: int) -> Cost:
    """Return the cost of ``qdd + Kv ed + Kp e`` (003 4.4), with the diagonal gains of section 5.

    Formulas are fitted up to so many joints. Zeros of the gain matrices are skipped.
    """

    def count(n: int) -> OperationCount:
        tally = Tally(skip_trivial=True)
        state = [tally.numbers([0.1] * n) for _ in range(5)]
        kp, kv = ((gain * np.eye(n)).tolist() for gain in (100.0, 20.0))
        computed_torque_law.substituted_acceleration(*state, kp=kp, kv=kv)
        return tally.total

    return fit_cost(count, largest)


def measure_strobing(what: str, largest: int) -> Cost:
    """Return the cost of M or of all C^i_jk by strobing the recursion of Luh, Walker and Paul.

    `what` is 'mass_matrix' or 'velocity_coefficients'; formulas are fitted up to so many joints.
    """
    strobed: Callable[..., object] = getattr(strobing, what)
    form = FORMULATIONS['luh_walker_paul']

    def count(n: int) -> OperationCount:
        tally = Tally()
        strobed(make_counting_arm(form.covers, n), tally.numbers([0.1] * n), form.inverse_dynamics)
        return tally.total

    return fit_cost(count, largest)
