import { z } from 'zod'

/** `${VAR}`: allowed by the schema so that editors accept it; replaced before the schema reads the value. */
const PLACEHOLDER = String.raw`\$\{[^}]+\}`
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const UNIT_BYTES: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }

const duration = (units: Readonly<Record<string, number>>, example: string) =>
  z
    .string()
    .regex(new RegExp(`^(\\d+(${Object.keys(units).join('|')})|${PLACEHOLDER})$`), `write it like ${example}`)
    .transform((text) => Number.parseInt(text, 10) * (units[text.replace(/^\d+/, '')] ?? Number.NaN))
/** Milliseconds, written `30s`. */
export const time = () => duration(UNIT_MS, '30s')
/** Bytes, written `2MiB`. */
export const size = () => duration(UNIT_BYTES, '2MiB')
export const integer = (min: number, max: number) =>
  z.union([
    z.int().min(min).max(max),
    z
      .string()
      .regex(new RegExp(`^(\\d+|${PLACEHOLDER})$`))
      .transform(Number)
      .pipe(z.int().min(min).max(max)),
  ])
export const decimal = (min: number, max: number) =>
  z.union([
    z.number().min(min).max(max),
    z
      .string()
      .regex(new RegExp(`^(\\d+(\\.\\d+)?|${PLACEHOLDER})$`))
      .transform(Number)
      .pipe(z.number().min(min).max(max)),
  ])
export const httpUrl = z.url({ protocol: /^https?$/, error: 'an http:// or https:// URL is needed' })
