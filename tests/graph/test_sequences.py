"""Whatever people and documents do to a graph in whatever order: every index follows, and nothing is left over."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from lightrag.contracts.evidence import ObjectKind, split_relation_key
from lightrag.exceptions import DuplicateError, InputError, NotFoundError
from lightrag.graph.check import graph_consistency
from lightrag.graph.create import create_entity, create_relation
from lightrag.graph.edit_entity import EditOptions, edit_entity
from lightrag.graph.edit_relation import edit_relation
from lightrag.graph.manual import is_correction
from lightrag.graph.merge_entities import MergeOptions, merge_entities
from lightrag.graph.remove import remove_entity, remove_relation
from lightrag.kg_scopes import make_scoped_entity_id
from tests.graph.workspace import NO_SUMMARIES, SCOPES, Fact, open_workspace

SCOPE = "tenant:a"
MANUAL = "a person"
names = st.sampled_from(["Ada", "Bea", "Cid", "Dot", "Eve"])
partitions = st.sampled_from(["", SCOPE])
texts = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=3, max_size=12).map(
    lambda text: f"said {text}"
)
facts = st.lists(
    st.tuples(names, names, st.sampled_from(["met", "paid", "wrote to"])).filter(lambda fact: fact[0] != fact[1]),
    min_size=1,
    max_size=3,
)

Pair = frozenset[str]


@dataclass
class Model:
    """What must be there, by partition: who keeps each object alive, and which words of people it must hold."""

    entities: dict[str, set[str]] = field(default_factory=dict)
    relations: dict[Pair, set[str]] = field(default_factory=dict)
    said: dict[str, list[str]] = field(default_factory=dict)

    def settle(self) -> None:
        """Let go what nobody keeps alive."""
        self.entities = {name: keepers for name, keepers in self.entities.items() if keepers}
        self.relations = {
            pair: keepers for pair, keepers in self.relations.items() if keepers and pair <= self.entities.keys()
        }
        self.said = {name: words for name, words in self.said.items() if name in self.entities}

    def move(self, sources: list[str], target: str) -> None:
        """Put everything of the sources under the target."""
        said = [word for name in [target, *sources] for word in self.said.pop(name, [])]
        keepers = set().union(*(self.entities.pop(name) for name in sources))
        self.entities.setdefault(target, set()).update(keepers)
        if said:
            self.said[target] = said
        before, self.relations = self.relations, {}
        for pair, holders in before.items():
            moved = frozenset(target if end in sources else end for end in pair)
            if len(moved) == 2:
                self.relations.setdefault(moved, set()).update(holders)


class GraphMachine(RuleBasedStateMachine):
    """Every rule does the same to the engine and to the model; a refusal must be the model's refusal too."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.models = {"": Model(), SCOPE: Model()}
        self.documents: dict[str, list[str]] = {}
        self.number = 0

    def teardown(self) -> None:
        if hasattr(self, "workspace"):
            self.run_sync(self.context.stores.finalize())
        self.loop.close()

    def run_sync(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(coroutine)

    def place(self) -> dict[str, Any]:
        """Return the settings that say where the workspace lives."""
        return {}

    @initialize()
    def open(self) -> None:
        self.workspace = self.run_sync(open_workspace(**NO_SUMMARIES, **SCOPES, **self.place()))
        self.context, self.state = self.workspace.context, self.workspace.state

    def attempt(self, coroutine: Coroutine[Any, Any, Any], expected: type[Exception] | None) -> bool:
        """Run; tell whether it was done. It must be refused exactly as expected."""
        if expected is None:
            self.run_sync(coroutine)
            return True
        with pytest.raises(expected):
            self.run_sync(coroutine)
        return False

    @rule(links=facts, scoped=st.booleans())
    def add_document(self, links: list[tuple[str, str, str]], scoped: bool) -> None:
        self.number += 1
        doc_id = f"doc-{self.number}"
        said = [Fact(source, target, f"{verb} in {doc_id}") for source, target, verb in links]
        self.run_sync(self.workspace.add(doc_id, said, tags=[SCOPE] if scoped else []))
        self.documents[doc_id] = ["", SCOPE] if scoped else [""]
        for tag in self.documents[doc_id]:
            model = self.models[tag]
            for source, target, _ in links:
                model.relations.setdefault(frozenset((source, target)), set()).add(doc_id)
                for end in (source, target):
                    model.entities.setdefault(end, set()).add(doc_id)

    @rule(data=st.data())
    def delete_document(self, data: st.DataObject) -> None:
        if not self.documents:
            return
        doc_id = data.draw(st.sampled_from(sorted(self.documents)))
        assert self.run_sync(self.workspace.delete(doc_id)) == "success"
        del self.documents[doc_id]
        for model in self.models.values():
            for keepers in (*model.entities.values(), *model.relations.values()):
                keepers.discard(doc_id)
            model.settle()

    @rule(name=names, tag=partitions, text=texts)
    def create(self, name: str, tag: str, text: str) -> None:
        model = self.models[tag]
        known = name in model.entities
        call = create_entity(self.context, self.state, name, {"description": text}, tenant_tag=tag or None)
        if self.attempt(call, DuplicateError if known else None):
            model.entities[name] = {MANUAL}
            model.said[name] = [text]

    @rule(first=names, second=names, tag=partitions, text=texts)
    def relate(self, first: str, second: str, tag: str, text: str) -> None:
        model = self.models[tag]
        pair = frozenset((first, second))
        expected: type[Exception] | None = None
        if first == second:
            expected = InputError
        elif not pair <= model.entities.keys():
            expected = NotFoundError
        elif pair in model.relations:
            expected = DuplicateError
        data = {"description": text, "keywords": "by hand"}
        call = create_relation(self.context, self.state, (first, second), data, tenant_tag=tag or None)
        if self.attempt(call, expected):
            model.relations[pair] = {MANUAL}

    @rule(name=names, tag=partitions, text=texts, kind=st.sampled_from(["", "person"]))
    def edit(self, name: str, tag: str, text: str, kind: str) -> None:
        model = self.models[tag]
        data = {"description": text} | ({"entity_type": kind} if kind else {})
        call = edit_entity(self.context, self.state, name, data, EditOptions(tenant_tag=tag or None))
        if self.attempt(call, None if name in model.entities else NotFoundError):
            model.said[name] = [text]
            if kind:
                node = self.run_sync(self.workspace.node(make_scoped_entity_id(name, tag)))
                assert node["entity_type"] == kind

    @rule(first=names, second=names, tag=partitions, weight=st.sampled_from([0.5, 3.0]), text=texts)
    def edit_link(self, first: str, second: str, tag: str, weight: float, text: str) -> None:
        if first == second:
            return
        model = self.models[tag]
        known = frozenset((first, second)) in model.relations
        data = {"weight": weight, "description": text}
        call = edit_relation(self.context, self.state, (first, second), data, tenant_tag=tag or None)
        if self.attempt(call, None if known else NotFoundError):
            ends = [make_scoped_entity_id(end, tag) for end in (first, second)]
            edge = self.run_sync(self.context.stores.graph.get_edge(*ends))
            assert edge["weight"] == weight
            assert edge["description"] == text

    @rule(name=names, new=names, tag=partitions, allow_merge=st.booleans(), text=st.none() | texts)
    def rename(self, name: str, new: str, tag: str, allow_merge: bool, text: str | None) -> None:
        model = self.models[tag]
        if name == new:
            return
        expected: type[Exception] | None = None
        if name not in model.entities:
            expected = NotFoundError
        elif new in model.entities and not allow_merge:
            expected = DuplicateError
        data = {"entity_name": new} | ({"description": text} if text else {})
        options = EditOptions(allow_merge=allow_merge, tenant_tag=tag or None)
        if self.attempt(edit_entity(self.context, self.state, name, data, options), expected):
            if text:
                model.said[name] = [text]
            model.move([name], new)

    @rule(sources=st.lists(names, min_size=1, max_size=3, unique=True), into=names, tag=partitions)
    def merge(self, sources: list[str], into: str, tag: str) -> None:
        model = self.models[tag]
        others = [name for name in sources if name != into]
        expected: type[Exception] | None = None
        if not others:
            expected = InputError
        elif any(name not in model.entities for name in others):
            expected = NotFoundError
        options = MergeOptions(tenant_tag=tag or None)
        if self.attempt(merge_entities(self.context, self.state, sources, into, options), expected):
            model.move(others, into)

    @rule(name=names, tag=partitions)
    def remove(self, name: str, tag: str) -> None:
        model = self.models[tag]
        call = remove_entity(self.context, self.state, name, tenant_tag=tag or None)
        if self.attempt(call, None if name in model.entities else NotFoundError):
            del model.entities[name]
            model.settle()

    @rule(first=names, second=names, tag=partitions)
    def unlink(self, first: str, second: str, tag: str) -> None:
        model = self.models[tag]
        pair = frozenset((first, second))
        if len(pair) < 2:
            return
        call = remove_relation(self.context, self.state, (first, second), tenant_tag=tag or None)
        if self.attempt(call, None if pair in model.relations else NotFoundError):
            del model.relations[pair]

    @invariant()
    def everything_agrees(self) -> None:
        if hasattr(self, "workspace"):
            assert self.run_sync(graph_consistency(self.context)) == []
            self.run_sync(self.compare())

    async def compare(self) -> None:
        evidence = self.context.stores.evidence
        expected_nodes = {
            make_scoped_entity_id(name, tag) for tag, model in self.models.items() for name in model.entities
        }
        assert set(await self.workspace.names()) == expected_nodes
        expected_pairs = {
            frozenset(make_scoped_entity_id(end, tag) for end in pair)
            for tag, model in self.models.items()
            for pair in model.relations
        }
        assert {frozenset(pair) for pair in await self.workspace.pairs()} == expected_pairs
        for kind in ObjectKind:
            ids = await evidence.scan_objects(kind, limit=10_000)
            for object_id, rows in (await evidence.of_objects(kind, ids)).items():
                await self.compare_object(kind, object_id, rows)

    async def compare_object(self, kind: ObjectKind, object_id: str, rows: list[Any]) -> None:
        model = self.models[rows[0].tenant_tag]
        keepers = {
            MANUAL if row.document_id.startswith("manual_creation") else row.document_id
            for row in rows
            if not is_correction(row)
        }
        if kind is ObjectKind.RELATION:
            ends = frozenset(end.partition("\x1f")[0] for end in split_relation_key(object_id))
            assert keepers == model.relations[ends]
            return
        name = object_id.partition("\x1f")[0]
        assert keepers == model.entities[name]
        node = await self.workspace.node(object_id)
        for word in model.said.get(name, []):
            assert word in node["description"]


class StoredGraphMachine(GraphMachine):
    """The same on the embedded default, where writes become visible at the end of a unit of work."""

    def place(self) -> dict[str, Any]:
        self.folder = tempfile.TemporaryDirectory()
        return {"working_dir": self.folder.name}

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestSequences = GraphMachine.TestCase
TestSequences.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestStoredSequences = StoredGraphMachine.TestCase
TestStoredSequences.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
