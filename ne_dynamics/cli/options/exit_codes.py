"""Exit codes of the command line; 0 is success."""

ERROR = 1
INTERRUPTED = 130
"""128 and the number of SIGINT, as shells have it."""
BROKEN_PIPE = 141
"""128 and the number of SIGPIPE."""
