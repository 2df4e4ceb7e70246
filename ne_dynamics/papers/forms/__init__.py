"""The published forms of manipulator dynamics, each in a file, with the documents' equations.

They are oracles for the production recursion (:mod:`ne_dynamics.algorithms.newton_euler`). They
share one signature, that of :class:`~ne_dynamics.papers.forms.formulation.Formulation`, and run on
the same generic scalars: floats, NumPy arrays (one entry a sample), symbols that trace, and
scalars that count. :data:`FORMULATIONS` lists the forms and what each covers. Where a document's
text is wrong, a comment marked ERRATUM says what stands there and what is computed; comparisons on
random arms with an independent program decided.

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

from ne_dynamics.papers.forms import (
    angeles,
    craig,
    lagrange_euler,
    luh_walker_paul,
    modified_newton_euler,
    natural_orthogonal_complement,
    sasaki_symbolic,
)
from ne_dynamics.papers.forms.arm import Arm, DHLink
from ne_dynamics.papers.forms.coverage import Covers
from ne_dynamics.papers.forms.formulation import Formulation
from ne_dynamics.papers.forms.recovered_arm import arm_from_robot

FORMULATIONS: dict[str, Formulation] = {
    form.name: form
    for form in (
        lagrange_euler.PLAIN_FORM,
        lagrange_euler.FORM,
        luh_walker_paul.FORM,
        modified_newton_euler.FORM,
        craig.FORM,
        angeles.FORM,
        natural_orthogonal_complement.FORM,
        sasaki_symbolic.FORM,
    )
}
"""The forms by name."""

__all__ = ['FORMULATIONS', 'Arm', 'Covers', 'DHLink', 'Formulation', 'arm_from_robot']
