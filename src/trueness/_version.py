"""The version, in its one place: the build and ``trueness.__version__`` both read it here."""

__version__ = "0.1.0"
