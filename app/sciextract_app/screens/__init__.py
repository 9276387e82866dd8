"""What fills the terminal: the start screen and the desk."""
