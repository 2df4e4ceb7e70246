"""The published forms of manipulator dynamics, each in a file, with the documents' equations.

They share one signature with each other and generic scalars with the production recursion
(:mod:`ne_dynamics.algorithms.newton_euler`), for which they are oracles: floats, NumPy arrays (one
entry a sample), symbols that trace, and scalars that count. :data:`FORMULATIONS` lists them with
what each covers. Where a document's text is wrong, a comment marked ERRATUM says what stands
there and what is computed; comparisons on random arms with an independent program decided.

The documents are called by number:

000
    S. Sasaki, A Modelling of Robot Manipulator Dynamics Based on Newton-Euler's Equations,
    JAERI-M 90-147, 1990 (Japanese).
001
    J. L. Turney, T. N. Mudge, C. S. G. Lee, Equivalence of Two Formulations for Robot Arm
    Dynamics, University of Michigan, 1980.
002
    An article on the iterative form of the Newton-Euler equations in Craig's frames (Chinese).
003
    C. S. G. Lee, M. J. Chung, T. N. Mudge, J. L. Turney, On the Control of Mechanical
    Manipulators, University of Michigan.
004
    J. Angeles, Fundamentals of Robotic Mechanical Systems, chapter 7.
"""

from __future__ import annotations

from ne_dynamics.formulations import (
    angeles,
    craig,
    lagrange_euler,
    luh_walker_paul,
    modified_newton_euler,
    natural_orthogonal_complement,
    sasaki_symbolic,
)
from ne_dynamics.formulations.arm import Arm, DHLink, arm_from_robot
from ne_dynamics.formulations.coverage import Covers, Formulation

FORMULATIONS: dict[str, Formulation] = {
    formulation.name: formulation
    for formulation in (
        Formulation(
            'lagrange_euler_plain',
            lagrange_euler.DOCUMENT,
            lagrange_euler.EQUATIONS,
            lagrange_euler.inverse_dynamics_plain,
            lagrange_euler.COVERS,
        ),
        *(
            Formulation(
                module.__name__.rpartition('.')[2],
                module.DOCUMENT,
                module.EQUATIONS,
                module.inverse_dynamics,
                module.COVERS,
            )
            for module in (
                lagrange_euler,
                luh_walker_paul,
                modified_newton_euler,
                craig,
                angeles,
                natural_orthogonal_complement,
                sasaki_symbolic,
            )
        ),
    )
}
"""The inverse dynamics by name."""

__all__ = ['FORMULATIONS', 'Arm', 'Covers', 'DHLink', 'Formulation', 'arm_from_robot']
