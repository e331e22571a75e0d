"""The formats: a module for each, named after it, with a `FORMAT`. No module here imports another."""
