"""The entity types that are asked for unless the user gives others."""

from __future__ import annotations

# Name -> when to use it. The names end up as ``entity_type`` of graph nodes.
DEFAULT_ENTITY_TYPES: dict[str, str] = {
    "person": "a human being, real or invented, also one known only by a role that works as a name",
    "organization": "a company, authority, court, party, club, team, school, newspaper or other body",
    "location": "a place, building, street, region, country, river, sea or other site",
    "event": "something that happened or is planned: a meeting, war, trial, accident, election, release",
    "document": "a law, bill, treaty, patent, contract, report, letter, book or other text, or a part of it",
    "artifact": "a thing that was made: a product, machine, vehicle, vessel, tool, program, work of art",
    "concept": "an idea, method, theory, field, rule, right or term that the passage defines or discusses",
    "natural object": "a substance, plant, animal, disease, body part, mineral or celestial body",
    "date": "a date or period of which the passage says that it matters for something",
    "other": "what is worth recording and fits none of the above",
}


def entity_types_guidance(types: dict[str, str]) -> str:
    """Return the types as the list that the prompts show, one per line."""
    return "\n".join(f"- {name}: {meaning}" for name, meaning in types.items())
