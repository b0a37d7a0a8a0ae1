"""Choose, of all chunks that speak of some entities or relations, those worth reading. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain


def chunks_by_object(
    sources: Sequence[Sequence[str]], *, exclude: Collection[str] = frozenset()
) -> tuple[list[list[str]], Counter[str]]:
    """Give every chunk to the first object that names it.

    Args:
        sources: Chunk ids of each object, the best object first.
        exclude: Chunks that are taken already.

    Returns:
        Chunks of each object that is left with any, those named by most objects first; and how many objects name
        each chunk.
    """
    occurrences = Counter(chain.from_iterable(sources))
    seen = set(exclude)
    groups: list[list[str]] = []
    for chunk_ids in sources:
        # The object's ids may repeat a chunk, and dict.fromkeys keeps their order.
        own = [chunk_id for chunk_id in dict.fromkeys(chunk_ids) if chunk_id not in seen]
        if own:
            seen.update(own)
            own.sort(key=occurrences.__getitem__, reverse=True)
            groups.append(own)
    return groups, occurrences


def pick_by_similarity(groups: Sequence[Sequence[str]], similarities: Mapping[str, float], count: int) -> list[str]:
    """Return the ``count`` chunks nearest to the question; of equals the one of the better object.

    Args:
        groups: Chunks of each object, the best object first.
        similarities: Cosine similarity by chunk; chunks without one come last.
        count: How many at the most.
    """
    ranked = list(chain.from_iterable(groups))
    ranked.sort(key=lambda chunk_id: similarities.get(chunk_id, -2.0), reverse=True)
    return ranked[:count]


def pick_by_weight(groups: Sequence[Sequence[str]], per_object: int) -> list[str]:
    """Return chunks by the rank of their object: the first gives up to ``per_object``, the last one.

    The quota falls in a straight line. What an object cannot fill goes, one by one, to objects that have more, the
    best first.

    Args:
        groups: Chunks of each object, the best object first.
        per_object: Quota of the best object.
    """
    if not groups:
        return []
    last = max(1, len(groups) - 1)
    quotas = [round(per_object - (per_object - 1) * rank / last) for rank in range(len(groups))]
    taken = [list(group[:quota]) for group, quota in zip(groups, quotas, strict=True)]
    spare = sum(quotas) - sum(map(len, taken))
    while spare > 0:
        progress = False
        for group, part in zip(groups, taken, strict=True):
            if spare > 0 and len(part) < len(group):
                part.append(group[len(part)])
                spare -= 1
                progress = True
        if not progress:
            break
    return list(chain.from_iterable(taken))
