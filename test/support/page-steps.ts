/** A block of shell commands on a page, with the output that the page shows for it. */
export interface PageStep {
  /** The line number of the block and its first line, for example `12: npm ci`. */
  readonly name: string
  readonly commands: string
  /** The words that follow `sh` at the start of the block, for example ` ```sh background redis-server `. */
  readonly words: readonly string[]
  /** The content of the `text` block that follows, or null if the page does not show the output. */
  readonly output: string | null
}

const BLOCK = /^```(\w+)(.*)\n([\s\S]*?)^```$/gm

/** Returns the `sh` blocks of a Markdown page in their order. */
export function stepsOf(page: string): readonly PageStep[] {
  const blocks = [...page.matchAll(BLOCK)].map(([whole, language = '', words = '', content = ''], at) => {
    return { whole, language, words: words.split(' ').filter((word) => word !== ''), content, at }
  })
  return blocks.flatMap(({ whole, language, words, content, at }) => {
    if (language !== 'sh') return []
    const next = blocks[at + 1]
    const line = page.slice(0, page.indexOf(whole)).split('\n').length
    const [first = ''] = content.split('\n')
    const output = next?.language === 'text' ? next.content : null
    return [{ name: `${line}: ${first}`, commands: content, words, output }]
  })
}

/** Converts an output on a page to a pattern. `…` matches any text within a line. A line that contains only `…` matches any number of lines. */
export function patternOf(output: string): string {
  return output
    .trimEnd()
    .split('\n')
    .map((line) => (line === '…' ? '(?:.*\\n)*?' : `${line.split('…').map(escaped).join('.*')}\n`))
    .join('')
    .replace(/\n$/, '\\s*')
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&')
}
