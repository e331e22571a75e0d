"""The tests and the errors that `scripts/study_which_number.py` puts beside each other."""
