import type { Operation } from '../operations/table.ts'

/** What an engine answers where it does not answer JSON: its HAL form, or that it has nothing that the client takes (406). */
export type OtherForm = 'hal' | 'neither'

const JSON_TYPE = /^(?:application|\*)\/(?:json|\*)$/
const HAL_TYPE = /^(?:application|\*)\/hal\+json$/

/** What the engine would choose of its forms in the place of JSON; false: JSON. */
export function otherFormOf({ hal }: Pick<Operation, 'hal'>, accept: string | undefined): OtherForm | false {
  const ranges = rangesOf(accept)
  const chosen = ranges.find(({ type }) => JSON_TYPE.test(type) || (hal === true && HAL_TYPE.test(type)))
  if (chosen === undefined) return 'neither'
  return HAL_TYPE.test(chosen.type) ? 'hal' : false
}

/** The `Accept` that asks for JSON alone. With the client's parameters: the engine repeats them in the type of its answer. */
export function jsonAcceptOf(accept: string | undefined): string {
  const chosen = rangesOf(accept).find(({ type }) => JSON_TYPE.test(type))
  return chosen === undefined || chosen.type.includes('*') ? 'application/json' : chosen.text
}

interface Range {
  readonly text: string
  /** In lower case, without parameters. */
  readonly type: string
}

const QUALITY = /;\s*q\s*=\s*"?([\d.]+)/i

/** As the engine prefers them: by quality, of which 0 is the lowest and refuses nothing; then the more exact; then the earlier. */
function rangesOf(accept = ''): readonly Range[] {
  const texts = accept.match(/(?:[^,"]|"[^"]*"?)+/g) ?? []
  const ranges = texts
    .map((text) => ({ text: text.trim(), type: typeOf(text), quality: Number(QUALITY.exec(text)?.[1] ?? 1) }))
    .filter(({ text }) => text !== '')
  if (ranges.length === 0) return [{ text: '*/*', type: '*/*' }]
  return ranges.sort((a, b) => b.quality - a.quality || starsOf(a.type) - starsOf(b.type))
}

function typeOf(text: string): string {
  const type = (text.split(';', 1)[0] ?? '').trim().toLowerCase()
  return type === '*' ? '*/*' : type
}

function starsOf(type: string): number {
  return type.split('*').length
}
