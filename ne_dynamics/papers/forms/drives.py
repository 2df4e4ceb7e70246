"""Friction and rotors beside a form that knows neither.

No document has Coulomb friction, friction that depends on the load, or rotors. They are terms of
their own, which add up with the effort of the links: ``tau = links + rotors qdd + friction(qd)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ne_dynamics.errors import InputError
from ne_dynamics.papers.forms import strobing
from ne_dynamics.papers.forms.arm import Arm
from ne_dynamics.papers.forms.formulation import InverseDynamicsFunction
from ne_dynamics.papers.forms.generic_scalars import Matrix, Scalar, Scalars

FrictionFunction = Callable[[Scalars, Scalars], Scalars]
"""``friction(q, qd)``: n efforts [N m or N] that overcome joint friction."""


class DrivenArm:
    """The links of an arm by a published form, its drives beside it.

    Parameters
    ----------
    arm : Arm
        Its own friction and rotors are left out: :meth:`Arm.rigid
        <ne_dynamics.papers.forms.arm.Arm.rigid>`.
    form : callable
        An inverse dynamics.
    rotors : sequence of n floats
        Inertia of the rotors as the joints feel it [kg m^2 or kg].
    friction : callable
        ``friction(q, qd)``, n scalars.
    gravity : sequence of 3 scalars
        In the base link's axes [m/s^2].

    Raises
    ------
    InputError
        When the rotors are not as many as the joints.
    """

    def __init__(
        self,
        arm: Arm,
        form: InverseDynamicsFunction,
        *,
        rotors: Sequence[float],
        friction: FrictionFunction,
        gravity: Scalars,
    ) -> None:
        if len(rotors) != arm.n:
            raise InputError(f'rotors: expected {arm.n} numbers, one a joint, got {len(rotors)}')
        self.links = arm.rigid()
        self.form = form
        self.rotors = rotors
        self.friction = friction
        self.gravity = gravity

    def inverse_dynamics(self, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
        """Return the efforts that a motion takes, n scalars [N m or N]."""
        links = self.form(self.links, q, qd, qdd, gravity=self.gravity)
        return [
            effort + rotor * acceleration + loss
            for effort, rotor, acceleration, loss in zip(
                links, self.rotors, qdd, self.friction(q, qd), strict=True
            )
        ]

    def mass_matrix(self, q: Scalars) -> Matrix:
        """Return M(q) by strobing, the rotors on its diagonal, n rows of n scalars."""
        matrix = strobing.mass_matrix(self.links, q, self.form)
        for index, rotor in enumerate(self.rotors):
            matrix[index][index] = matrix[index][index] + rotor
        return matrix

    def forward_dynamics(self, q: Scalars, qd: Scalars, tau: Scalars) -> list[Scalar]:
        """Return the accelerations that efforts give (001 section 7), n scalars."""
        known = self.inverse_dynamics(q, qd, [0.0] * self.links.n)
        return strobing.solve_by_cholesky(
            self.mass_matrix(q),
            [effort - value for effort, value in zip(tau, known, strict=True)],
        )
