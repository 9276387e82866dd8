"""Trainings on another machine, over the system's OpenSSH and rsync."""
