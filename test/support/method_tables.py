"""Methods of the dynamics that compute, by the arguments that a call gives.

What stands behind a name of a method tells calls of it apart; :func:`str.split` takes it off.
"""

LOADS = ('wrench', 'base_motion', 'payload')

PLAIN = {
    'inverse_dynamics': ('q', 'qd', 'qdd'),
    'gravity_torque': ('q',),
    'bias_torque': ('q', 'qd'),
    'friction_torque': ('qd',),
    'mass_matrix': ('q',),
    'coriolis_matrix': ('q', 'qd'),
    'forward_dynamics': ('q', 'qd', 'tau'),
    'inverse_dynamics_derivatives': ('q', 'qd', 'qdd'),
    'forward_dynamics_derivatives': ('q', 'qd', 'tau'),
    'kinetic_energy': ('q', 'qd'),
    'potential_energy': ('q',),
    'generalized_momentum': ('q', 'qd'),
    'lagrangian_gradient': ('q', 'qd'),
    'center_of_mass': ('q',),
    'center_of_mass_jacobian': ('q',),
    'centroidal_momentum': ('q', 'qd'),
    'centroidal_momentum_matrix': ('q',),
    'centroidal_momentum_rate': ('q', 'qd', 'qdd'),
    'joint_wrenches': ('q', 'qd', 'qdd'),
    'link_velocities': ('q', 'qd'),
    'link_accelerations': ('q', 'qd', 'qdd'),
    'kinetic_energy_regressor': ('q', 'qd'),
    'potential_energy_regressor': ('q',),
    'link_poses': ('q',),
    'forward_kinematics': ('q',),
    'jacobian': ('q',),
    'jacobian_rate': ('q', 'qd'),
    'regressor': ('q', 'qd', 'qdd'),
}
"""Calls with joint arrays alone."""

UNDER_LOADS = {
    **{
        f'{method} {how}': (*PLAIN[method], *LOADS[:count])
        for method in ('inverse_dynamics', 'forward_dynamics', 'joint_wrenches')
        for how, count in (('with wrench', 1), ('in full', 3))
    },
    'inverse_dynamics_derivatives with wrench': ('q', 'qd', 'qdd', 'wrench'),
    'forward_dynamics_derivatives in full': ('q', 'qd', 'tau', *LOADS),
    'gravity_torque with payload': ('q', 'payload'),
    'mass_matrix with payload': ('q', 'payload'),
}
"""Calls with joint arrays and loads."""

ALL_CALLS = {**PLAIN, **UNDER_LOADS}
