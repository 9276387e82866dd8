"""What every stage of a plan is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from sciextract_trainer.making.products import Product

if TYPE_CHECKING:
    from sciextract_trainer.making.workshop import Workshop


class Stage(ABC):
    """One step of a plan: a frozen dataclass whose fields are the settings in the plan.

    Attributes:
        makes: What kind of product it makes.
    """

    makes: ClassVar[type[Product]]

    @abstractmethod
    def uses(self) -> Mapping[str, type[Product]]:
        """Names of the earlier stages and starting encoders that it needs, and what each has to be."""

    @abstractmethod
    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes the product in ``folder``, or goes on where an earlier call stopped.

        Raises:
            TimeIsUp: The time of this call is over.
            SciextractError: It cannot be done; what is finished is kept.
        """

    @abstractmethod
    def product(self, shop: Workshop, folder: Path) -> Product:
        """The finished product."""

    def learns_heads_of(self) -> tuple[str, ...]:
        """Names of the encoders that it needs with the head that tells masked tokens."""
        return ()

    def inputs(self, shop: Workshop) -> dict[str, str]:
        """What the outcome depends on besides the settings and the products used: files and recipes, hashed."""
        return {}

    def outcome(self, folder: Path) -> dict[str, Any]:
        """What the record says of the result."""
        return {}

    def settings(self) -> dict[str, Any]:
        """The settings, as they stand in the record."""
        return {key: value for key, value in asdict(self).items() if value not in ("", (), {})}  # type: ignore[call-overload]
