import { readElements, type XmlAttributes } from '../../validation/model-elements.ts'

/** A start event and the event that it waits for. Null as `name` matches every name. */
export interface StartEvent {
  readonly id: string
  readonly type: 'message' | 'signal' | 'conditional'
  readonly name: string | null
}

/** The engine decodes every model as UTF-8 when it writes JSON. It writes this character for bytes that are not valid UTF-8. */
const LOST = '\ufffd'
/** Names whose value is not known here: the engine evaluates an expression when it parses the model. */
const UNKNOWN_NAME = new RegExp(`[$#]\\{|${LOST}`)

/**
 * Returns the start events of one process that wait for an event. Null if the model cannot be read. Only start events directly below
 * the process count, as for the engine.
 */
export async function startEventsOf(xml: string, processId: string): Promise<readonly StartEvent[] | null> {
  const model = new Model(processId)
  const isRead = await readElements(xml, (path, attributes) => model.onElement(path, attributes))
  return isRead ? model.startEvents() : null
}

interface EventDefinition {
  readonly id: string
  readonly type: StartEvent['type']
  readonly reference: string
}

/** Collects the start events while a model is parsed. */
class Model {
  readonly #processId: string
  /** The names of messages and signals, by `type id`. */
  readonly #names = new Map<string, string>()
  readonly #found: EventDefinition[] = []
  #hasProcess = false
  #isInProcess = false
  #startId = ''

  constructor(processId: string) {
    this.#processId = processId
  }

  /** @param path names from the root to the element */
  onElement(path: readonly string[], attributes: XmlAttributes): void {
    const name = path.at(-1) ?? ''
    if (path.length === 2) this.#onTop(name, attributes)
    if (!this.#isInProcess) return
    if (path.length === 3) this.#startId = name === 'startEvent' ? idOf(attributes) : ''
    const type = /^(message|signal|conditional)EventDefinition$/.exec(name)?.[1]
    if (path.length === 4 && this.#startId !== '' && isType(type)) {
      const reference = attributes[`${type}Ref`]?.trim().replace(/^.*:/, '') ?? ''
      this.#found.push({ id: this.#startId, type, reference })
    }
  }

  #onTop(name: string, attributes: XmlAttributes): void {
    this.#isInProcess = name === 'process' && idOf(attributes) === this.#processId
    this.#hasProcess ||= this.#isInProcess
    if (name === 'message' || name === 'signal')
      this.#names.set(`${name} ${idOf(attributes)}`, attributes['name'] ?? LOST)
  }

  startEvents(): readonly StartEvent[] | null {
    if (!this.#hasProcess || this.#found.some(({ id }) => id.includes(LOST))) return null
    return this.#found.map(({ id, type, reference }) => {
      const name = reference.includes(LOST) ? LOST : (this.#names.get(`${type} ${reference}`) ?? LOST)
      return { id, type, name: UNKNOWN_NAME.test(name) ? null : name }
    })
  }
}

/** Returns the id without surrounding white space, which the schema ignores. */
function idOf(attributes: XmlAttributes): string {
  return attributes['id']?.trim() ?? ''
}

function isType(text: string | undefined): text is StartEvent['type'] {
  return text === 'message' || text === 'signal' || text === 'conditional'
}
