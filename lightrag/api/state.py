"""What one running server consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lightrag.api.auth import Access, Caller
from lightrag.api.background import Background
from lightrag.api.files import InputFolder
from lightrag.api.intake import Intake
from lightrag.api.metrics import Metrics
from lightrag.api.scan import Scans
from lightrag.settings_api import ApiSettings

if TYPE_CHECKING:
    from lightrag.engine.restricted import RestrictedEngine
    from lightrag.lightrag import LightRAG


@dataclass(eq=False)
class ServerState:
    """The parts of one server; handlers get them through :mod:`lightrag.api.deps`.

    Attributes:
        settings: Settings of the server.
        engine: The engine; opened while the server runs.
        access: Decides who may do what.
        metrics: Figures.
        inputs: Folder of uploads.
        background: Work after responses.
        intake: Takes documents in.
        scans: Scans of the folder.
        web_ui: Folder of the built web UI; ``None`` when it is not installed.
    """

    settings: ApiSettings
    engine: LightRAG
    access: Access
    metrics: Metrics
    inputs: InputFolder
    background: Background = field(init=False)
    intake: Intake = field(init=False)
    scans: Scans = field(init=False)
    web_ui: Path | None = None

    def __post_init__(self) -> None:
        shown = self.engine.ollama_server_infos
        if shown is not None:
            # What the engine was given wins over the environment, as with every other field.
            names = {"ollama_emulating_model_name": shown.name, "ollama_emulating_model_tag": shown.tag}
            self.settings = self.settings.model_copy(update={name: value for name, value in names.items() if value})
        policies = self.access.policies
        self._views = {
            policy: self.engine.restricted(policy.required_tags, policy.forbidden_tags)
            for policy in (policies.all() if policies else ())
            if policy.limits_documents
        }
        self.background = Background(self.engine, self.inputs)
        self.intake = Intake(self.engine, self.settings, self.inputs, self.background, self.metrics)
        self.scans = Scans(self.engine, self.inputs, self.background, self.metrics)

    def engine_for(self, caller: Caller) -> LightRAG | RestrictedEngine:
        """Return the engine as somebody may see it."""
        if caller.policy is None or not caller.policy.limits_documents:
            return self.engine
        return self._views[caller.policy]
