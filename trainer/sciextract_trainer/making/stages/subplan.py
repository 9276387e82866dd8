"""``kind = "plan"``: the network of another plan, made from its own stages in a folder of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sciextract.errors import UsageError
from sciextract_trainer.making.products import NetworkMade, Product
from sciextract_trainer.making.stage import Stage

if TYPE_CHECKING:
    from sciextract_trainer.making.plan import Plan
    from sciextract_trainer.making.workshop import Workshop


@dataclass(frozen=True, kw_only=True)
class Subplan(Stage):
    """Another plan as one stage.

    Attributes:
        plan: Its name; it has exactly one model, the same schema, and starting encoders that this plan has too.
    """

    makes: ClassVar[type[Product]] = NetworkMade

    plan: str

    def uses(self) -> Mapping[str, type[Product]]:
        """Earlier stages."""
        return {}

    def inputs(self, shop: Workshop) -> dict[str, str]:
        """Files and recipe."""
        return {"plan": self._plan(shop).sha256}

    def work(self, shop: Workshop, folder: Path) -> None:
        """Makes it, or goes on."""
        from sciextract_trainer.making.make import make_stages

        make_stages(shop.for_plan(self._plan(shop), folder))

    def product(self, shop: Workshop, folder: Path) -> NetworkMade:
        """What it made."""
        plan = self._plan(shop)
        [model] = plan.models.values()
        return shop.for_plan(plan, folder).made(model.network, NetworkMade)

    def _plan(self, shop: Workshop) -> Plan:
        from sciextract_trainer.making.plan import load_plan

        plan = load_plan(self.plan)
        if len(plan.models) != 1 or plan.schema != shop.plan.schema:
            raise UsageError(
                f"plan {self.plan} has {len(plan.models)} models and schema {plan.schema!r}; as a stage of "
                f"{shop.plan.name} it needs one model and schema {shop.plan.schema!r}"
            )
        return plan
