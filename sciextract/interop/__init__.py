"""Bridges to other libraries, each behind an extra; the rest of the package never imports them."""
