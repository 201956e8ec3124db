"""What every part of the product shares: errors, actors, typed input, cursors, deadlines.

The rule: no Django app, no protocol and no domain in here. A module of this package may be
imported by all others and imports none of them.
"""
