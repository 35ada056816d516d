/** A block of shell commands on a page, with what it prints. */
export interface PageStep {
  /** Where it stands, and its first line: `12: npm ci`. */
  readonly name: string
  readonly commands: string
  /** What follows `sh` where the block begins: ` ```sh background redis-server `. */
  readonly words: readonly string[]
  /** The block `text` that follows; null: what it prints is not on the page. */
  readonly output: string | null
}

const BLOCK = /^```(\w+)(.*)\n([\s\S]*?)^```$/gm

/** The blocks `sh` of a page in Markdown, in their order. */
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

/** What a page says of an output as a pattern: `…` is anything in a line, and alone in its line any number of lines. */
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
