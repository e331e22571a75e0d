"""Engines: what adds blocks of rows to the sums of a table."""
