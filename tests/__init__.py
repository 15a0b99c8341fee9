"""Tests mirror the tree: what tests/x holds is about x."""
