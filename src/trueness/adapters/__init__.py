"""Other people's worlds: each module imports its one library, and none imports another."""
