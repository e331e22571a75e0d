"""``python -m trueness`` is the command ``trueness``."""

from trueness.cli import process

if __name__ == "__main__":
    process()
