"""A URDF: XML that nobody trusts (``xml_document``, ``xml``), then a tree of links (``tree``).

Beside it: rotors of transmissions, shapes of links and their meshes, and xacro. Begin with
``tree.py``.
"""
