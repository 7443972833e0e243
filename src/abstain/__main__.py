"""`python -m abstain`: the command."""

from abstain.cli import main

main()
