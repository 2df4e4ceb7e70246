"""The scenarios of `ne_dynamics demo`: arm, motions, sessions over DDS, tables, pictures."""
