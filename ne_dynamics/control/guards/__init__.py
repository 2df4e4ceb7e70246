"""What refuses or ends: impossible states, gains that would shake, joints that do not follow."""
