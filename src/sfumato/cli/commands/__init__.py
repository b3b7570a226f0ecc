"""The sub-commands, one per module; each is imported when it is called."""
