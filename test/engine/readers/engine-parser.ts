import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { buildEngine, type Family } from '../build.ts'

/** What the engine's XML parser reads in a document. */
export interface ParsedDocument {
  /** Why the parser refuses the document, or null if it reads the whole document. */
  readonly problem: string | null
  readonly events: readonly ParserEvent[]
}

/** The start of an element, a part of a text, or, without members, the end of an element. */
interface ParserEvent {
  /** The name of an element without its prefix. */
  readonly open?: string
  /** Names with prefixes, and values. */
  readonly attributes?: readonly (readonly [name: string, value: string])[]
  /** The namespaces of the element and of its attributes. An empty text is no namespace. */
  readonly uris?: readonly string[]
  readonly text?: string
}

type Waiting = PromiseWithResolvers<ParsedDocument>

/** Starts the XML parser of an engine in a process that ends with the test. A document takes less than a millisecond. */
export async function openEngineParser(
  t: Test,
  family: Family,
): Promise<(document: Buffer) => Promise<ParsedDocument>> {
  const { jar } = await buildEngine(family)
  const classes = join(dirname(jar), 'lib', '*')
  const program = join(import.meta.dirname, 'engine-parser.java')
  const java = spawn('java', ['-Xmx128m', '-XX:+UseSerialGC', '-cp', classes, program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const waiting: Waiting[] = []
  createInterface({ input: java.stdout }).on('line', (line) => waiting.shift()?.resolve(JSON.parse(line)))
  java.on('exit', (code) => {
    for (const { reject } of waiting) reject(new Error(`The parser exited with ${code}`))
  })
  t.teardown(() => java.kill())
  return (document) => {
    const next: Waiting = Promise.withResolvers()
    waiting.push(next)
    java.stdin.write(`${document.toString('base64')}\n`)
    return next.promise
  }
}
