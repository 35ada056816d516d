import { setImmediate as turn } from 'node:timers/promises'
import { SaxesParser } from 'saxes'

export type XmlAttributes = Readonly<Record<string, string>>

/** @param path names of the elements from the root to this one, without their prefixes */
type OnElement = (path: readonly string[], attributes: XmlAttributes) => void

interface ReadOptions {
  /** Called between two parts of a long model. An error that it throws ends the reading. */
  readonly checkDeadline?: (() => void) | undefined
  /** Receives the text directly in an element, in one or more parts. Default: texts are not read. */
  readonly onText?: ((path: readonly string[], text: string) => void) | undefined
}

/** The maximum depth of elements. Each level costs memory until it is closed. No real model is that deep. */
const MAX_DEPTH = 1000
/** The text that is parsed in one turn of the event loop. Parsing 16 MiB, the largest response that is read, can take 2 s. */
const CHUNK_CHARS = 64 * 1024

/**
 * Reads the elements of a model in their order. Returns false if the model cannot be read.
 *
 * An element is identified by its name without the prefix, in any namespace, as in the engine
 * (`org.camunda.bpm.engine.impl.util.xml.Element`). A DOCTYPE can define entities and attributes that the engine adds, so a model
 * with a DOCTYPE cannot be read. `test/engine/readers/models.test.ts` compares the elements with those that the engine reads.
 */
export async function readElements(
  xml: string,
  onElement: OnElement,
  { checkDeadline, onText }: ReadOptions = {},
): Promise<boolean> {
  const parser = new SaxesParser({ xmlns: false, position: false })
  const path: string[] = []
  parser.on('doctype', () => parser.fail('a DOCTYPE'))
  parser.on('opentag', ({ name, attributes }) => {
    if (path.length >= MAX_DEPTH) parser.fail('nested too deeply')
    // The engine's parser keeps a colon that no prefix precedes.
    if (name.startsWith(':')) parser.fail('a name that starts with a colon')
    path.push(name.slice(name.indexOf(':') + 1))
    onElement(path, attributes)
  })
  parser.on('closetag', () => path.pop())
  if (onText !== undefined)
    for (const kind of ['text', 'cdata'] as const) parser.on(kind, (text) => onText(path, text))
  for (let at = 0; at < xml.length; at += CHUNK_CHARS) {
    if (at > 0) {
      await turn()
      checkDeadline?.()
    }
    if (!isRead(() => parser.write(xml.slice(at, at + CHUNK_CHARS)))) return false
  }
  return isRead(() => parser.close())
}

function isRead(parse: () => void): boolean {
  try {
    parse()
    return true
  } catch {
    return false
  }
}
