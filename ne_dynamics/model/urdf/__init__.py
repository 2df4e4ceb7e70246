"""A URDF: read as XML that nobody trusts (``xml``), then as a tree of links and joints (``tree``).

Beside it: rotors of transmissions, shapes of links and their meshes, and xacro. Begin with
``tree.py``.
"""
