"""What a user waits for, timed by asv; CONTRIBUTING.md says how to run it."""
