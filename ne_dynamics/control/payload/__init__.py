"""Mass and centre of mass of what hangs on the flange, from poses held or moved slowly.

Begin with ``estimate.py``: windows of states, equations from motors or sensor, one solution.
"""
