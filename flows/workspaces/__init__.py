"""A profile, the outside files that it names, and the git worktree that it runs in."""
