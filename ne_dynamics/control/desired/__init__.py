"""The motion that is followed: accepted or refused, replaced, slowed down, streamed."""
