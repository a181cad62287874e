"""What passes between stages: records, configuration, errors. Imports nothing of ours."""
