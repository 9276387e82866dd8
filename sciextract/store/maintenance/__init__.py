"""Keeping project files sound: backups, the doctor, what a damaged file still gives."""
