"""JSON Schemas, written from the classes whose content they describe."""
