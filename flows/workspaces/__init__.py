"""A profile, the external files that it names, and the git worktree that it runs in."""
