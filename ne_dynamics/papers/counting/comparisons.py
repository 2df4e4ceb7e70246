"""Which measured terms of a form do the work of which printed rows."""

from __future__ import annotations

from dataclasses import dataclass

from ne_dynamics.papers.counting.printed_tables import TOTAL


@dataclass(frozen=True)
class Comparison:
    """Printed rows and the measured terms that do the same work.

    Attributes
    ----------
    table : str
    rows : tuple of str
        Printed rows, summed.
    formulation : str
    terms : tuple of str
        Measured terms, summed; empty for the total.
    why : str
        Where a difference comes from.
    principal_axes : bool
        Whether inertia tensors are diagonal.
    as_published : bool
        Whether the tip wrench, and positions and velocities where the form gives them, count.
    with_gains : bool
        Whether the :data:`~ne_dynamics.papers.counting.measured_costs.GAINS` are added.
    """

    table: str
    rows: tuple[str, ...]
    formulation: str
    terms: tuple[str, ...] = ()
    why: str = ''
    principal_axes: bool = False
    as_published: bool = False
    with_gains: bool = False


COMPARISONS = (
    Comparison(
        '001 table 1',
        ('Lagrange',),
        'lagrange_euler',
        why='see table 2',
        principal_axes=True,
    ),
    Comparison('001 table 2', ('T',), 'lagrange_euler', ('T',), 'the 6n products inside T'),
    Comparison('001 table 2', ('dT',), 'lagrange_euler', ('dT',)),
    Comparison('001 table 2', ('d2T',), 'lagrange_euler', ('d2T',)),
    Comparison(
        '001 table 2',
        ('kinetic sum J_q',),
        'lagrange_euler',
        ('kinetic sum J_q',),
        'the row leaves out the products of dT with the accelerations; here qd_j qd_k is formed '
        'once for all q, and of a symmetric pair one is added',
    ),
    Comparison('001 table 2', ('trace',), 'lagrange_euler', ('trace',)),
    Comparison(
        '001 table 2', ('gravity',), 'lagrange_euler', ('gravity',), 'the sums over q are shared'
    ),
    Comparison(
        '001 table 1',
        ('Newton-Euler',),
        'luh_walker_paul',
        why='see table 3',
        principal_axes=True,
    ),
    Comparison('001 table 3', ('omega_i',), 'luh_walker_paul', ('omega_i',)),
    Comparison(
        '001 table 3',
        ('alpha_i',),
        'luh_walker_paul',
        ('alpha_i',),
        'w x z qd takes 2 products a link, which the row leaves out',
    ),
    Comparison(
        '001 table 3',
        ('A_i', 'a_i', 'abar_i'),
        'luh_walker_paul',
        ('a_i', 'abar_i'),
        'as two double cross products; the authors build A_i once and use it twice',
    ),
    Comparison(
        '001 table 3',
        ('I_i alpha_i', 'omega_i x (I_i omega_i)'),
        'luh_walker_paul',
        ('N_i',),
        'two full 3 x 3 products, stored zeros included; one sum of vectors stands in "add n"',
        principal_axes=True,
    ),
    Comparison(
        '001 table 3',
        ('f_i', 'm (r_i + rbar_i) x abar_i', 'r_i x R f', 'R n', 'add n'),
        'luh_walker_paul',
        ('F_i', 'n_i', 'f_i', 'tau_i'),
        'nothing is rotated into the last link without a tip wrench; tau_i takes a rotation row',
        principal_axes=True,
    ),
    Comparison(
        '001 table 1',
        ('modified Newton-Euler',),
        'modified_newton_euler',
        why='see table 4',
        principal_axes=True,
    ),
    Comparison('001 table 4', ('omega_i',), 'modified_newton_euler', ('omega_i',)),
    Comparison(
        '001 table 4',
        ('alpha_i',),
        'modified_newton_euler',
        ('alpha_i',),
        'w x z qd takes 2 products a link, which the row leaves out',
    ),
    Comparison('001 table 4', ('A_i',), 'modified_newton_euler', ('A_i',)),
    Comparison(
        '001 table 4',
        ('a_i',),
        'modified_newton_euler',
        ('a_i',),
        'the first link rotates gravity',
    ),
    Comparison('001 table 4', ('m_i abar_i',), 'modified_newton_euler', ('m_i abar_i',)),
    Comparison('001 table 4', ('f_i',), 'modified_newton_euler', ('f_i',)),
    Comparison(
        '001 table 4',
        ('Tr{A_i K_i sigma^t}',),
        'modified_newton_euler',
        ('Tr{A_i K_i sigma^t}',),
        principal_axes=True,
    ),
    Comparison(
        '001 table 4',
        ('m (r_i + rbar_i) x abar_i',),
        'modified_newton_euler',
        ('m_i (r_i + rbar_i) x abar_i',),
    ),
    Comparison(
        '001 table 4',
        ('r_i x R f', 'R n', 'add n'),
        'modified_newton_euler',
        ('r_i x R f', 'R n', 'add n'),
        'nothing comes from beyond the last link without a tip wrench; 9 sums of "add n" a link '
        'do the work, 15 are printed',
    ),
    Comparison(
        '003 table 1',
        (TOTAL,),
        'lagrange_euler_plain',
        why='H by symmetry in j and k: n^4/8 traces here, n^4/3 there; d2T is multiplied out for '
        'each',
        with_gains=True,
    ),
    Comparison(
        '003 table 2',
        (TOTAL,),
        'luh_walker_paul',
        why='w x z qd and the products inside R_i count here; no tip wrench',
        with_gains=True,
    ),
    Comparison('003 table 2', ('omega_i',), 'luh_walker_paul', ('omega_i',)),
    Comparison('003 table 2', ('alpha_i',), 'luh_walker_paul', ('alpha_i',), '2 products more'),
    Comparison('003 table 2', ('a_i',), 'luh_walker_paul', ('a_i',), 'one sum less a link'),
    Comparison(
        '003 table 2',
        ('abar_i',),
        'luh_walker_paul',
        ('abar_i',),
        'three cross products and two sums are 18 and 15',
    ),
    Comparison('003 table 2', ('F_i',), 'luh_walker_paul', ('F_i',)),
    Comparison('003 table 2', ('f_i',), 'luh_walker_paul', ('f_i',), 'no tip force'),
    Comparison('003 table 2', ('N_i',), 'luh_walker_paul', ('N_i',)),
    Comparison('003 table 2', ('n_i',), 'luh_walker_paul', ('n_i',), 'no tip wrench'),
    Comparison(
        '004 table 7.1',
        (TOTAL,),
        'angeles',
        ('Q_i', 'c_i', 'w_i', 'cd_i', 'wd_i', 'cdd_i'),
        'Q_i is never multiplied out: (7.23), (7.24) use its factors',
        as_published=True,
    ),
    Comparison('004 table 7.1', ('Q_i',), 'angeles', ('Q_i',), 'as above', as_published=True),
    *(
        Comparison('004 table 7.1', (name,), 'angeles', (name,), as_published=True)
        for name in ('w_i', 'cd_i', 'wd_i', 'cdd_i')
    ),
    Comparison(
        '004 table 7.2',
        (TOTAL,),
        'angeles',
        ('1', '2', '5', '6', '7'),
        as_published=True,
    ),
    *(
        Comparison('004 table 7.2', (name,), 'angeles', (name,), as_published=True)
        for name in ('1', '2', '5', '6', '7')
    ),
    Comparison(
        '004 (7.43)',
        (TOTAL,),
        'angeles',
        why='less 4n for Q_i; tau_i takes the rotation that the algorithm leaves out (2n, n)',
        as_published=True,
    ),
    Comparison(
        '004 table 7.3',
        ('Luh et al. (1980), Newton-Euler',),
        'luh_walker_paul',
        why='counted by others "as set forth" in the paper; less is thrown away here',
    ),
    Comparison(
        '004 table 7.3',
        ('Walker & Orin (1982), Newton-Euler',),
        'angeles',
        why='a relative of algorithms 7.4.1 and 7.4.2; without positions, velocities and tip '
        'wrench, which no torque needs',
    ),
)
"""Printed rows that are compared with measured terms; the study lists the others alone."""
