"""Background work: jobs, which open the project for themselves and post messages, and services, which start them."""
