"""Machine code: the equations in LLVM's language, loops over samples, and the entry from Python.

``cpython_entry.py`` is apart from all else: it knows how CPython holds floats and arrays.
"""
