/** Names beside their nodes so that none covers another. */

export interface LabelWish {
  text: string
  /** Middle and radius of the node, in pixels. */
  x: number
  y: number
  radius: number
  width: number
  height: number
  /** Shown even where it covers others. */
  forced: boolean
}

export interface PlacedLabel extends LabelWish {
  /** Left end of the base line. */
  left: number
  base: number
}

interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

const GAP = 4
const CELL = 64

/** Boxes in squares, so that each is compared only with those near it. */
class Occupied {
  private readonly cells = new Map<string, Box[]>()

  private *keysOf({ left, top, right, bottom }: Box): Generator<string> {
    for (let x = Math.floor(left / CELL); x <= Math.floor(right / CELL); x += 1) for (let y = Math.floor(top / CELL); y <= Math.floor(bottom / CELL); y += 1) yield `${x},${y}`
  }

  isFree(box: Box): boolean {
    for (const key of this.keysOf(box)) {
      for (const other of this.cells.get(key) ?? []) if (box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom) return false
    }
    return true
  }

  add(box: Box): void {
    for (const key of this.keysOf(box)) this.cells.set(key, [...(this.cells.get(key) ?? []), box])
  }
}

/** Where a name may stand, the best place first. */
function placesOf({ x, y, radius, width, height }: LabelWish): Array<{ left: number; top: number }> {
  const middle = y - height / 2
  return [
    { left: x + radius + GAP, top: middle },
    { left: x - radius - GAP - width, top: middle },
    { left: x - width / 2, top: y + radius + 2 },
    { left: x - width / 2, top: y - radius - 2 - height },
  ]
}

/**
 * Finds a place for every name for which there is one, those of large nodes first.
 *
 * A name keeps clear of other names, of the nodes that are named and of the edge of the picture; one without room is left out until
 * the picture is nearer.
 */
export function placeLabels(wishes: readonly LabelWish[], across = Infinity): PlacedLabel[] {
  const occupied = new Occupied()
  const placed: PlacedLabel[] = []
  const sorted = [...wishes].sort((a, b) => Number(b.forced) - Number(a.forced) || b.radius - a.radius || (a.text < b.text ? -1 : 1))
  const discs = sorted.map(({ x, y, radius }) => ({ left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }))
  for (const [index, wish] of sorted.entries()) {
    const boxes = placesOf(wish).map(({ left, top }) => ({ left, top, right: left + wish.width, bottom: top + wish.height }))
    const clear = (box: Box) => occupied.isFree(box)
    const box = boxes.find((one) => clear(one) && !covers(one, discs, index) && one.left >= 0 && one.right <= across) ?? boxes.find(clear) ?? (wish.forced ? boxes[0] : undefined)
    if (!box) continue
    occupied.add(box)
    placed.push({ ...wish, left: box.left, base: box.top + wish.height * 0.78 })
  }
  return placed
}

/** Whether a box lies over one of the nodes that are named, other than its own. */
function covers(box: Box, discs: readonly Box[], own: number): boolean {
  return discs.some((disc, index) => index !== own && box.left < disc.right && disc.left < box.right && box.top < disc.bottom && disc.top < box.bottom)
}
