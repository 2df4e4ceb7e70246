"""How an arm of the published forms moves: its frames, its links, and under efforts."""

from __future__ import annotations

from ne_dynamics.model.robot import Transform
from ne_dynamics.papers.forms import angeles, strobing
from ne_dynamics.papers.forms.formulation import Request


def frame_poses(arm, q):
    """Return the poses of frames 0 to n in frame 0 at a joint position of n floats."""
    poses = [Transform.identity()]
    for link, position in zip(arm.links, q, strict=True):
        poses.append(poses[-1] @ link.transform(arm.convention, position))
    return poses


def outward_motion(arm, q, qd, qdd, *, gravity):
    """Return the motion of the links: 004 algorithm 7.4.1, with positions and velocities."""
    angeles.FORM.check(arm, q=q, qd=qd, qdd=qdd, gravity=gravity)
    return angeles.recur_outward(Request(arm, q, qd, qdd, gravity), with_positions=True)


def forward_dynamics(arm, q, qd, tau, *, gravity, wrench=None, formulation=None):
    """Return ``M^-1 (tau - C - G)`` [rad/s^2 or m/s^2], friction in C (001 section 7).

    Parameters
    ----------
    arm : Arm
    q, qd, tau : sequence of n scalars
    gravity, wrench
        As for :meth:`Formulation.inverse_dynamics
        <ne_dynamics.papers.forms.formulation.Formulation.inverse_dynamics>`.
    formulation : callable, optional
        The inverse dynamics to strobe, as in :mod:`ne_dynamics.papers.forms.strobing`.

    Raises
    ------
    ModelError
        When M, as numbers, is not positive definite.
    """
    form = formulation or strobing.default_formulation(arm)
    # 001 section 7: C + G (and friction) with the accelerations zeroed.
    known = form(arm, q, qd, [0.0] * arm.n, gravity=gravity, wrench=wrench)
    rest = [effort - part for effort, part in zip(tau, known, strict=True)]
    # 001 section 7: M by strobing, then the system solved; no pivoting, M is positive definite.
    return strobing.solve_by_cholesky(strobing.mass_matrix(arm, q, form), rest)


def arm_acceleration(arm, effort=None, *, gravity, forward_dynamics=forward_dynamics):
    """Return the acceleration of an arm under efforts, for the simulation of 001 section 7.

    Parameters
    ----------
    arm : Arm
    effort : callable, optional
        ``effort(t, q, qd)``, n scalars [N m or N]; none by default.
    gravity : sequence of 3 floats
        In the base link's axes [m/s^2].
    forward_dynamics : callable
        :func:`forward_dynamics`, as in 001, or one with the same arguments.
    """
    zeros = [0.0] * arm.n

    def acceleration(time, q, qd):
        tau = zeros if effort is None else effort(time, q, qd)
        # 001 section 7: thetadd = M^-1 (tau - C - G).
        return forward_dynamics(arm, q, qd, tau, gravity=gravity)

    return acceleration
