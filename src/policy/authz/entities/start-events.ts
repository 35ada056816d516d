import { setImmediate as turn } from 'node:timers/promises'
import { SaxesParser } from 'saxes'

/** What a start event waits for. `name` null: any name may be meant. */
export interface StartEvent {
  readonly id: string
  readonly type: 'message' | 'signal' | 'conditional'
  readonly name: string | null
}

/** A level costs memory until it is closed, and no model is as deep. */
const MAX_DEPTH = 1000
/** Read in one turn of the event loop: 16 MiB, the most that is read of an engine, may take 2 s. */
const CHUNK_CHARS = 64 * 1024
/** The engine's JSON has every model as if it were UTF-8: these characters of a model in another encoding are lost. */
const LOST = '\ufffd'
/** An expression has its value when the engine reads it. */
const UNKNOWN_NAME = new RegExp(`[$#]\\{|${LOST}`)

/**
 * The start events of one process of a model that wait for something; null where that cannot be told.
 *
 * Reads as the engine does: an element is known by its name without prefix, in whatever namespace it is
 * (`org.camunda.bpm.engine.impl.util.xml.Element`), and only start events right below the process are its own. A DOCTYPE
 * may define entities and attributes that the engine adds, so a model with one cannot be told.
 */
export async function startEventsOf(xml: string, processId: string): Promise<readonly StartEvent[] | null> {
  const model = new Model(processId)
  const parser = new SaxesParser({ xmlns: false, position: false })
  const path: string[] = []
  parser.on('doctype', () => parser.fail('a DOCTYPE'))
  parser.on('opentag', ({ name, attributes }) => {
    if (path.length >= MAX_DEPTH) parser.fail('nested too deeply')
    path.push(name.slice(name.indexOf(':') + 1))
    model.onElement(path, attributes)
  })
  parser.on('closetag', () => path.pop())
  try {
    for (let at = 0; at < xml.length; at += CHUNK_CHARS) {
      if (at > 0) await turn()
      parser.write(xml.slice(at, at + CHUNK_CHARS))
    }
    parser.close()
  } catch {
    return null
  }
  return model.startEvents()
}

type XmlAttributes = Readonly<Record<string, string>>

interface EventDefinition {
  readonly id: string
  readonly type: StartEvent['type']
  readonly reference: string
}

/** What is gathered of a model. */
class Model {
  readonly #processId: string
  /** Of messages and signals, by `type id`. */
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

/** The schema takes blanks from around an id. */
function idOf(attributes: XmlAttributes): string {
  return attributes['id']?.trim() ?? ''
}

function isType(text: string | undefined): text is StartEvent['type'] {
  return text === 'message' || text === 'signal' || text === 'conditional'
}
