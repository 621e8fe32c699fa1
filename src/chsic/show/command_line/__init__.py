"""The command ``chsic``: its commands, their options, and how errors end it."""
