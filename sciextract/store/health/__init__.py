"""Keeping a project sound: backups, checks, the doctor, salvage."""
