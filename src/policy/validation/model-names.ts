import { classNamesIn, familyOfNamespace } from '../../operations/published/engine-families.ts'
import { readElements, type XmlAttributes } from './model-elements.ts'
import { decodeModel } from './model-text.ts'

/** A class of a known family that a model names. */
export interface NamedClass {
  readonly className: string
  /** The id of the nearest element that has one, or null if no element has an id. */
  readonly elementId: string | null
}

/** The names in a model that only some families of engines can resolve. */
export interface ModelNames {
  /** Namespaces that belong to one family. */
  readonly namespaces: ReadonlySet<string>
  readonly classes: readonly NamedClass[]
  /** False if the model cannot be read to its end. The names found before are listed. */
  readonly isRead: boolean
}

/** The classes of one model, each counted once for each element. */
const MAX_CLASSES = 1000
/** Attributes with addresses or names of tools. */
const NO_CODE = /^(?:xmlns(?::.*)?|targetNamespace|typeLanguage|expressionLanguage|exporter|exporterVersion)$/
/** Elements whose text is for people. */
const PROSE: ReadonlySet<string> = new Set(['documentation', 'textAnnotation'])

/**
 * Reads the names in a model: namespaces, and classes in scripts, expressions and attributes.
 * @throws any error that `checkDeadline` throws
 */
export async function readModelNames(model: Buffer, checkDeadline?: () => void): Promise<ModelNames> {
  const xml = decodeModel(model)
  const found = new FoundNames()
  const isRead =
    xml !== null &&
    (await readElements(xml, (path, attributes) => found.addElement(path, attributes), {
      checkDeadline,
      onText: (path, text) => found.addText(path, text),
    }))
  return { namespaces: found.namespaces, classes: found.classes, isRead }
}

class FoundNames {
  readonly namespaces = new Set<string>()
  readonly classes: NamedClass[] = []
  /** The ids of the elements from the root to the current one. */
  readonly #ids: (string | undefined)[] = []
  readonly #known = new Set<string>()

  addElement(path: readonly string[], attributes: XmlAttributes): void {
    this.#ids.length = path.length - 1
    this.#ids.push(attributes['id'])
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith('xmlns') && familyOfNamespace(value) !== null) this.namespaces.add(value)
      if (!NO_CODE.test(name)) this.#addClasses(value)
    }
  }

  addText(path: readonly string[], text: string): void {
    if (path.some((element) => PROSE.has(element))) return
    this.#ids.length = path.length
    this.#addClasses(text)
  }

  #addClasses(text: string): void {
    const elementId = this.#ids.findLast((id) => id !== undefined) ?? null
    for (const className of classNamesIn(text)) {
      const key = `${className} ${elementId}`
      if (this.#known.has(key) || this.#known.size >= MAX_CLASSES) continue
      this.#known.add(key)
      this.classes.push({ className, elementId })
    }
  }
}
