"""`python -m flows.cli` is the `fourcells` command."""

from flows.cli import main

main()
