import type { Writable } from 'node:stream'
import type { Operation } from '../operations/table.ts'

/** Writes a result in the format that `--format` selects. */
export function printResponse(
  { stdout }: { readonly stdout: Writable },
  format: 'text' | 'json',
  { text, json }: { readonly text: () => string; readonly json: () => unknown },
): void {
  stdout.write(format === 'json' ? `${JSON.stringify(json(), null, 2)}\n` : text())
}

/** Joins lines for a terminal. Control characters are replaced, because a name or an id could otherwise control the terminal. */
export function linesText(lines: readonly string[]): string {
  return `${lines.map((line) => line.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')).join('\n')}\n`
}

/** Returns rows as aligned columns, each as wide as its widest cell. The last column is not padded. */
export function tableLines(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Returns the request of an operation with these parameters of its path: `POST /task/t1/complete`. */
export function requestText(
  { method, template }: Pick<Operation, 'method' | 'template'>,
  params: Readonly<Record<string, string>>,
): string {
  const path = template.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  return `${method} ${path}`
}
