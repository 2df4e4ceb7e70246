"""The arm that is commissioned: over DDS, simulated, or in this process; its watchdog."""
