"""The warpwatch command and its preload library, installed in this folder. All of it is C; Python only finds it."""
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent
COMMAND = FOLDER / "bin" / "warpwatch"
