"""The figures we claim, one command a table: ``python -m benchmarks.NAME``, or all of them by ``make bench``."""
