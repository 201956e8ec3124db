"""What can be asked of repositories; one file each. Each takes the actor and typed input."""
