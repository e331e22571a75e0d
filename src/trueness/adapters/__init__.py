"""Adapters to other libraries: each module is named after one library and imports no other adapter."""
