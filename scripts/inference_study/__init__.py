"""The parts of the study of the inference; `scripts/study_inference.py` runs them."""
