"""An arm that nobody knows, step by step: listen, probe, excite, identify, gains, a test motion.

``steps.py`` are the steps with their conditions, ``work.py`` what each does, ``desk.py`` what is
computed of it. ``arm`` is the arm in front of one: behind DDS, simulated, or in this process;
``fits`` are what is fitted of the records. A run goes on where it ended: all is in its folder.

Begin with ``work.py``.
"""
