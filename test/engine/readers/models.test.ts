import t from 'tap'
import { familyOfNamespace } from '../../../src/operations/published/engine-families.ts'
import { readElements } from '../../../src/policy/validation/model-elements.ts'
import { readModelNames } from '../../../src/policy/validation/model-names.ts'
import { findScript } from '../../../src/policy/validation/model-scripts.ts'
import { decodeModel } from '../../../src/policy/validation/model-text.ts'
import { declaresDoctype } from '../../../src/policy/validation/xml-prolog.ts'
import { javaSkip } from '../../support/requirements.ts'
import { compareReaders, type Difference, type Outcome } from './compare.ts'
import { openEngineParser, type ParsedDocument } from './engine-parser.ts'
import { makeModel } from './model-texts.ts'

const INPUTS = 1000

t.test(
  'the gateway reads a model as the XML parser of the engine, or does not read it',
  {
    skip: javaSkip,
  },
  async (t) => {
    const parse = await openEngineParser(t, 'camunda-7.24.0')
    let [read, doctypes] = [0, 0]
    await compareReaders(t, {
      what: 'models',
      inputs: INPUTS,
      part: 46,
      make: makeModel,
      compare: async (model) => {
        const parsed = await parse(model)
        if (parsed.problem === null) read += 1
        if (isDoctype(parsed)) doctypes += 1
        return outcomeOf(model, parsed)
      },
    })
    t.comment(`the engine reads ${read} models and finds a DOCTYPE in ${doctypes}`)
    t.ok(read > INPUTS / 4, 'the engine reads enough of the models')
    t.ok(doctypes > INPUTS / 50, 'enough of the models declare a DOCTYPE')
  },
)

function isDoctype({ problem }: ParsedDocument): boolean {
  return problem?.includes('DOCTYPE is disallowed') ?? false
}

async function outcomeOf(model: Buffer, parsed: ParsedDocument): Promise<Outcome> {
  const read = await readEvents(model)
  if (isDoctype(parsed)) {
    const isNoticed = declaresDoctype(model) && read === null
    return isNoticed
      ? null
      : { engine: parsed.problem, gateway: { declaresDoctype: declaresDoctype(model), read } }
  }
  // The engine deploys nothing of a model that its parser refuses.
  if (parsed.problem !== null) return null
  if (declaresDoctype(model)) return 'refused'
  return (
    (await scriptDifference(model, parsed)) ??
    (await namespaceDifference(model, parsed)) ??
    eventOutcome(parsed, read)
  )
}

function eventOutcome(parsed: ParsedDocument, read: readonly Event[] | null): Outcome {
  if (read === null) return 'refused'
  const engine = eventsOf(parsed)
  const places = Array.from({ length: Math.max(engine.length, read.length) }, (_, at) => at)
  const first = places.find((at) => JSON.stringify(engine[at]) !== JSON.stringify(read[at]))
  return first === undefined ? null : { engine: engine[first], gateway: read[first] }
}

/** Returns the difference if the engine reads an element with a script in a model in which the gateway finds none. */
async function scriptDifference(model: Buffer, { events }: ParsedDocument): Promise<Difference | null> {
  const script = events.find(({ open }) => open === 'script' || open === 'scriptTask')
  const found = await findScript(model)
  return script !== undefined && found === 'none' ? { engine: script, gateway: found } : null
}

/** Returns the difference if the engine reads a namespace of one family that the gateway does not. */
async function namespaceDifference(model: Buffer, { events }: ParsedDocument): Promise<Difference | null> {
  const used = new Set(
    events.flatMap(({ uris = [] }) => uris.filter((uri) => familyOfNamespace(uri) !== null)),
  )
  const { namespaces, isRead } = await readModelNames(model)
  return isRead && [...used].some((uri) => !namespaces.has(uri))
    ? { engine: [...used], gateway: [...namespaces] }
    : null
}

/** An element with its path and its sorted attributes, or the path of an element and a text directly in it. */
type Event = readonly [path: string, content: string | readonly (readonly [name: string, value: string])[]]

/** Collects events. Parsers split texts at different places. */
class Events {
  readonly all: Event[] = []

  open(path: readonly string[], attributes: readonly (readonly [string, string])[]): void {
    this.all.push([path.join(' '), attributes.toSorted(([a], [b]) => (a < b ? -1 : 1))])
  }

  text(path: readonly string[], text: string): void {
    if (path.length === 0 || text === '') return
    const [before, last] = this.all.at(-1) ?? []
    if (typeof last !== 'string' || before !== path.join(' ')) this.all.push([path.join(' '), text])
    else this.all[this.all.length - 1] = [before, last + text]
  }
}

function eventsOf(parsed: ParsedDocument): readonly Event[] {
  const events = new Events()
  const path: string[] = []
  for (const { open, attributes = [], text } of parsed.events) {
    if (open !== undefined) {
      path.push(open)
      events.open(path, attributes)
    } else if (text === undefined) path.pop()
    else events.text(path, text)
  }
  return events.all
}

/** Returns the events that the gateway reads, or null if it cannot read the model. */
async function readEvents(model: Buffer): Promise<readonly Event[] | null> {
  const xml = decodeModel(model)
  if (xml === null) return null
  const events = new Events()
  const isRead = await readElements(
    xml,
    (path, attributes) => events.open(path, Object.entries(attributes)),
    {
      onText: (path, text) => events.text(path, text),
    },
  )
  return isRead ? events.all : null
}
