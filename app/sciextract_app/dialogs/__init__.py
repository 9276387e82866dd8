"""What asks the person something, over the screen: each can be left with Escape."""
