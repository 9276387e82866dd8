"""``python -m sciextract`` equals ``sciextract``."""

from sciextract.cli.main import main

if __name__ == "__main__":
    main()
