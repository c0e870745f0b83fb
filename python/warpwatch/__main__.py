"""`warpwatch …` and `python -m warpwatch …`: become the command."""
import os
import sys

from . import COMMAND


def main():
    os.execv(COMMAND, ["warpwatch", *sys.argv[1:]])


if __name__ == "__main__":
    main()
