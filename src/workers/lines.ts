import type { Readable } from 'node:stream'

/** A longer line is forwarded in pieces. */
const MAX_LINE_CHARS = 1024 ** 2

/** Forwards only complete lines, so that the lines of several processes are not mixed. */
export function forwardLines(from: Readable, write: (lines: string) => void): void {
  let rest = ''
  const forward = (text: string): void => {
    if (text !== '') write(text)
  }
  from.setEncoding('utf8')
  from.on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n') + 1
    if (end === 0 && rest.length + chunk.length < MAX_LINE_CHARS) {
      rest += chunk
      return
    }
    forward(rest + chunk.slice(0, end === 0 ? undefined : end))
    rest = end === 0 ? '' : chunk.slice(end)
  })
  from.on('end', () => forward(rest === '' ? '' : `${rest}\n`))
}
