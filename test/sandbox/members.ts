/** Returns the sorted member names of every object in a value, by place: `{ '': 'id name', 'links[]': 'href rel' }`. */
export function membersOf(value: unknown): Record<string, string> {
  const places: Record<string, string> = {}
  collect(value, '', places)
  return places
}

function collect(value: unknown, place: string, places: Record<string, string>): void {
  if (Array.isArray(value)) {
    for (const one of value) collect(one, `${place}[]`, places)
  } else if (typeof value === 'object' && value !== null) {
    places[place] = Object.keys(value).sort().join(' ')
    for (const [name, one] of Object.entries(value))
      collect(one, place === '' ? name : `${place}.${name}`, places)
  }
}

/** Returns the types at every place of a value. Null is left out, because the value may be set elsewhere. */
export function typesOf(
  value: unknown,
  rename: (name: string) => string = (name) => name,
): Record<string, string> {
  const places = new Map<string, Set<string>>()
  const collectType = (one: unknown, place: string): void => {
    const types = places.get(place) ?? new Set()
    places.set(place, types)
    if (one === null || Buffer.isBuffer(one)) return
    types.add(Array.isArray(one) ? 'array' : typeof one)
    if (Array.isArray(one)) for (const element of one) collectType(element, `${place}[]`)
    else if (typeof one === 'object') {
      for (const [name, member] of Object.entries(one)) collectType(member, `${place}.${rename(name)}`)
    }
  }
  collectType(value, '')
  return Object.fromEntries([...places].map(([place, types]) => [place, [...types].sort().join(' ')]))
}
