"""The review screen: ``desk.py`` and its helpers decide what a key means, ``screen.py`` draws and runs what works in the background."""
