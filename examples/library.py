"""The library without ROS: load an arm, ask for its dynamics, simulate it for a second.

python examples/library.py [arm.urdf]
"""

import sys

import numpy as np

import ne_dynamics as ned
from ne_dynamics.shipped import shipped_file

robot = ned.load_urdf(sys.argv[1] if len(sys.argv) > 1 else shipped_file('six_axis_arm.urdf'))
dyn = ned.Dynamics(robot)
np.set_printoptions(precision=3, suppress=True)
print(f'{robot.name}: {", ".join(dyn.joint_names)}')

# One sample: what the motors need in this motion [N m], and to hold still there.
q, qd, qdd = np.full(dyn.n, 0.3), np.full(dyn.n, 0.5), np.full(dyn.n, 1.0)
print('inverse dynamics', dyn.inverse_dynamics(q, qd, qdd))
print('gravity         ', dyn.gravity_torque(q))

# A batch: the largest effort along a whole motion.
times = np.linspace(0.0, 2.0, 1001)[:, np.newaxis]
motion = np.sin(times + q), np.cos(times + q), -np.sin(times + q)
print('largest effort  ', np.abs(dyn.inverse_dynamics(*motion)).max(axis=0))

# Let go with some damping, and step the equations of motion (semi-implicit Euler).
start, step = dyn.kinetic_energy(q, qd) + dyn.potential_energy(q), 0.001
for _ in range(1000):
    qd = qd + step * dyn.forward_dynamics(q, qd, -2.0 * qd)
    q = q + step * qd
end = dyn.kinetic_energy(q, qd) + dyn.potential_energy(q)
print(f'energy          {start:.2f} J, after 1 s of falling with damping {end:.2f} J')
