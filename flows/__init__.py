"""What a person starts: the order of stages, the Prefect flow, the command."""
