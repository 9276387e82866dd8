"""Background work: ``jobs.py`` runs it in a thread; the other modules start jobs that open the project for themselves."""
