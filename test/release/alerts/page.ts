import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const RUNBOOKS = join(import.meta.dirname, '../../../docs/runbooks')

/** A block of a page that is executed (`sh`) or merged into the configuration (`yaml`). */
export interface Block {
  readonly language: 'sh' | 'yaml'
  readonly text: string
}

export interface Page {
  readonly title: string
  /** Blocks by heading, in the order of the page. */
  readonly sections: ReadonlyMap<string, readonly Block[]>
  readonly text: string
}

export function readPage(alert: string): Page {
  const text = readFileSync(join(RUNBOOKS, `${alert}.md`), 'utf8')
  const [head = '', ...parts] = text.split(/^## /m)
  return {
    title: /^# (.+)$/m.exec(head)?.[1] ?? '',
    sections: new Map(parts.map((part) => [part.split('\n', 1)[0] ?? '', blocksOf(part)])),
    text,
  }
}

/** Returns the blocks of a text. A block in a list has the indentation of the list. */
function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^( *)```(sh|yaml)\n(.*?)^ *```$/gms)].map(
    ([, indent = '', language, body = '']) => ({
      language: language === 'yaml' ? 'yaml' : 'sh',
      text: body
        .split('\n')
        .map((line) => line.slice(indent.length))
        .join('\n'),
    }),
  )
}
