"""A fresh process that reads a robot, computes once, and says how long each step took.

Its text is run with ``python -c`` and one argument, JSON with the keys

library
    'ne_dynamics', 'pinocchio', or 'numpy' (imports it and does nothing else).
urdf, tip_link, locked
    Robot as a file.
chain
    In place of a file: number of joints of a chain of ours.
backend, method, batch
    For ne_dynamics; the method takes q, qd and qdd and is the inverse dynamics where none is
    named; `batch` samples are computed after the first one.

It prints JSON: seconds of the steps, and the peak of its memory in bytes. Nothing but the standard
library is imported before the clock runs.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
from typing import Any


def peak_memory() -> int:
    """Return the most memory that this process has had resident [B].

    ``ru_maxrss`` is no good where there is better: on Linux it starts from what the parent had.
    """
    try:
        with open('/proc/self/status', encoding='ascii') as status:
            for line in status:
                if line.startswith('VmHWM:'):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    import resource

    unit = 1 if sys.platform == 'darwin' else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def run(task: dict[str, Any]) -> dict[str, float]:
    """Do what is asked and return the seconds of each step."""
    marks = [('start', time.perf_counter())]

    def mark(step: str) -> None:
        marks.append((step, time.perf_counter()))

    import numpy as np

    mark('import numpy')
    if task['library'] == 'ne_dynamics':
        import ne_dynamics as ned

        if task.get('chain'):
            from ne_dynamics.papers.robots import chain

            mark('import library')
            robot = chain(task['chain'])
        else:
            mark('import library')
            robot = ned.load_urdf(task['urdf'], tip_link=task['tip_link'])
        mark('read model')
        dyn = ned.Dynamics(robot, backend=task['backend'])
        q = np.full(dyn.n, 0.1)
        compute = getattr(dyn, task.get('method', 'inverse_dynamics'))
        compute(q, q, q)
        mark('first result')
        if task.get('batch'):
            rows = np.full((task['batch'], dyn.n), 0.1)
            compute(rows, rows, rows)
            mark('batch')
    elif task['library'] == 'pinocchio':
        import pinocchio as pin

        mark('import library')
        model = pin.buildModelFromUrdf(task['urdf'])
        if task['locked']:
            locked = [model.getJointId(name) for name in task['locked']]
            model = pin.buildReducedModel(model, locked, pin.neutral(model))
        mark('read model')
        q = np.full(model.nv, 0.1)
        pin.rnea(model, model.createData(), q, q, q)
        mark('first result')
    return {step: seconds - before for (_, before), (step, seconds) in itertools.pairwise(marks)}


if __name__ == '__main__':
    print(json.dumps({'steps': run(json.loads(sys.argv[1])), 'peak': peak_memory()}))
