"""Programs as LLVM assembly: the equations, the loops over samples, the entry for CPython."""
