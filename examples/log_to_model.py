"""From a log to a model: write a log of an arm that differs from its URDF, and identify it.

python examples/log_to_model.py [FOLDER]    # writes log.csv and identified.urdf there
"""

import sys
from pathlib import Path

import numpy as np

import ne_dynamics as ned
from ne_dynamics.identification import identify
from ne_dynamics.identification.writing.write_back import write_urdf
from ne_dynamics.logs.log import read_log
from ne_dynamics.shipped import shipped_file

folder, urdf = Path(sys.argv[1] if len(sys.argv) > 1 else '.'), shipped_file('six_axis_arm.urdf')
model = ned.Dynamics(ned.load_urdf(urdf, tip_link='tcp'))

# In place of your robot: the same arm, 20 % heavier, with more friction, and noise on the efforts.
arm = model.with_parameters(inertial=1.2 * model.inertial_parameters(), viscous_friction=[4.0] * 6)
rng, times = np.random.default_rng(1), np.arange(0.0, 20.0, 0.005)
rates, phases = rng.uniform(0.5, 2.5, (4, 1, 6)), rng.uniform(0.0, 6.0, (4, 1, 6))
angles = rates * times[:, np.newaxis] + phases
q = 0.3 * np.sin(angles).sum(axis=0)
qd = 0.3 * (rates * np.cos(angles)).sum(axis=0)
qdd = -0.3 * (rates**2 * np.sin(angles)).sum(axis=0)
effort = arm.inverse_dynamics(q, qd, qdd) + rng.normal(0.0, 0.2, q.shape)
columns = [f'{name}.{what}' for what in ('position', 'effort') for name in model.joint_names]
table = np.column_stack([times, q, effort])
header = ','.join(['time', *columns])
np.savetxt(folder / 'log.csv', table, delimiter=',', header=header, comments='')

result = identify(model, read_log(folder / 'log.csv', model.joint_names))
(folder / 'identified.urdf').write_text(write_urdf(urdf.read_text(), result.robot))
for joint in result.report.joints:
    before, after = joint.before.rms_difference, joint.after.rms_difference
    print(f'{joint.before.name}: error on unseen motion {before:6.2f} -> {after:.2f} N m')
