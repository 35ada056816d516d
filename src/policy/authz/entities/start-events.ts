/** What a start event waits for. `name` null: an expression, so any name may be meant. */
export interface StartEvent {
  readonly id: string
  readonly type: 'message' | 'signal' | 'conditional'
  readonly name: string | null
}

const ATTRIBUTES = `((?:"[^"]*"|'[^']*'|[^'"<>])*?)`
const START = new RegExp(
  `<((?:[\\w.-]+:)?)startEvent\\b${ATTRIBUTES}(?:/>|>([\\s\\S]*?)</\\1startEvent\\s*>)`,
  'g',
)
const DEFINITION = new RegExp(`<(?:[\\w.-]+:)?(message|signal|conditional)EventDefinition\\b${ATTRIBUTES}/?>`)
const NAMED = new RegExp(`<(?:[\\w.-]+:)?(message|signal)\\b${ATTRIBUTES}/?>`, 'g')
/** What of well-formed XML may look like a tag and is none. Without it each tag has its end close by. */
const NO_MARKUP = /<!--[\s\S]*?-->|<!\[CDATA\[[\s\S]*?\]\]>|<\?[\s\S]*?\?>/g

/** Start events of a process that wait for something: read from XML that the engine has already parsed once. */
export function startEventsOf(xml: string): readonly StartEvent[] {
  const text = xml.replace(NO_MARKUP, '')
  const names = namesOf(text)
  return [...text.matchAll(START)].flatMap(([, , attributes = '', content = '']) => {
    const id = valueOf(attributes, 'id')
    return id === null ? [] : eventOf(id, content, names)
  })
}

/** Of messages and signals, by `type id`. */
function namesOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(NAMED)].map(([, type, attributes = '']) => [
      `${type} ${valueOf(attributes, 'id')}`,
      valueOf(attributes, 'name') ?? '',
    ]),
  )
}

function eventOf(id: string, content: string, names: ReadonlyMap<string, string>): readonly StartEvent[] {
  const [, type, attributes = ''] = DEFINITION.exec(content) ?? []
  if (!isType(type)) return []
  const reference = valueOf(attributes, `${type}Ref`)?.replace(/^.*:/, '') ?? ''
  const name = names.get(`${type} ${reference}`) ?? null
  return [{ id, type, name: name === null || /[$#]\{/.test(name) ? null : name }]
}

function isType(text: string | undefined): text is StartEvent['type'] {
  return text === 'message' || text === 'signal' || text === 'conditional'
}

function valueOf(attributes: string, name: string): string | null {
  const match = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes)
  return match === null ? null : decoded(match[1] ?? match[2] ?? '')
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])

function decoded(text: string): string {
  return text.replace(/&(#x?[\da-f]+|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return ENTITIES.get(name) ?? whole
    const isHex = name[1] === 'x' || name[1] === 'X'
    return String.fromCodePoint(Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10))
  })
}
