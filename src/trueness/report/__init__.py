"""A document as a page, as a notebook cell, or as text."""
