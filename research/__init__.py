"""How encoders, bundled models and the papers' tables are made: beside the product, in its development environment.

What only research trains is made known to the trainer here, by name: nothing is imported before a recipe asks for it.
"""

from sciextract_trainer.config import ENCODERS, NETWORKS

NETWORKS["dygie"] = "research.dygie"
NETWORKS["sift"] = "research.methods.sift"
ENCODERS.extend(["research.encoder_files", "research.methods.characters"])
