"""A Django app with one job that lasts until a file appears; installed by tests/ops/settings.py."""
