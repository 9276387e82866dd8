"""``python -m tests.cli.fake_main``: the real command line around the fake model."""

from sciextract.cli.main import main
from tests.cli.fakes import RuleExtractor, install

if __name__ == "__main__":
    install(RuleExtractor())
    main()
